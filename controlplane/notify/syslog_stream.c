/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RFC 6587 with octet counting, RFC 5425 with TLS. Neither protocol has an answer: a message counts as taken when the
 * other end has acknowledged its bytes and the connection has stood a quarter of a second since. A server that dies with
 * unread messages resets the connection in that time, and gets them again.
 */
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "notify/syslog.h"
#include "notify/syslog_form.h"
#include "notify/syslog_tls.h"

#define SETTLE_NS 250000000ull
#define STUCK_NS 30000000000ull
#define WAITING_MAX (1u << 20) /* bytes */
#define HEARD_MAX (1u << 20)   /* bytes from a server, which has nothing to say */

static void on_read(struct bufferevent *bev, void *ctx)
{
	struct syslog *s = ctx;
	struct evbuffer *in = bufferevent_get_input(bev);

	s->heard += evbuffer_get_length(in);
	evbuffer_drain(in, evbuffer_get_length(in));
	if (s->heard > HEARD_MAX)
		receiver_failed(s->r, "the server talks, as no log server does");
}

static void stream_fault(struct syslog *s, short what, int error)
{
	unsigned long tls = s->context ? bufferevent_get_openssl_error(s->bev) : 0;
	char reason[200];

	if (s->context && !s->connected && (tls || !error))
		syslog_tls_reason(bufferevent_openssl_get_ssl(s->bev), tls, reason, sizeof(reason));
	else if (what & BEV_EVENT_EOF || !error)
		snprintf(reason, sizeof(reason), "the server closed the connection");
	else
		snprintf(reason, sizeof(reason), "%s", strerror(error));
	receiver_failed(s->r, reason);
}

static void on_event(struct bufferevent *bev, short what, void *ctx)
{
	struct syslog *s = ctx;
	int error = errno;

	if (!(what & BEV_EVENT_CONNECTED)) {
		stream_fault(s, what, error);
		return;
	}
	s->connected = true;
	s->since_ns = s->moved_ns = clock_ns();
	receiver_more(s->r);
}

/* A plain connection is on its way: libevent says when it stands, as with TLS. */
int syslog_stream_open(struct syslog *s)
{
	struct event_base *base = receiver_base(s->r);

	if (s->context) {
		SSL *tls = syslog_tls_new(s->context, *s->server_name ? s->server_name : s->host);

		if (!tls)
			return -ENOMEM;
		s->bev = bufferevent_openssl_socket_new(
			base, s->fd, tls, BUFFEREVENT_SSL_CONNECTING, BEV_OPT_CLOSE_ON_FREE);
		if (!s->bev)
			SSL_free(tls);
		else
			bufferevent_openssl_set_allow_dirty_shutdown(s->bev, 1);
	} else {
		s->bev = bufferevent_socket_new(base, s->fd, BEV_OPT_CLOSE_ON_FREE);
	}
	if (!s->bev)
		return -ENOMEM;
	s->written = s->heard = 0;
	bufferevent_setcb(s->bev, on_read, NULL, on_event, s);
	if (bufferevent_enable(s->bev, EV_READ | EV_WRITE) ||
		(!s->context && bufferevent_socket_connect(s->bev, NULL, 0)))
		return -ENOMEM;
	return 0;
}

void syslog_stream_close(struct syslog *s)
{
	if (!s->bev)
		return;
	bufferevent_free(s->bev); /* with the socket */
	s->bev = NULL;
	s->fd = -1;
}

bool syslog_stream_send(struct syslog *s, const json_t *record, uint64_t test)
{
	struct evbuffer *out = bufferevent_get_output(s->bev);
	size_t length = 0;
	char *text = NULL;

	if (evbuffer_get_length(out) < WAITING_MAX)
		text = syslog_form(record, receiver_host(s->r), SYSLOG_STREAM_MAX, &length);
	if (!text) {
		if (test)
			receiver_tested(s->r, test, false, "too much waits already");
		return false;
	}
	int prefix = evbuffer_add_printf(out, "%zu ", length);
	evbuffer_add(out, text, length);
	free(text);
	if (!s->held.count)
		s->moved_ns = clock_ns();
	s->written += (size_t)prefix + length;
	held_put(&s->held, (uint64_t)json_integer_value(json_object_get(record, "seq")), test)
		->end = s->written;
	return true;
}

/* Bytes that the other end has acknowledged; with TLS fewer than that, never more. */
static uint64_t acknowledged(const struct syslog *s)
{
	uint64_t waiting = evbuffer_get_length(bufferevent_get_output(s->bev));
	int unread = 0;

	ioctl(s->fd, SIOCOUTQ, &unread);
	waiting += (uint64_t)unread;
	return s->written > waiting ? s->written - waiting : 0;
}

void syslog_stream_check(struct syslog *s)
{
	uint64_t now = clock_ns(), there;
	unsigned count = 0;

	if (!s->connected || !s->held.count)
		return;
	there = acknowledged(s);
	for (unsigned i = 0; i < s->held.count && held_at(&s->held, i)->end <= there; i++) {
		struct held_item *item = held_at(&s->held, i);

		if (!item->there) {
			item->there = true;
			item->since_ns = s->moved_ns = now;
		}
		count += now - item->since_ns >= SETTLE_NS;
	}
	held_taken(&s->held, s->r, count);
	if (s->held.count && now - s->moved_ns > STUCK_NS)
		receiver_failed(s->r, "the server has not read anything for 30 s");
}
