/* SPDX-License-Identifier: BSD-3-Clause */
/* Just enough of rtnetlink (rtnetlink(7)): build a request, send it, take its acknowledgement or rows. */
#ifndef WEIR_KERNEL_RTNL_H
#define WEIR_KERNEL_RTNL_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RTNL_REQUEST_MAX 1024

struct rtnl {
	int fd;
	uint32_t seq;
};

struct rtnl_request {
	union {
		struct nlmsghdr head;
		char bytes[RTNL_REQUEST_MAX];
	};
};

int rtnl_open(struct rtnl *nl);
void rtnl_close(struct rtnl *nl);

/* Starts a message with a fixed part of `size` bytes, zeroed, which is returned. */
void *rtnl_begin(struct rtnl_request *r, uint16_t type, uint16_t flags, size_t size);

/* Attributes; what does not fit is a fault of the programmer and ends the process. */
void rtnl_put(struct rtnl_request *r, uint16_t type, const void *data, size_t length);
void rtnl_put_u32(struct rtnl_request *r, uint16_t type, uint32_t value);
void rtnl_put_text(struct rtnl_request *r, uint16_t type, const char *text);
struct rtattr *rtnl_nest(struct rtnl_request *r, uint16_t type);
void rtnl_nest_end(struct rtnl_request *r, struct rtattr *nest);

/* Sends and waits for the acknowledgement: 0 or -errno as the kernel says. */
int rtnl_do(struct rtnl *nl, struct rtnl_request *r);

/* Sends a dump request and calls row for each message of the answer. 0 or -errno. */
typedef int (*rtnl_row)(void *ctx, const struct nlmsghdr *row);
int rtnl_dump(struct rtnl *nl, struct rtnl_request *r, rtnl_row row, void *ctx);

/* Attributes of a row behind its fixed part, by type; absent ones are NULL. */
void rtnl_parse(
	const struct nlmsghdr *row, size_t fixed, const struct rtattr **table, unsigned max);

#endif
