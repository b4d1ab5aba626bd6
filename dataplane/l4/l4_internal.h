/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the files of l4/ only. */
#ifndef WEIR_L4_L4_INTERNAL_H
#define WEIR_L4_L4_INTERNAL_H

#include "core/worker.h"
#include "flow/flow.h"
#include "l4/l4.h"
#include "net/net.h"
#include "wire/headers.h"

#define USED_UP_SLOTS 16u

/* A source address whose ports towards a server were found taken: not looked at again before `until`. */
struct used_up {
	struct ip_addr src, dst;
	uint16_t dst_port;
	uint8_t proto;
	uint32_t until; /* tick; 0 = empty */
};

#define FAILED_PLACES 256u

/* Connections that a member did not take. */
struct failed_place {
	uint32_t member;		  /* ID_NONE: free */
	uint32_t told;			  /* tick of its last event */
	uint32_t count[CONNECT_FAILURES]; /* not yet told */
	bool untold;			  /* some of them wait for their time */
};

struct l4_failed {
	struct failed_place place[FAILED_PLACES];
	uint32_t visited; /* tick */
	bool untold;	  /* some place is */
};

#define L4_SILENCE 2u /* s without an answer to a SYN, after which its end counts as a failure */

struct l4_worker {
	struct flow_worker table;
	uint32_t port_cursor; /* where the search for a source port goes on */
	uint32_t snat_turn;   /* which address of a SNAT pool is next */
	struct used_up used_up[USED_UP_SLOTS];
	uint32_t hand;	       /* next record of the sweep */
	uint64_t sweep_start;  /* ns: when the hand was at 0 */
	uint64_t sweep_period; /* ns a whole sweep takes */
	uint32_t evict_hand;
	struct l4_retry *retry;
	struct l4_failed failed;
};

static inline uint32_t l4_second(const struct worker *w)
{
	return w->now / TICKS_PER_SECOND;
}

static inline uint8_t l4_ttl(struct rte_mbuf *m)
{
	if (pkt_of(m)->wire.ip_version == 4)
		return ((const struct ip4_hdr *)pkt_l3(m))->ttl;
	return ((const struct ip6_hdr *)pkt_l3(m))->hop_limit;
}

/* The tuple of a packet. */
struct flow_tuple l4_tuple(struct rte_mbuf *m);

/* --- l4_open.c: a packet without flow. May open one: its index, and m is still the caller's; or FLOW_NONE,
 * and m is gone. */
uint32_t l4_open(struct worker *w, struct rte_mbuf *m);

/* Gives a flow of a transparent pool (addresses are not translated) another member. False: there is none. */
bool l4_reselect(struct worker *w, uint32_t index);

/* --- l4_retry.c: reselect tries. Keeps SYNs until the server has answered. */
int l4_retry_init(struct l4_worker *l4);
void l4_retry_fini(struct l4_worker *l4);
/* Keeps a copy of the SYN m that opened the flow, if its pool has reselect tries. */
void l4_retry_keep(struct worker *w, uint32_t index, struct rte_mbuf *m, uint16_t tries);
void l4_retry_forget(struct worker *w, struct flow *flow);
/* The server refused, or has not answered while the client asked again: opens the connection anew on
 * another member. False: no tries are left, the flow is as it was. */
bool l4_retry(struct worker *w, uint32_t index, enum connect_failure kind);
/* Has the server of a kept SYN been silent for so long that a repeated SYN counts as a failure? */
bool l4_retry_silent(const struct worker *w, uint32_t index);
/* While a connection is opened anew: the member that failed (ID_NONE else). */
uint32_t l4_retry_avoid(const struct worker *w);
/* Tries that the connection being opened has left, of the pool's. */
uint16_t l4_retry_tries(const struct worker *w, uint16_t pool_tries);

/* --- l4_failed.c: the flow's member did not take the connection; told once per flow. */
void l4_failed(struct worker *w, struct flow *flow, enum connect_failure kind);
/* Has the member been silent for the response time of its pool? */
bool l4_failed_silent(const struct worker *w, uint32_t index);
/* Tells what waits for its time. */
void l4_failed_house(struct worker *w);

/* --- l4_forward.c: a packet of a flow; consumes m. */
void l4_forward(struct worker *w, struct rte_mbuf *m, uint32_t index, enum flow_side side);

/* Rewrites addresses (and ports, unless it is a later fragment) from the key of the other side. */
void l4_translate(
	struct rte_mbuf *m, const struct flow *flow, enum flow_side side, const void *other);

/* The flow's next hop for packets from side, looked up anew if routes changed; NEXTHOP_NONE: no route. */
uint32_t l4_nexthop(struct worker *w, struct flow *flow, enum flow_side side);

/* --- l4_tcp.c */
enum l4_tcp { L4_TCP_PASS, L4_TCP_CLOSED, L4_TCP_END, L4_TCP_REOPEN };

/* Is it a SYN of the client that begins another connection on the flow? The one before is over; or nothing has
 * come of it yet and this SYN is not the first one again: the client gave up and uses its port anew. */
bool l4_tcp_anew(const struct flow *flow, const struct tcp_hdr *tcp);

/* Follows the connection by one segment of `data` bytes (RFC 9293, 3.3.2, as seen from the middle).
 * CLOSED: both sides are done now. END: reset, forget the flow after this. REOPEN: a new SYN. */
enum l4_tcp l4_tcp_track(
	struct flow *flow, enum flow_side side, const struct tcp_hdr *tcp, uint32_t data);

/* --- l4_icmp.c: an ICMP error; consumes m. Returns the packet it quotes, reversed. */
void l4_icmp_error(struct worker *w, struct rte_mbuf *m);
bool l4_icmp_quoted(struct rte_mbuf *m, struct wire_info *inner, struct flow_tuple *reversed);

/* --- l4_reset.c */
/* Refuses a packet: RST for TCP (unless it is one), "port unreachable" for UDP if ours; drops m. */
void l4_refuse(struct worker *w, struct rte_mbuf *m, enum drop_reason reason);
/* Resets both sides of a flow. */
void l4_reset_flow(struct worker *w, uint32_t index);

/* --- l4_end.c */
/* Gives back the counts of a flow that is over; the record may live on. */
void l4_uncount(struct worker *w, uint32_t index);
/* Adds what the flow counted since the last time to its objects. */
void l4_fold(struct worker *w, uint32_t index);
void l4_end(struct worker *w, uint32_t index);
/* Makes room by ending a flow of that family that is embryonic or closed. False if none was found near the
 * hand. */
bool l4_evict(struct worker *w, bool ipv6);

#endif
