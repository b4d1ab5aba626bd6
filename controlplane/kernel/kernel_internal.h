/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of kernel/, by nobody else. */
#ifndef WEIR_KERNEL_INTERNAL_H
#define WEIR_KERNEL_INTERNAL_H

#include <net/if.h>
#include <stdarg.h>

#include "api/snapshot.h"
#include "kernel/kernel.h"
#include "kernel/rtnl.h"

/* Marks the interfaces that are ours (ip link show ... alias). */
#define KERNEL_ALIAS "weir"
/* Marks the routes that are ours (rtm_protocol; ip route show proto 87). */
#define KERNEL_ROUTE_PROTOCOL 87
/* Behind the management network's own default route, if both have one. */
#define KERNEL_ROUTE_METRIC 512u

/* Taps of ours that no VLAN has any more: so many are remembered. */
#define KERNEL_STALE_MAX 256u

/* A network that a tap is in. */
struct network {
	struct ip_addr address;
	uint8_t prefix;
	unsigned index;
};

/* A server that marked packets go through. */
struct mark {
	struct ip_addr via;
	unsigned users;
};

struct kernel {
	struct rtnl nl;
	uid_t owner;
	struct network *network;
	unsigned networks;
	struct mark *mark;
	unsigned marks;
	unsigned stale[KERNEL_STALE_MAX], stales; /* interface indexes */
};

/* A tap that should be. */
struct tap {
	uint32_t vlan; /* id */
	char name[SNAP_NAME_MAX];
	uint16_t mtu;
	unsigned index; /* of the kernel's interface, 0 = there is none */
	bool right;	/* flags, MTU and mark are as they should be */
	bool owned;	/* by the dataplane's user */
	bool foreign;	/* an interface of that name is somebody else's */
};

/* One pass of kernel_apply. */
struct pass {
	struct kernel *k;
	const struct model *m;
	struct tap *tap;
	unsigned taps;
	char *fault; /* first one */
	size_t fault_size;
	int rc;
};

/* Remembers the first fault; the pass goes on. */
void pass_fault(struct pass *p, int rc, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

const struct tap *pass_tap(const struct pass *p, uint32_t vlan_id);

void pass_links(struct pass *p);
void pass_addresses(struct pass *p);
void pass_routes(struct pass *p);
void pass_marks(struct pass *p);

/* Bytes and length of an address as the kernel has it: 4 or 16. */
static inline const void *addr_bytes(const struct ip_addr *a, size_t *length)
{
	*length = ip_is_v4(a) ? 4 : 16;
	return ip_is_v4(a) ? &a->b[12] : &a->b[0];
}

static inline struct ip_addr addr_of(const struct rtattr *a, uint8_t family)
{
	struct ip_addr out = {0};

	if (!a)
		return family == AF_INET ? ip_addr_v4(0) : out;
	if (family == AF_INET) {
		uint32_t v4;
		memcpy(&v4, RTA_DATA(a), sizeof(v4));
		return ip_addr_v4(v4);
	}
	memcpy(&out, RTA_DATA(a), sizeof(out));
	return out;
}

#endif
