/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernel/rtnl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

int rtnl_open(struct rtnl *nl)
{
	struct sockaddr_nl addr = {.nl_family = AF_NETLINK};
	struct timeval wait = {.tv_sec = 5}; /* the kernel answers at once or never */
	int rc;

	*nl = (struct rtnl){.fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)};
	if (nl->fd < 0)
		return -errno;
	if (bind(nl->fd, (struct sockaddr *)&addr, sizeof(addr)) ||
		setsockopt(nl->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait))) {
		rc = -errno;
		rtnl_close(nl);
		return rc;
	}
	return 0;
}

void rtnl_close(struct rtnl *nl)
{
	if (nl->fd >= 0)
		close(nl->fd);
	nl->fd = -1;
}

void *rtnl_begin(struct rtnl_request *r, uint16_t type, uint16_t flags, size_t size)
{
	memset(r, 0, sizeof(*r));
	r->head.nlmsg_len = (uint32_t)NLMSG_LENGTH(size);
	r->head.nlmsg_type = type;
	r->head.nlmsg_flags = NLM_F_REQUEST | flags;
	return NLMSG_DATA(&r->head);
}

void rtnl_put(struct rtnl_request *r, uint16_t type, const void *data, size_t length)
{
	size_t at = NLMSG_ALIGN(r->head.nlmsg_len);
	struct rtattr *a = (struct rtattr *)(r->bytes + at);

	if (at + RTA_SPACE(length) > sizeof(r->bytes))
		abort();
	a->rta_type = type;
	a->rta_len = (uint16_t)RTA_LENGTH(length);
	if (length)
		memcpy(RTA_DATA(a), data, length);
	r->head.nlmsg_len = (uint32_t)(at + RTA_SPACE(length));
}

void rtnl_put_u32(struct rtnl_request *r, uint16_t type, uint32_t value)
{
	rtnl_put(r, type, &value, sizeof(value));
}

void rtnl_put_text(struct rtnl_request *r, uint16_t type, const char *text)
{
	rtnl_put(r, type, text, strlen(text) + 1);
}

struct rtattr *rtnl_nest(struct rtnl_request *r, uint16_t type)
{
	struct rtattr *nest = (struct rtattr *)(r->bytes + NLMSG_ALIGN(r->head.nlmsg_len));

	rtnl_put(r, type | NLA_F_NESTED, NULL, 0);
	return nest;
}

void rtnl_nest_end(struct rtnl_request *r, struct rtattr *nest)
{
	nest->rta_len = (uint16_t)(r->bytes + r->head.nlmsg_len - (char *)nest);
}

static int request_send(struct rtnl *nl, struct rtnl_request *r)
{
	struct sockaddr_nl addr = {.nl_family = AF_NETLINK};

	r->head.nlmsg_seq = ++nl->seq;
	if (sendto(nl->fd, r, r->head.nlmsg_len, 0, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		return -errno;
	return 0;
}

/* 1: done, with *rc; 0: go on. */
static int message_take(const struct nlmsghdr *m, rtnl_row row, void *ctx, int *rc)
{
	if (m->nlmsg_type == NLMSG_ERROR) {
		*rc = ((const struct nlmsgerr *)NLMSG_DATA(m))->error;
		return 1;
	}
	if (m->nlmsg_type == NLMSG_DONE)
		return 1;
	/* An answer that is not wanted any more still has to be read. */
	if (row && *rc == 0)
		*rc = row(ctx, m);
	return 0;
}

static int answer_read(struct rtnl *nl, rtnl_row row, void *ctx)
{
	static union {
		struct nlmsghdr head;
		char bytes[65536];
	} answer;
	int rc = 0;

	for (;;) {
		ssize_t n = recv(nl->fd, &answer, sizeof(answer), 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		unsigned left = (unsigned)n;
		for (struct nlmsghdr *m = &answer.head; NLMSG_OK(m, left); m = NLMSG_NEXT(m, left))
			if (m->nlmsg_seq == nl->seq && message_take(m, row, ctx, &rc))
				return rc;
	}
}

int rtnl_do(struct rtnl *nl, struct rtnl_request *r)
{
	r->head.nlmsg_flags |= NLM_F_ACK;
	int rc = request_send(nl, r);

	return rc ? rc : answer_read(nl, NULL, NULL);
}

int rtnl_dump(struct rtnl *nl, struct rtnl_request *r, rtnl_row row, void *ctx)
{
	r->head.nlmsg_flags |= NLM_F_DUMP;
	int rc = request_send(nl, r);

	return rc ? rc : answer_read(nl, row, ctx);
}

void rtnl_parse(const struct nlmsghdr *row, size_t fixed, const struct rtattr **table, unsigned max)
{
	const struct rtattr *a = (const void *)((const char *)NLMSG_DATA(row) + NLMSG_ALIGN(fixed));
	unsigned left = (unsigned)(row->nlmsg_len - NLMSG_LENGTH(NLMSG_ALIGN(fixed)));

	memset(table, 0, max * sizeof(*table));
	for (; RTA_OK(a, left); a = RTA_NEXT(a, left))
		if ((a->rta_type & NLA_TYPE_MASK) < max)
			table[a->rta_type & NLA_TYPE_MASK] = a;
}
