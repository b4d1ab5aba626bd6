/* SPDX-License-Identifier: BSD-3-Clause */
/* What net/ derives from a snapshot: built by the control thread, read by workers. */
#ifndef WEIR_NET_NETVIEW_H
#define WEIR_NET_NETVIEW_H

#include "net/net.h"
#include "port/port.h"

#define TAGS 4096

struct vlan_port {
	uint8_t port;
	bool tagged;
};

struct net_vlan {
	uint32_t id;
	uint16_t tag, mtu;	    /* mtu: what every port of it takes */
	uint32_t first_port, ports; /* in vlan_ports */
	uint32_t first_self, selfs; /* in selfs */
	bool auto_lasthop;
};

enum route_kind {
	ROUTE_EMPTY,
	ROUTE_CONNECTED, /* the network of a self IP */
	ROUTE_VLAN,	 /* all on link there */
	ROUTE_GATEWAY,
	ROUTE_BLACKHOLE,
	ROUTE_UNUSABLE, /* its gateway is nowhere to be found */
};

struct route {
	struct ip_addr network;
	struct ip_addr gateway; /* ROUTE_GATEWAY: on link in vlan */
	uint32_t mtu;		/* 0 = the VLAN's */
	uint16_t vlan;		/* row */
	uint8_t prefix, kind;
};

/* One probe for prefix lengths that occur, longest first. */
struct prefix_lengths {
	uint8_t length[129];
	unsigned count;
};

/* An address of ours that is a host. Several objects may have the same. */
struct own_addr {
	struct ip_addr addr;
	uint32_t row, id;      /* of the object that owner names */
	uint16_t vlan;	       /* whose network it lies in, or NET_NO_VLAN */
	uint8_t owner;	       /* enum net_owner; NET_NOT_OURS = free place */
	uint8_t answers, echo; /* enum snap_answer: ARP and NDP; ICMP echo */
	bool shared;	/* servers own it too and answer from it: its address is not translated */
	uint64_t since; /* ns, when it first appeared or was available again; worker 0 writes */
};

/* When a new address speaks: the probe, then announcements. ns behind `since`. */
#define ANNOUNCE_STEPS 4
#define ANNOUNCE_ASLEEP 0xff /* instead of steps done: it is not available */
extern const uint64_t announce_after[ANNOUNCE_STEPS];

#define OWN_FILTER_BITS 13

struct net_tables {
	uint64_t signature; /* of all that next hops are made from: VLANs, self IPs, routes */
	uint64_t addresses; /* of own[]: equal ones need no announcements */
	uint32_t
		turned; /* changes whenever addresses became available or ceased to; control thread */
	const struct snap_header *snap;
	uint16_t *vlan_at[PORTS_MAX]; /* [TAGS], untagged at 0; NULL = port in no VLAN */
	struct net_vlan *vlans;
	unsigned vlan_count;
	struct vlan_port *vlan_ports;
	uint32_t *selfs;      /* rows of SNAP_SELF by VLAN, floating ones first */
	struct own_addr *own; /* hashed, linear probing */
	uint32_t own_mask;
	uint64_t own_filter[(1u << OWN_FILTER_BITS) / 64]; /* which of filter_bit occur */
	uint8_t *announced;   /* beside own: steps done; worker 0 writes, control thread copies */
	struct route *routes; /* hashed by network and prefix, linear probing */
	uint32_t route_mask;
	struct prefix_lengths lengths[2]; /* IPv4, IPv6 */
};

static inline uint32_t addr_hash(const struct ip_addr *a, uint32_t seed)
{
	uint64_t x = (a->d[0] ^ seed) * 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 32) ^ a->d[1]) * 0xd6e8feb86659fd93u;
	x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
	return (uint32_t)(x >> 32);
}

/* Each fills its part of t; 0 or -ENOMEM. In this order. */
int vlans_build(struct net_tables *t);
int routes_build(struct net_tables *t);
int own_build(struct net_tables *t, const struct net_tables *old, uint64_t now_ns);

/* Row of the VLAN object, or NET_NO_VLAN. */
uint16_t vlan_row_of(const struct net_tables *t, uint32_t id);

/* Tag on the wire of the VLAN (row) at port, WIRE_NO_TAG where untagged. False: port is not in it. */
bool vlan_tag_at(const struct net_tables *t, uint16_t vlan, uint8_t port, uint16_t *tag);

/* Best usable route, or NULL. A blackhole is found too. */
const struct route *route_find(const struct net_tables *t, const struct ip_addr *dst);

const struct own_addr *own_find(const struct net_tables *t, const struct ip_addr *addr);

/* Is it an address that is asked for on that VLAN? */
static inline bool own_on_vlan(const struct own_addr *a, uint16_t vlan)
{
	return a->vlan == vlan || a->vlan == NET_NO_VLAN;
}

#endif
