/* SPDX-License-Identifier: BSD-3-Clause */
/* Log servers as receivers: connections come and go, what is sent is held until it is known to be taken. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "ipc/ipc.h"
#include "notify/syslog.h"
#include "notify/syslog_tls.h"

#define CHECK_US 50000
#define CONNECT_NS 10000000000ull
#define STEADY_NS 1000000000ull /* a connection that stands so long is a good one */
#define DATAGRAMS_MAX 100u	/* in flight: what a server's buffer takes */

static void on_check(evutil_socket_t fd, short what, void *ctx)
{
	struct syslog *s = ctx;

	if (s->fd < 0)
		return;
	if (s->datagrams)
		syslog_udp_check(s);
	else
		syslog_stream_check(s);
	receiver_more(s->r);
}

static void *syslog_create(struct receiver *r, const json_t *settings, const char **reason)
{
	const char *protocol = ipc_string(settings, "protocol");
	struct syslog *s = calloc(1, sizeof(*s));
	struct timeval often = {.tv_usec = CHECK_US};

	if (!s)
		return NULL;
	s->r = r;
	s->fd = -1;
	s->host = ipc_string(settings, "host");
	s->local = ipc_string(settings, "local-ip");
	s->server_name = ipc_string(settings, "server-name");
	s->port = (uint16_t)json_integer_value(json_object_get(settings, "port"));
	s->datagrams = !strcmp(protocol, "udp");
	s->check = event_new(receiver_base(r), -1, EV_PERSIST, on_check, s);
	if (!s->check || event_add(s->check, &often))
		goto fail;
	if (!strcmp(protocol, "tls")) {
		s->context = syslog_tls_context(settings, reason);
		if (!s->context)
			goto fail;
	}
	return s;
fail:
	if (s->check)
		event_free(s->check);
	free(s);
	return NULL;
}

static void syslog_close(struct syslog *s, const char *reason)
{
	notify_dial_stop(s->dial);
	s->dial = NULL;
	if (s->readable)
		event_free(s->readable);
	s->readable = NULL;
	syslog_stream_close(s);
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	s->connected = false;
	held_lost(&s->held, s->r, reason);
}

static void syslog_reset(void *self)
{
	struct syslog *s = self;

	syslog_close(s, "the connection failed");
}

static void on_dialled(void *ctx, int fd, const char *reason)
{
	struct syslog *s = ctx;

	s->dial = NULL;
	if (fd < 0) {
		receiver_failed(s->r, reason);
		return;
	}
	s->fd = fd;
	int rc = s->datagrams ? syslog_udp_open(s) : syslog_stream_open(s);
	if (rc)
		receiver_failed(s->r, strerror(-rc));
	else
		receiver_more(s->r);
}

/* Is there a connection that takes something? If there is none, one is made. */
static bool ready(struct syslog *s)
{
	if (s->connected)
		return s->held.count < (s->datagrams ? DATAGRAMS_MAX : HELD_MAX);
	if (s->fd >= 0 || s->dial)
		return false;
	s->since_ns = clock_ns();
	s->dial = notify_dial(receiver_base(s->r), s->host, s->port, s->local,
		s->datagrams ? SOCK_DGRAM : SOCK_STREAM, on_dialled, s);
	if (!s->dial)
		receiver_failed(s->r, "no memory");
	return false;
}

static bool syslog_send(struct syslog *s, const json_t *record, uint64_t test)
{
	return s->datagrams ? syslog_udp_send(s, record, test)
			    : syslog_stream_send(s, record, test);
}

static enum receiver_answer syslog_offer(void *self, const json_t *record)
{
	struct syslog *s = self;

	if (!ready(s) || !syslog_send(s, record, 0))
		return RECEIVER_FULL;
	return RECEIVER_HELD;
}

/* A connection stands ready: a server that is away is known before there is something to say. */
static void syslog_tick(void *self)
{
	struct syslog *s = self;
	uint64_t now = clock_ns();

	if (s->connected && now - s->since_ns > STEADY_NS && !s->held.count)
		receiver_error(s->r, NULL);
	if (!s->connected && (s->fd >= 0 || s->dial) && now - s->since_ns > CONNECT_NS)
		receiver_failed(s->r, "no connection within 10 s");
	else
		ready(s);
}

static void syslog_test(void *self, uint64_t number)
{
	struct syslog *s = self;
	json_t *record = NULL;

	if (!ready(s)) {
		receiver_tested(s->r, number, false,
			s->connected ? "too much waits already" : "is not connected");
		return;
	}
	record = receiver_test_record(s->r, number);
	if (!record)
		receiver_tested(s->r, number, false, "no memory");
	else
		syslog_send(s, record, number);
	json_decref(record);
}

static void syslog_free(void *self)
{
	struct syslog *s = self;

	syslog_close(s, "the receiver was changed");
	event_free(s->check);
	SSL_CTX_free(s->context);
	free(s);
}

const struct receiver_kind receiver_syslog = {.name = "syslog",
	.create = syslog_create,
	.offer = syslog_offer,
	.reset = syslog_reset,
	.tick = syslog_tick,
	.test = syslog_test,
	.free = syslog_free};
