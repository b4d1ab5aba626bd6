/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <openssl/ssl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "monitor/mon.h"
#include "monitor/mon_text.h"

enum mon_outcome mon_say(struct mon_probe *p, enum mon_outcome outcome, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(p->reason, sizeof(p->reason), format, args);
	va_end(args);
	return outcome;
}

enum mon_outcome mon_say_answer(struct mon_probe *p, enum mon_outcome outcome, const char *what,
	const char *bytes, size_t length)
{
	char said[128];

	return mon_say(p, outcome, "%s: %s", what, mon_clean(said, sizeof(said), bytes, length));
}

enum mon_outcome mon_probe_errno(struct mon_probe *p, int error)
{
	switch (error) {
	case ECONNREFUSED:
		return mon_say(p, MON_BAD_NOW, "connection refused");
	case ECONNRESET:
	case EPIPE:
		return mon_say(p, MON_BAD_NOW, "connection reset by the server");
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
	case EADDRNOTAVAIL:
	case EAGAIN:
	case ENOSPC:
	case E2BIG:
	case EDESTADDRREQ:
	case EPERM:
	case EACCES:
		return mon_say(p, MON_NOTHING, "not probed: %s", strerror(error));
	default:
		return mon_say(p, MON_BAD, "%s", strerror(error));
	}
}

static void probe_release(struct mon_probe *p)
{
	const struct mon_type *type = p->in->monitor->type;

	if (type->stop)
		type->stop(p);
	if (p->ssl)
		SSL_free(p->ssl);
	if (p->fd >= 0) {
		/* No orderly end: TIME-WAIT would eat our ports, thousands a minute. */
		if (type->stream && !p->peer_done)
			setsockopt(p->fd, SOL_SOCKET, SO_LINGER, &(struct linger){1, 0},
				sizeof(struct linger));
		close(p->fd);
	}
	free(p->out);
	free(p->buf);
	free(p->own);
	TAILQ_REMOVE(&p->in->probes, p, entry);
	p->in->flight--;
	p->in->mon->flight--;
	mon_io_bury(p->in->mon->io, p);
}

void mon_probe_abort(struct mon_probe *p)
{
	probe_release(p);
}

void mon_probe_end(struct mon_probe *p, enum mon_outcome outcome)
{
	struct mon_instance *in = p->in;
	struct mon_probe result = *p;

	probe_release(p);
	mon_instance_result(in, &result, outcome);
}

void mon_probe_expire(struct mon_probe *p)
{
	if (p->quiet)
		mon_probe_end(p, MON_GOOD);
	else if (p->any)
		mon_probe_end(p, mon_say(p, MON_BAD, "no complete answer in time"));
	else
		mon_probe_end(p, mon_say(p, MON_BAD, "%s",
					 p->in->monitor->type->stream && !p->connected
						 ? "no connection in time"
						 : "no answer in time"));
}

bool mon_probe_start(struct mon_instance *in)
{
	const struct mon_type *type = in->monitor->type;
	struct mon_probe *p = calloc(1, sizeof(*p));
	int rc = -ENOMEM;

	if (!p)
		return false;
	*p = (struct mon_probe){.in = in, .fd = -1, .start_ns = clock_ns()};
	p->expire_ms = p->start_ns / 1000000 + in->monitor->timing.timeout;
	TAILQ_INSERT_TAIL(&in->probes, p, entry);
	in->flight++;
	in->mon->flight++;
	if (type->private_size)
		p->own = calloc(1, type->private_size);
	if (in->mon->flight > in->mon->flight_max)
		rc = -EMFILE;
	else if (mon_goes_astray(in))
		rc = -EDESTADDRREQ;
	else if (!type->private_size || p->own)
		rc = type->start ? type->start(p) : mon_stream_start(p);
	if (rc)
		mon_probe_end(p, mon_probe_errno(p, -rc));
	return true;
}
