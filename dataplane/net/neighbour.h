/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbours of a worker: the cold half of struct nexthop, same index. ARP's ageing and RFC 4861's
 * probing in one: a neighbour is confirmed by an answer, asked again by unicast shortly before its time
 * is over if somebody uses it, then by broadcast, then it has failed.
 */
#ifndef WEIR_NET_NEIGHBOUR_H
#define WEIR_NET_NEIGHBOUR_H

#include "net/net.h"

#define NEIGHBOUR_QUEUE                                                                            \
	16u /* packets that wait for one neighbour: all pieces of a large datagram */
#define NEIGHBOUR_QUEUE_ALL 512u /* for all: a scan of unused addresses must not take all buffers */
#define SOLICIT_INTERVAL TICKS_PER_SECOND   /* RFC 4861, RetransTimer */
#define FAILED_KEEP (20 * TICKS_PER_SECOND) /* how long an unused failed one is remembered */

enum nexthop_kind { NEXTHOP_FREE, NEXTHOP_IP, NEXTHOP_LASTHOP };

struct neighbour {
	struct ip_addr addr; /* of a last hop: port and MAC */
	uint32_t vlan_id;
	uint32_t chain;	    /* next in the bucket or free list */
	uint32_t confirmed; /* tick of the last answer */
	uint32_t due;	    /* tick of the next question, or of the next try after failure */
	uint16_t route_mtu; /* part of the key: routes through one gateway may differ */
	uint8_t mac[6];
	uint8_t kind;	/* enum nexthop_kind */
	uint8_t probes; /* questions since it was confirmed */
	uint8_t queued;
	bool hashed;
	bool reported; /* its failure is known to weir-cp */
	struct rte_mbuf *queue[NEIGHBOUR_QUEUE];
};

struct neighbour_table {
	struct neighbour *rows;
	uint32_t *buckets;
	uint32_t mask, max;
	uint32_t count; /* in use */
	uint32_t
		lasthops; /* of these; at most half of what is allowed, since clients make up their MACs */
	uint32_t queued;   /* packets, of all */
	uint32_t top;	   /* rows ever used */
	uint32_t free;	   /* chain of free rows below top */
	uint32_t clock;	   /* where eviction looks next */
	uint32_t house_at; /* where upkeep goes on */
};

int neighbours_init(struct worker *w, uint32_t max);
void neighbours_fini(struct worker *w);

/* What an ARP or NDP message told. */
struct neighbour_news {
	uint16_t vlan;
	uint8_t port;
	struct ip_addr addr;
	const uint8_t *mac; /* NULL: unchanged */
	bool solicited;	    /* an answer: confirms */
	bool override;	    /* may replace a known MAC */
};

/* Updates what is known of a neighbour; never creates one. */
void neighbour_learn(struct worker *w, const struct neighbour_news *news);

/* Keeps m until the next hop is resolved, or drops it. */
void neighbour_wait(struct worker *w, struct rte_mbuf *m, uint32_t nexthop);

/* --- for neighbour.c, nexthop.c and neighbour_age.c alone: rows ---------------------------------- */

struct neighbour_table *neighbour_table_of(const struct worker *w);

/* The head of the chain that rows of that key are in. */
uint32_t *neighbour_bucket(struct neighbour_table *t, uint32_t vlan_id, const struct ip_addr *addr);
bool neighbour_is(const struct neighbour *n, enum nexthop_kind kind, uint32_t vlan_id,
	const struct ip_addr *addr);

/* A row of that kind, else zero and in no bucket; another that nobody holds makes room. NEXTHOP_NONE if all
 * are held. */
uint32_t neighbour_new(struct worker *w, enum nexthop_kind kind);
void neighbour_free(struct worker *w, uint32_t i);
void neighbour_link(struct neighbour_table *t, uint32_t i);
void neighbour_unlink(struct neighbour_table *t, uint32_t i);
void neighbour_queue_drop(struct worker *w, struct neighbour *n, enum drop_reason reason);

/* The ready Ethernet header; its type is written with each packet. False: port is not in the VLAN. */
bool neighbour_header_write(struct worker *w, uint32_t i, uint8_t port);

/* Asks once; begins asking anew; gives up. */
void neighbour_ask(struct worker *w, uint32_t i, bool unicast);
void neighbour_resolve(struct worker *w, uint32_t i);
void neighbour_fail(struct worker *w, uint32_t i);

/* --- upkeep --------------------------------------------------------------------------------------- */

/* After a change of VLANs, self IPs or routes. */
void neighbours_sync(struct worker *w);

/* A slice of ageing and probing. */
void neighbours_house(struct worker *w);

#endif
