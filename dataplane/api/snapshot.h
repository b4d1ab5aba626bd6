/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The snapshot: everything the dataplane is told of the configuration, in one flat read-only buffer.
 *
 * weir-cp writes it into a sealed memory file, weir-dp maps and checks it once (snapshot_check) and
 * builds its derived tables from it. All integers are in host order unless a field says otherwise, all
 * reserved bytes are zero. A header is followed by all tables in the order of enum snap_kind; each table
 * is an array of fixed-size rows, 64-byte aligned, with nothing but zero bytes between tables. Rows refer
 * to rows of other tables by index (SNAP_NIL = none), to objects of the model by id (base/ids.h). Where
 * rows own a range of another table, these ranges follow each other without gap in the owners' order and
 * cover that table.
 */
#ifndef WEIR_API_SNAPSHOT_H
#define WEIR_API_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "base/ids.h"
#include "base/ipaddr.h"

#define SNAP_MAGIC 0x5745495253534e50ull
#define SNAP_VERSION 1u
#define SNAP_NIL UINT32_MAX
#define SNAP_ALIGN 64u
#define SNAP_LENGTH_MAX (1ull << 30)
#define SNAP_ROWS_MAX (1u << 22)
#define SNAP_NAME_MAX 16 /* with the NUL */

enum snap_kind {
	SNAP_SETTINGS, /* exactly one row */
	SNAP_INTERFACE,
	SNAP_VLAN,
	SNAP_VLAN_MEMBER,
	SNAP_SELF,
	SNAP_SERVICE,
	SNAP_ROUTE,
	SNAP_NODE,
	SNAP_POOL,
	SNAP_MEMBER,
	SNAP_VADDR,
	SNAP_VIRTUAL,
	SNAP_VLAN_REF,
	SNAP_PROFILE,
	SNAP_SNATPOOL,
	SNAP_SNAT_ADDR,
	SNAP_KINDS
};

struct snap_table {
	uint64_t offset; /* bytes from the start of the buffer, multiple of SNAP_ALIGN */
	uint32_t count;	 /* rows */
	uint32_t row;	 /* bytes of a row: sizeof of the kind's struct */
};

struct snap_header {
	uint64_t magic;
	uint32_t version;
	uint32_t kinds; /* SNAP_KINDS */
	uint64_t length;
	uint64_t generation; /* of the running configuration; grows with every commit, never 0 */
	uint64_t origin; /* which running store that is: generations of two stores do not compare */
	uint64_t checksum; /* snapshot_checksum over all bytes behind the header */
	struct snap_table tables[SNAP_KINDS];
};

struct snap_settings {
	uint8_t auto_lasthop;	 /* default of virtual servers that say "default" */
	uint8_t reset_unmatched; /* a TCP segment without flow that is no SYN is answered with RST */
	uint8_t reserved[2];
	uint32_t arp_timeout; /* s a neighbour stays valid after it was confirmed */
	uint32_t arp_retries; /* solicitations before a neighbour counts as unreachable */
	uint32_t maximum_arp; /* neighbours held by each worker */
};

/* name is LTM's ("1.1"); weir-dp maps it to a DPDK device by its arguments. */
struct snap_interface {
	uint32_t id;
	uint8_t enabled;
	uint8_t reserved[3];
	char name[SNAP_NAME_MAX];
};

struct snap_vlan {
	uint32_t id;
	uint16_t tag;			/* 1-4094; on the wire only where a member is tagged */
	uint16_t mtu;			/* bytes of an IP packet, 576-9198 */
	uint32_t first_member, members; /* rows of SNAP_VLAN_MEMBER */
	char tap[SNAP_NAME_MAX];	/* kernel interface that carries the VLAN's self IPs */
	uint8_t auto_lasthop;		/* enum snap_tristate */
	uint8_t reserved[3];
};

enum snap_tristate { SNAP_DEFAULT, SNAP_DISABLED, SNAP_ENABLED };

struct snap_vlan_member {
	uint32_t interface; /* row of SNAP_INTERFACE */
	uint8_t tagged;	    /* 802.1Q tag on the wire */
	uint8_t reserved[3];
};

enum snap_allow { SNAP_ALLOW_NONE, SNAP_ALLOW_LIST, SNAP_ALLOW_ALL };

struct snap_self {
	uint32_t id;
	uint32_t vlan; /* row of SNAP_VLAN */
	struct ip_addr addr;
	uint8_t prefix; /* 0-32 or 0-128 */
	uint8_t floating;
	uint8_t allow; /* enum snap_allow: what may come in to the kernel */
	uint8_t reserved;
	uint32_t first_service, services; /* rows of SNAP_SERVICE, for SNAP_ALLOW_LIST */
	uint32_t reserved2;
};

struct snap_service {
	uint8_t proto; /* IP protocol number */
	uint8_t reserved;
	uint16_t port; /* host order; 0 = every port */
};

enum snap_route_kind { SNAP_ROUTE_GATEWAY, SNAP_ROUTE_VLAN, SNAP_ROUTE_BLACKHOLE };

/* Connected networks come from the self IPs and are not repeated here. */
struct snap_route {
	uint32_t id;
	uint8_t kind; /* enum snap_route_kind */
	uint8_t prefix;
	uint16_t mtu;	   /* bytes, 0 = the VLAN's */
	uint32_t vlan;	   /* row, for SNAP_ROUTE_VLAN; else SNAP_NIL */
	uint32_t reserved; /* 0 */
	struct ip_addr network, gateway;
};

/*
 * live: state that also changes without a snapshot (struct live_row in api/message.h). A row's values
 * count only for an object the dataplane does not know yet; afterwards the last live message wins.
 */
struct snap_live {
	uint16_t ratio;		/* 1-65535 */
	uint16_t dynamic_ratio; /* 0-65535 */
	uint8_t avail;		/* LIVE_* bits of api/message.h */
	uint8_t reserved[3];
	uint32_t connection_limit; /* 0 = none */
	uint32_t rate_limit;	   /* new connections per second, 0 = none */
};

struct snap_node {
	uint32_t id;
	uint32_t reserved;
	struct ip_addr addr;
	struct snap_live live;
};

enum snap_lb {
	SNAP_LB_ROUND_ROBIN,
	SNAP_LB_RATIO_MEMBER,
	SNAP_LB_RATIO_NODE,
	SNAP_LB_LEAST_CONNECTIONS_MEMBER,
	SNAP_LB_COUNT
};

struct snap_pool {
	uint32_t id;
	uint8_t lb; /* enum snap_lb */
	uint8_t allow_snat;
	uint16_t
		min_active; /* priority groups: lower ones join while fewer members are active; 0 = off */
	uint16_t reselect_tries; /* other members tried after a failed connect */
	uint16_t
		response_time; /* s after which a SYN without answer is a failed connect; 0: when the
				 * connection ends */
	uint32_t slow_ramp;    /* s over which a member that came up gains its share; 0 = at once */
	uint32_t first_member,
		members; /* rows of SNAP_MEMBER: contiguous, in order of address and port */
};

struct snap_member {
	uint32_t id;
	uint32_t pool, node; /* rows */
	uint16_t port;	     /* host order; 0 = the client's destination port */
	uint16_t priority_group;
	struct snap_live live; /* avail already combines the member's and its node's state */
};

/* SELECTIVE: while the address is available (live state, LIVE_NEW). */
enum snap_answer { SNAP_ANSWER_NEVER, SNAP_ANSWER_ALWAYS, SNAP_ANSWER_SELECTIVE, SNAP_ANSWERS };

struct snap_vaddr {
	uint32_t id;
	uint32_t reserved;
	struct ip_addr addr;
	uint8_t prefix;	   /* shorter than the maximum: a network; no ARP for a wildcard */
	uint8_t arp;	   /* enum snap_answer: to ARP and NDP */
	uint8_t icmp_echo; /* enum snap_answer */
	uint8_t enabled;
	uint8_t available; /* live state of an address that the dataplane does not know yet */
	uint8_t reserved2[3];
};

enum snap_virtual_type { SNAP_VIRTUAL_FASTL4, SNAP_VIRTUAL_FORWARD_IP, SNAP_VIRTUAL_REJECT };
enum snap_snat { SNAP_SNAT_NONE, SNAP_SNAT_AUTOMAP, SNAP_SNAT_POOL };
enum snap_vlans { SNAP_VLANS_ALL, SNAP_VLANS_ONLY, SNAP_VLANS_EXCEPT };
enum snap_source_port { SNAP_PORT_PRESERVE, SNAP_PORT_PRESERVE_STRICT, SNAP_PORT_CHANGE };

struct snap_virtual {
	uint32_t id;
	uint32_t vaddr, pool, profile, snatpool; /* rows; pool and snatpool may be SNAP_NIL */
	uint32_t reserved;
	struct ip_addr source; /* clients that are served, with source_prefix */
	uint8_t source_prefix;
	uint8_t proto;	     /* IP protocol number, 0 = any */
	uint16_t port;	     /* host order, 0 = any */
	uint8_t type;	     /* enum snap_virtual_type */
	uint8_t snat;	     /* enum snap_snat */
	uint8_t vlans;	     /* enum snap_vlans, with the rows of SNAP_VLAN_REF */
	uint8_t source_port; /* enum snap_source_port */
	uint8_t translate_address, translate_port;
	uint8_t auto_lasthop; /* enum snap_tristate */
	uint8_t reserved2;
	uint32_t first_vlan, vlan_count;
	struct snap_live live; /* avail: LIVE_NEW = enabled */
	uint32_t reserved3;
};

struct snap_vlan_ref {
	uint32_t vlan; /* row */
};

enum snap_profile_kind { SNAP_PROFILE_FASTL4, SNAP_PROFILE_UDP };

#define SNAP_TIMEOUT_INDEFINITE UINT32_MAX

struct snap_profile {
	uint32_t id;
	uint8_t kind; /* enum snap_profile_kind */
	uint8_t reset_on_timeout, loose_initiation, loose_close;
	uint32_t idle_timeout; /* s, or SNAP_TIMEOUT_INDEFINITE; 0 = removed at the next sweep */
	uint32_t handshake_timeout, close_timeout; /* s, fastL4 only */
};

struct snap_snatpool {
	uint32_t id;
	uint32_t first_addr, addrs; /* rows of SNAP_SNAT_ADDR */
};

struct snap_snat_addr {
	uint32_t id;
	uint32_t reserved;
	struct ip_addr addr;
};

/* Rows of one kind. */
#define SNAP_ROWS(h, kind, type) ((const type *)((const char *)(h) + (h)->tables[kind].offset))
#define SNAP_COUNT(h, kind) ((h)->tables[kind].count)

/* Bytes of a row of each kind. */
extern const uint32_t snap_row_size[SNAP_KINDS];

uint64_t snapshot_checksum(const void *bytes, size_t length);

/* For writers: fills h, except generation and checksum, for a buffer with so many rows of each kind.
 * Returns the buffer's length in bytes; the caller takes care that it is SNAP_LENGTH_MAX at most. */
uint64_t snapshot_layout(struct snap_header *h, const uint32_t count[SNAP_KINDS]);

/*
 * Checks a whole buffer of length bytes: sizes, alignment, overlap, ranges of every field, references,
 * unique ids, and the checksum. Never reads outside it. 0, or -EINVAL with a sentence in reason.
 */
int snapshot_check(const void *buffer, size_t length, char *reason, size_t reason_size);

#endif
