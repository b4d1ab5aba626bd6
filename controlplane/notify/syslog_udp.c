/* SPDX-License-Identifier: BSD-3-Clause */
/* RFC 5426. A datagram counts as taken when nobody has refused it for a quarter of a second. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "notify/syslog.h"
#include "notify/syslog_form.h"

#define REFUSED_NS 250000000ull

/* What came back: a refusal, or words that nobody asked for. False: refused. */
static bool listen_back(struct syslog *s)
{
	char unheard[64];

	for (int i = 0; i < 64; i++)
		if (recv(s->fd, unheard, sizeof(unheard), MSG_DONTWAIT) < 0) {
			if (errno == EAGAIN || errno == EINTR)
				return true;
			receiver_failed(s->r, strerror(errno));
			return false;
		}
	return true;
}

static void on_readable(evutil_socket_t fd, short what, void *ctx)
{
	listen_back(ctx);
}

int syslog_udp_open(struct syslog *s)
{
	s->readable = event_new(receiver_base(s->r), s->fd, EV_READ | EV_PERSIST, on_readable, s);
	if (!s->readable || event_add(s->readable, NULL))
		return -ENOMEM;
	s->connected = true;
	s->since_ns = clock_ns();
	return 0;
}

bool syslog_udp_send(struct syslog *s, const json_t *record, uint64_t test)
{
	size_t length;
	char *text = syslog_form(record, receiver_host(s->r), SYSLOG_UDP_MAX, &length);
	int rc = text ? 0 : -ENOMEM;

	if (rc == 0 && send(s->fd, text, length, MSG_NOSIGNAL) < 0)
		rc = -errno;
	free(text);
	/* A full queue of the interface: it will have room at the next check. */
	if (rc == -EAGAIN || rc == -ENOBUFS) {
		if (test)
			receiver_tested(s->r, test, false, strerror(-rc));
		return false;
	}
	if (rc) {
		if (test)
			receiver_tested(s->r, test, false, strerror(-rc));
		receiver_failed(s->r, strerror(-rc));
		return false;
	}
	held_put(&s->held, (uint64_t)json_integer_value(json_object_get(record, "seq")), test)
		->since_ns = clock_ns();
	return true;
}

void syslog_udp_check(struct syslog *s)
{
	uint64_t now = clock_ns();
	unsigned count = 0;

	if (!s->held.count || !listen_back(s))
		return;
	while (count < s->held.count && now - held_at(&s->held, count)->since_ns >= REFUSED_NS)
		count++;
	held_taken(&s->held, s->r, count);
}
