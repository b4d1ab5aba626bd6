/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wire side of the dataplane: Ethernet, neighbours, IP, ICMP, routes, fragments. Everything here
 * belongs to one worker; workers learn neighbours from copies of ARP and NDP messages.
 */
#ifndef WEIR_NET_NET_H
#define WEIR_NET_NET_H

#include "api/message.h"
#include "core/worker.h"

#define NEXTHOP_NONE UINT32_MAX

enum nexthop_state { NEXTHOP_INCOMPLETE, NEXTHOP_READY, NEXTHOP_FAILED, NEXTHOP_GONE };

/* The hot part of a neighbour: what writing a frame needs, one cache line. */
struct nexthop {
	uint8_t header[18];    /* ready Ethernet header, with tag where the port wants one */
	uint8_t header_length; /* 14 or 18 */
	uint8_t state;	       /* enum nexthop_state */
	uint8_t port;
	uint8_t lasthop; /* address of a client's last hop (auto last hop): no ARP, not bound to a route */
	uint16_t vlan;	       /* row in the view */
	uint16_t mtu;	       /* bytes of an IP packet */
	uint32_t refs;	       /* flows that hold it */
	uint32_t epoch;	       /* of the routes it was found with */
	uint32_t used;	       /* tick of the last packet */
	uint8_t encapsulation; /* 0 = none; room for tunnels */
	uint8_t reserved[19];
} __attribute__((aligned(64)));

/* Per-worker part that callers may look into. */
struct net_worker {
	struct nexthop *nexthops;
	uint32_t epoch; /* grows when VLANs, self IPs or routes change */
	struct net_private *private;
};

/* --- in ------------------------------------------------------------------------------------------- */

/*
 * Ethernet to IP: parses, finds the VLAN, answers ARP, NDP and echo, sorts out what is damaged, not for
 * us or martian, and brings fragments to their keeper. Packets whose stage is PKT_FRAGMENT or
 * PKT_NEIGHBOUR are carried on from there. Returns in out the IP packets that go on to dispatch (at most
 * n, plus fragments that were waiting: out holds 2 * PKT_BURST); of a later fragment wire.src_port and
 * dst_port are those of its first.
 */
unsigned net_input(struct worker *w, struct rte_mbuf **in, unsigned n, struct rte_mbuf **out);

enum net_owner {
	NET_NOT_OURS,
	NET_SELF,  /* a self IP */
	NET_VADDR, /* an enabled virtual address that is a host */
	NET_SNAT,  /* an address of a SNAT pool */
};

/* Whose address is it? row, if not NULL, gets the row in the snapshot's table of that kind. */
enum net_owner net_owner_of(const struct view *v, const struct ip_addr *addr, uint32_t *row);

/* A packet to a self IP that no flow and no listener wants: to the kernel if the self IP allows the
 * service or it answers the kernel's own connection, else dropped and counted. */
void net_to_kernel(struct worker *w, struct rte_mbuf *m, uint32_t self_row);

/* A packet that the kernel sent by a tap: routed and put on the wire. */
void net_from_kernel(struct worker *w, struct rte_mbuf *m);

/* --- out ------------------------------------------------------------------------------------------ */

/* Next hop towards dst by connected networks and routes, or NEXTHOP_NONE if there is no route. Starts
 * resolving an unknown neighbour. The caller holds one reference. */
uint32_t net_route_get(struct worker *w, const struct ip_addr *dst);

/* The same for a next hop that is known already, in a VLAN of the view. */
uint32_t net_hop_get(struct worker *w, uint16_t vlan, const struct ip_addr *hop);

/* The MAC and VLAN that m came from. The caller holds one reference. NEXTHOP_NONE if the table is full. */
uint32_t net_lasthop_get(struct worker *w, struct rte_mbuf *m);

void net_nexthop_put(struct worker *w, uint32_t nexthop);

static inline struct nexthop *net_nexthop(const struct worker *w, uint32_t nexthop)
{
	return &w->net->nexthops[nexthop];
}

/* False: routes changed or the VLAN is gone; put it and get a new one. */
static inline bool net_nexthop_current(const struct worker *w, uint32_t nexthop)
{
	const struct nexthop *n = net_nexthop(w, nexthop);
	return n->state != NEXTHOP_GONE && (n->lasthop || n->epoch == w->net->epoch);
}

/*
 * Sends the IP packet at m's l3 offset: writes the Ethernet header over whatever precedes it, waits for
 * an unresolved neighbour (a few packets, bounded), fragments an IPv4 packet without DF that exceeds the
 * MTU (others are the caller's business before translation: net_icmp_too_big).
 */
void net_output(struct worker *w, struct rte_mbuf *m, uint32_t nexthop);

/* Routes and sends a packet that we made; consumes m. */
void net_output_routed(struct worker *w, struct rte_mbuf *m);

/* The address to speak from towards a destination on that VLAN: a self IP of dst's family, floating
 * ones first. False if the VLAN has none. */
bool net_self_of_vlan(
	const struct view *v, uint16_t vlan, const struct ip_addr *dst, struct ip_addr *out);

/* Answers m (not yet translated) with an ICMP or ICMPv6 error and frees m; never answers errors, later
 * fragments, broadcasts. The caller has counted the drop; an answer that the rate limit holds back is
 * counted besides. mtu: bytes, for NET_TOO_BIG. */
enum net_error {
	NET_TTL_EXCEEDED,
	NET_TOO_BIG,
	NET_PORT_UNREACHABLE,
	NET_HOST_UNREACHABLE,
	NET_ADMIN_PROHIBITED
};
void net_icmp_error(struct worker *w, struct rte_mbuf *m, enum net_error error, uint16_t mtu);

/* --- upkeep --------------------------------------------------------------------------------------- */

/* Ageing and probing of neighbours, fragment timeouts, announcements: a slice per call. */
void net_house(struct worker *w);

int net_worker_init(struct worker *w, unsigned nexthops_max);
void net_worker_fini(struct worker *w);

/*
 * Tables of a view; ports must be set up. Refers to snap and must not outlive it. old (or NULL) are the
 * tables in force: addresses that they lack are probed for duplicates and announced by worker 0. now_ns:
 * CLOCK_MONOTONIC. NULL on no memory.
 */
struct net_tables *net_tables_new(
	const struct snap_header *snap, const struct net_tables *old, uint64_t now_ns);
void net_tables_free(struct net_tables *t);

/* Control thread: virtual addresses became available, or ceased to: who comes back is announced. */
void net_addresses_turned(struct net_tables *t);

/* Row of the VLAN that frames with this tag (WIRE_NO_TAG) belong to on the port, or NET_NO_VLAN. A row
 * that came by ring may be of an older view: ask again. */
#define NET_NO_VLAN UINT16_MAX
uint16_t net_vlan_of(const struct view *v, uint8_t port, uint16_t tag);

/*
 * A walk over the worker's neighbours, on its own thread, in slices: visits at most budget places from
 * *place on, stops early when max rows are full; *place becomes UINT32_MAX at the end. Returns rows
 * written.
 */
unsigned net_neighbour_scan(const struct worker *w, uint32_t *place, unsigned budget,
	struct neighbour_row *rows, unsigned max);

#endif
