/* SPDX-License-Identifier: BSD-3-Clause */
/* Conversations over one TCP or UDP socket, with or without TLS: bounded in memory, never blocking. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "monitor/mon.h"
#include "monitor/mon_tls.h"

#define OUT_MAX 131072u		 /* bytes that may wait to be sent */
#define READS_MAX 32u		 /* in a row; then other probes have their turn */
#define CAME_MAX 1048576u	 /* bytes that a server may send in answer to a probe */
#define PORTION 64u		 /* what a portion of them counts for, however small */
#define SEARCH_NS 200000000u	 /* for all searches in the portions of an answer */
#define SEARCH_NS_MOST 20000000u /* counts for one: the rest was not ours */

static char scratch[65536]; /* one thread */

static const struct mon_type *type_of(const struct mon_probe *p)
{
	return p->in->monitor->type;
}

static size_t limit_of(const struct mon_probe *p)
{
	return p->limit ? p->limit : MON_SEARCH_MAX;
}

/* 1, 0, or negative: it takes more time than we give. */
static int search(
	struct mon_probe *p, struct mon_pattern *pattern, const char *bytes, size_t length)
{
	uint64_t start = clock_ns();
	int found = pattern ? mon_pattern_search(pattern, bytes, length) : 0;
	uint64_t spent = clock_ns() - start;

	p->search_ns += spent < SEARCH_NS_MOST ? spent : SEARCH_NS_MOST;
	return !found && p->search_ns > SEARCH_NS ? -E2BIG : found;
}

enum mon_outcome mon_judge(struct mon_probe *p, const char *bytes, size_t length, bool end)
{
	const struct mon_monitor *m = p->in->monitor;

	if (!m->recv && !m->recv_disable)
		return length ? MON_GOOD : MON_MORE;
	int found = search(p, m->recv, bytes, length);
	if (found < 0)
		return mon_say(p, MON_BAD, "recv: the pattern is too expensive for this answer");
	if (found && m->reverse)
		return mon_say_answer(p, MON_BAD_NOW, "reverse: recv matched", bytes, length);
	if (found)
		return MON_GOOD;
	bool complete = end || length >= MON_SEARCH_MAX;
	if (m->reverse)
		return complete && length ? MON_GOOD : MON_MORE;
	if (complete || !type_of(p)->framed) {
		found = search(p, m->recv_disable, bytes, length);
		if (found < 0)
			return mon_say(p, MON_BAD,
				"recv-disable: the pattern is too expensive for this answer");
		if (found)
			return MON_GOOD_DISABLED;
	}
	if (!complete)
		return MON_MORE;
	if (!m->recv)
		return length ? MON_GOOD : mon_say(p, MON_BAD, "an empty answer");
	return mon_say_answer(p, MON_BAD, "recv did not match", bytes, length);
}

/* --- output ------------------------------------------------------------------------------------- */

/* How much was taken, 0: nothing now, -errno. */
static ssize_t write_some(struct mon_probe *p, const void *bytes, size_t length)
{
	if (p->ssl) {
		ERR_clear_error();
		int n = SSL_write(p->ssl, bytes, (int)length);
		int error = n > 0 ? 0 : SSL_get_error(p->ssl, n);

		if (n > 0)
			return n;
		return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? 0 : -EPIPE;
	}
	ssize_t n = send(p->fd, bytes, length, MSG_NOSIGNAL);
	if (n >= 0)
		return n;
	return errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

void mon_send(struct mon_probe *p, const void *bytes, size_t length)
{
	if (!length || p->out_length + length > OUT_MAX)
		return; /* the conversation then comes to nothing in time */
	char *grown = realloc(p->out, p->out_length + length);
	if (!grown)
		return;
	p->out = grown;
	memcpy(p->out + p->out_length, bytes, length);
	p->out_length += length;
}

static void out_flush(struct mon_probe *p)
{
	while (p->out_length) {
		ssize_t n = write_some(p, p->out, p->out_length);

		if (n <= 0)
			return;
		p->out_length -= (size_t)n;
		memmove(p->out, p->out + n, p->out_length);
	}
}

/* --- input -------------------------------------------------------------------------------------- */

void mon_take(struct mon_probe *p, size_t length)
{
	p->length -= length;
	memmove(p->buf, p->buf + length, p->length);
}

/* How much came, 0: the end, -EAGAIN: nothing now, other -errno. */
static ssize_t read_some(struct mon_probe *p, char *to, size_t size)
{
	if (p->ssl) {
		ERR_clear_error();
		errno = 0;
		int n = SSL_read(p->ssl, to, (int)size);
		int error = n > 0 ? 0 : SSL_get_error(p->ssl, n);

		if (n > 0)
			return n;
		if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
			return -EAGAIN;
		if (error == SSL_ERROR_SYSCALL && errno == ECONNRESET)
			return -ECONNRESET;
		return error == SSL_ERROR_ZERO_RETURN ? 0 : -EPROTO;
	}
	ssize_t n = read(p->fd, to, size);
	return n < 0 ? -errno : n;
}

static int buffer_add(struct mon_probe *p, const char *bytes, size_t length)
{
	size_t room = limit_of(p) - p->length;

	if (length > room)
		length = room;
	char *grown = realloc(p->buf, p->length + length + 1);
	if (!grown)
		return -ENOMEM;
	p->buf = grown;
	memcpy(p->buf + p->length, bytes, length);
	p->length += length;
	p->buf[p->length] = 0;
	return 0;
}

/* What the type thinks of it; what it says goes out in one piece. */
static enum mon_outcome judge(struct mon_probe *p, const char *bytes, bool end)
{
	enum mon_outcome outcome = type_of(p)->input(p, bytes, p->length, end);

	out_flush(p);
	return outcome;
}

static enum mon_outcome input_end(struct mon_probe *p)
{
	enum mon_outcome outcome = judge(p, p->buf ? p->buf : "", true);

	if (outcome == MON_MORE)
		outcome = mon_say(p, MON_BAD, "the server closed the connection %s",
			p->any ? "before its answer was complete" : "without an answer");
	return outcome;
}

/* One portion of input, as it was read. */
static enum mon_outcome input_portion(struct mon_probe *p, ssize_t n)
{
	bool datagram = type_of(p)->datagram;
	char text[160];

	if (n == 0 && !datagram) {
		p->peer_done = true;
		return input_end(p);
	}
	if (n < 0 && p->ssl && n == -EPROTO)
		return mon_say(p, MON_BAD, "%s", mon_tls_error(p->ssl, text, sizeof(text)));
	if (n < 0)
		return mon_probe_errno(p, (int)-n);
	p->any = true;
	p->came += (size_t)n + PORTION;
	if (datagram)
		p->length = 0;
	if (buffer_add(p, scratch, (size_t)n))
		return mon_probe_errno(p, ENOMEM);
	enum mon_outcome outcome = judge(p, p->buf, datagram);
	if (outcome == MON_MORE && (p->came > CAME_MAX || (!datagram && p->length >= limit_of(p))))
		outcome = mon_say(p, MON_BAD, "the answer is longer than it may be");
	return outcome;
}

static enum mon_outcome input_read(struct mon_probe *p)
{
	enum mon_outcome outcome = MON_MORE;

	for (unsigned reads = 0; outcome == MON_MORE; reads++) {
		size_t room = limit_of(p) - (type_of(p)->datagram ? 0 : p->length);

		if (reads == READS_MAX) {
			mon_io_again(p->in->mon->io, p);
			break;
		}
		ssize_t n = read_some(p, scratch, room < sizeof(scratch) ? room : sizeof(scratch));
		if (n == -EAGAIN)
			break;
		if (n != -EINTR)
			outcome = input_portion(p, n);
	}
	return outcome;
}

/* --- the conversation --------------------------------------------------------------------------- */

static enum mon_outcome opened(struct mon_probe *p)
{
	const struct mon_monitor *m = p->in->monitor;
	enum mon_outcome outcome = MON_MORE;

	if (m->type->open)
		outcome = m->type->open(p);
	else
		mon_send(p, m->text[MON_F_SEND], m->length[MON_F_SEND]);
	out_flush(p);
	return outcome;
}

static enum mon_outcome handshake(struct mon_probe *p)
{
	char text[160];

	ERR_clear_error();
	errno = 0;
	int rc = SSL_connect(p->ssl);

	if (rc == 1)
		return MON_GOOD;
	switch (SSL_get_error(p->ssl, rc)) {
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		return MON_MORE;
	case SSL_ERROR_SYSCALL:
		if (errno == ECONNRESET)
			return mon_probe_errno(p, ECONNRESET);
		/* fall through */
	default:
		return mon_say(p, MON_BAD, "%s", mon_tls_error(p->ssl, text, sizeof(text)));
	}
}

enum mon_outcome mon_tls_begin(struct mon_probe *p)
{
	p->length = 0;
	p->ssl = mon_tls_session(p->in->monitor, p->fd);
	return p->ssl ? MON_MORE : mon_probe_errno(p, ENOMEM);
}

static enum mon_outcome connected(struct mon_probe *p)
{
	const struct mon_monitor *m = p->in->monitor;

	p->connected = true;
	return m->tls && !m->tls_later ? mon_tls_begin(p) : opened(p);
}

static enum mon_outcome converse(struct mon_probe *p)
{
	if (p->ssl && !SSL_is_init_finished(p->ssl)) {
		enum mon_outcome outcome = handshake(p);

		if (outcome == MON_GOOD)
			outcome = p->in->monitor->tls_later ? MON_MORE : opened(p);
		else if (outcome == MON_MORE)
			return MON_MORE;
		if (outcome != MON_MORE)
			return outcome;
	}
	out_flush(p);
	return input_read(p);
}

static enum mon_outcome connect_result(struct mon_probe *p)
{
	int error = 0;
	socklen_t length = sizeof(error);

	if (getsockopt(p->fd, SOL_SOCKET, SO_ERROR, &error, &length))
		error = errno;
	return error ? mon_probe_errno(p, error) : connected(p);
}

void mon_stream_ready(struct mon_probe *p)
{
	enum mon_outcome outcome = p->connected ? MON_MORE : connect_result(p);

	if (outcome == MON_MORE)
		outcome = converse(p);
	if (outcome != MON_MORE)
		mon_probe_end(p, outcome);
}

void mon_address_of(const struct sockaddr_storage *from, struct ip_addr *out)
{
	if (from->ss_family == AF_INET)
		*out = ip_addr_v4(((const struct sockaddr_in *)from)->sin_addr.s_addr);
	else
		memcpy(out->b, &((const struct sockaddr_in6 *)from)->sin6_addr, 16);
}

socklen_t mon_target(const struct mon_instance *in, unsigned port, struct sockaddr_storage *out)
{
	memset(out, 0, sizeof(*out));
	if (ip_is_v4(&in->to_address)) {
		struct sockaddr_in *a = (struct sockaddr_in *)out;

		a->sin_family = AF_INET;
		a->sin_port = htons((uint16_t)port);
		a->sin_addr.s_addr = in->to_address.w[3];
		return sizeof(*a);
	}
	struct sockaddr_in6 *a = (struct sockaddr_in6 *)out;
	a->sin6_family = AF_INET6;
	a->sin6_port = htons((uint16_t)port);
	memcpy(&a->sin6_addr, in->to_address.b, 16);
	return sizeof(*a);
}

int mon_stream_start(struct mon_probe *p)
{
	const struct mon_type *type = type_of(p);
	struct mon_instance *in = p->in;
	struct sockaddr_storage to;
	unsigned port = in->to_port ? in->to_port : type->port;
	socklen_t length = mon_target(in, port, &to);

	if (!port)
		return -EDESTADDRREQ;
	p->fd = socket(to.ss_family,
		(type->datagram ? SOCK_DGRAM : SOCK_STREAM) | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (p->fd < 0)
		return -errno;
	if (in->mark && setsockopt(p->fd, SOL_SOCKET, SO_MARK, &in->mark, sizeof(in->mark)))
		return -errno;
	/* The third packet of the handshake waits, and our reset goes in its place. */
	if (type->half_open && setsockopt(p->fd, IPPROTO_TCP, TCP_QUICKACK, &(int){0}, sizeof(int)))
		return -errno;
	if (type->quiet_is_good && !in->monitor->recv && !in->monitor->recv_disable) {
		p->quiet = true;
		p->expire_ms = p->start_ns / 1000000 + in->monitor->timing.interval / 2;
	}
	if (connect(p->fd, (struct sockaddr *)&to, length) == 0) {
		/* Loopback and UDP: at once. */
		enum mon_outcome outcome = connected(p);

		if (outcome == MON_MORE)
			outcome = converse(p);
		if (outcome != MON_MORE) {
			mon_probe_end(p, outcome);
			return 0;
		}
	} else if (errno != EINPROGRESS) {
		mon_probe_end(p, mon_probe_errno(p, errno));
		return 0;
	}
	return mon_io_add(in->mon->io, p);
}
