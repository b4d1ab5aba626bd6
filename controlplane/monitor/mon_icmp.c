/* SPDX-License-Identifier: BSD-3-Clause */
/* Echo requests of all instances through one raw socket per family. */
#include <errno.h>
#include <linux/icmp.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "monitor/mon.h"

#define SLOTS 65536u /* sequence numbers: as many echoes can be awaited */

struct mon_icmp {
	int fds[2]; /* IPv4, IPv6 */
	struct event *readable[2];
	uint16_t id;   /* ours */
	uint16_t next; /* sequence number */
	uint64_t nonces[32];
	unsigned nonces_left;
	struct mon_probe *waiting[SLOTS];
};

/* The header of an echo, the same in both families, and what we put behind it. */
struct echo {
	uint8_t type, code;
	uint16_t checksum, id, sequence;
	uint64_t nonce;
};

struct ping {
	uint16_t sequence; /* 0: none */
	uint64_t nonce;	   /* only who got the echo knows it: nobody answers for others */
};

static uint16_t checksum(const struct echo *e)
{
	uint16_t words[sizeof(*e) / 2];
	uint32_t sum = 0;

	memcpy(words, e, sizeof(*e));
	for (size_t i = 0; i < sizeof(*e) / 2; i++)
		sum += words[i];
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t) ~(sum + (sum >> 16));
}

static bool from_target(const struct mon_probe *p, const struct sockaddr_storage *from)
{
	struct ip_addr a;

	mon_address_of(from, &a);
	return ip_equal(&a, &p->in->to_address);
}

static void answer(struct mon_icmp *i, const uint8_t *bytes, size_t length,
	const struct sockaddr_storage *from)
{
	bool v4 = from->ss_family == AF_INET;
	struct echo e;

	if (v4) {
		size_t header = length ? (bytes[0] & 15u) * 4u : 0;

		if (header < 20 || header > length)
			return;
		bytes += header;
		length -= header;
	}
	if (length < sizeof(e))
		return;
	memcpy(&e, bytes, sizeof(e));
	if (e.type != (v4 ? ICMP_ECHOREPLY : ICMP6_ECHO_REPLY) || e.id != i->id)
		return;
	struct mon_probe *p = i->waiting[e.sequence];
	if (p && ((struct ping *)p->own)->nonce == e.nonce && from_target(p, from))
		mon_probe_end(p, MON_GOOD);
}

static void on_readable(evutil_socket_t fd, short what, void *ctx)
{
	uint8_t bytes[256];
	struct sockaddr_storage from;

	for (int n = 0; n < 256; n++) {
		socklen_t size = sizeof(from);
		ssize_t length = recvfrom(
			fd, bytes, sizeof(bytes), MSG_DONTWAIT, (struct sockaddr *)&from, &size);

		if (length < 0)
			return;
		answer(ctx, bytes, (size_t)length, &from);
	}
}

/* 0: all are awaited. */
static uint16_t sequence_free(struct mon_icmp *i)
{
	for (unsigned tried = 0; tried < SLOTS; tried++) {
		uint16_t sequence = i->next++;

		if (sequence && !i->waiting[sequence])
			return sequence;
	}
	return 0;
}

static int nonce_next(struct mon_icmp *i, uint64_t *out)
{
	if (!i->nonces_left) {
		/* So few are never given in part. */
		if (getrandom(i->nonces, 256, GRND_NONBLOCK) != 256)
			return -EAGAIN;
		i->nonces_left = 256 / sizeof(*i->nonces);
	}
	*out = i->nonces[--i->nonces_left];
	return 0;
}

static int echo_start(struct mon_probe *p)
{
	struct mon_instance *in = p->in;
	struct mon_icmp *i = in->mon->icmp;
	struct ping *ping = p->own;
	bool v4 = ip_is_v4(&in->to_address);
	struct sockaddr_storage to;
	struct echo e = {.type = v4 ? ICMP_ECHO : ICMP6_ECHO_REQUEST};

	if (!i || i->fds[v4 ? 0 : 1] < 0)
		return -EPERM;
	e.sequence = sequence_free(i);
	if (!e.sequence)
		return -ENOBUFS;
	if (nonce_next(i, &ping->nonce))
		return -EAGAIN;
	ping->sequence = e.sequence;
	e.id = i->id;
	e.nonce = ping->nonce;
	if (v4)
		e.checksum = checksum(&e);
	i->waiting[e.sequence] = p;

	struct iovec part = {&e, sizeof(e)};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(uint32_t))];
	} control = {.header = {CMSG_LEN(sizeof(uint32_t)), SOL_SOCKET, SO_MARK}};
	memcpy(CMSG_DATA(&control.header), &in->mark, sizeof(in->mark));
	struct msghdr message = {.msg_name = &to,
		.msg_namelen = mon_target(in, 0, &to),
		.msg_iov = &part,
		.msg_iovlen = 1};
	if (in->mark) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	if (sendmsg(i->fds[v4 ? 0 : 1], &message, MSG_DONTWAIT) < 0)
		return -errno;
	return 0;
}

static void echo_stop(struct mon_probe *p)
{
	struct ping *ping = p->own;

	if (ping && ping->sequence)
		p->in->mon->icmp->waiting[ping->sequence] = NULL;
}

const struct mon_type mon_icmp = {.name = "icmp",
	.markable = true,
	.private_size = sizeof(struct ping),
	.start = echo_start,
	.stop = echo_stop};

const struct mon_type mon_gateway_icmp = {.name = "gateway-icmp",
	.markable = true,
	.private_size = sizeof(struct ping),
	.start = echo_start,
	.stop = echo_stop};

/* --- the sockets -------------------------------------------------------------------------------- */

static int raw_socket(int family)
{
	int fd = socket(family, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
		family == AF_INET ? (int)IPPROTO_ICMP : (int)IPPROTO_ICMPV6);
	int room = 1 << 20;

	if (fd < 0) {
		log_warning("icmp: no raw socket: %s", strerror(errno));
		return fd;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	if (family == AF_INET) {
		struct icmp_filter filter = {~(1u << ICMP_ECHOREPLY)};

		setsockopt(fd, SOL_RAW, ICMP_FILTER, &filter, sizeof(filter));
	} else {
		struct icmp6_filter filter;

		ICMP6_FILTER_SETBLOCKALL(&filter);
		ICMP6_FILTER_SETPASS(ICMP6_ECHO_REPLY, &filter);
		setsockopt(fd, IPPROTO_ICMPV6, ICMP6_FILTER, &filter, sizeof(filter));
	}
	return fd;
}

struct mon_icmp *mon_icmp_new(void)
{
	struct mon_icmp *i = calloc(1, sizeof(*i));

	if (!i)
		return NULL;
	i->id = (uint16_t)getpid();
	i->fds[0] = raw_socket(AF_INET);
	i->fds[1] = raw_socket(AF_INET6);
	return i;
}

int mon_icmp_listen(struct mon_icmp *i, struct event_base *base)
{
	for (int n = 0; n < 2; n++) {
		if (i->fds[n] < 0)
			continue;
		i->readable[n] = event_new(base, i->fds[n], EV_READ | EV_PERSIST, on_readable, i);
		if (!i->readable[n] || event_add(i->readable[n], NULL))
			return -ENOMEM;
	}
	return 0;
}

void mon_icmp_free(struct mon_icmp *i)
{
	if (!i)
		return;
	for (int n = 0; n < 2; n++) {
		if (i->readable[n])
			event_free(i->readable[n]);
		if (i->fds[n] >= 0)
			close(i->fds[n]);
	}
	free(i);
}
