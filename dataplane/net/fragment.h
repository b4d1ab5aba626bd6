/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fragments are not put together: the keeper of a datagram (a hash over its key names the worker)
 * remembers the ports of the first fragment and writes them beside the later ones, so that all go the
 * same way. Later ones that come first wait a moment. Whatever overlaps what was seen is refused
 * (RFC 1858, 3128, 5722), so no receiver can be made to see other headers than we saw.
 */
#ifndef WEIR_NET_FRAGMENT_H
#define WEIR_NET_FRAGMENT_H

#include "net/net.h"

#define FRAGMENT_DATAGRAMS 1024u	     /* known at a time, per worker */
#define FRAGMENT_HELD 256u		     /* that wait for their first, per worker */
#define FRAGMENT_HELD_EACH 32u		     /* of one datagram */
#define FRAGMENT_RANGES 8u		     /* pieces a datagram may have arrived in */
#define FRAGMENT_WAIT TICKS_PER_SECOND	     /* for the first fragment */
#define FRAGMENT_KEEP (5 * TICKS_PER_SECOND) /* after the first was seen */

struct fragment_range {
	uint16_t from, to; /* bytes of the datagram's payload that were seen */
};

struct datagram {
	struct ip_addr src, dst;
	uint32_t id;
	uint32_t chain;		     /* next in the bucket or free list */
	uint32_t deadline;	     /* tick */
	uint32_t end;		     /* length of the payload, 0 = last fragment not seen */
	uint16_t src_port, dst_port; /* of the first */
	uint8_t key_proto; /* IPv4's protocol; 0 for IPv6, where it is no part of the key */
	uint8_t proto, icmp_type, icmp_code; /* of the first */
	uint8_t ranges, held;
	bool used, first_seen, bad;
	struct fragment_range range[FRAGMENT_RANGES]; /* ascending, apart from each other */
	struct rte_mbuf *hold[FRAGMENT_HELD_EACH];
};

struct fragment_table {
	struct datagram *rows;
	uint32_t *buckets;
	uint32_t free; /* chain */
	uint32_t seed;
	uint32_t held; /* of all */
	uint32_t used;
	uint32_t house_at;
};

int fragments_init(struct worker *w);
void fragments_fini(struct worker *w);

/* A fragment: to its keeper, or, if that is us, on with its ports, or held, or dropped. Returns how many
 * packets are in out (at most room). */
unsigned fragment_input(struct worker *w, struct rte_mbuf *m, struct rte_mbuf **out, unsigned room);

/* A slice of timeouts. */
void fragments_house(struct worker *w);

#endif
