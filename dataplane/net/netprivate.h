/* SPDX-License-Identifier: BSD-3-Clause */
/* The per-worker state of net/ and what its files call of each other. One worker reads and writes it. */
#ifndef WEIR_NET_NETPRIVATE_H
#define WEIR_NET_NETPRIVATE_H

#include "core/handover.h"
#include "core/mbuf.h"
#include "net/fragment.h"
#include "net/neighbour.h"
#include "net/netview.h"
#include "wire/emit.h"

#define ICMP_RATE 250u /* errors a worker sends in a second, as LTM's tm.maxrejectrate */

struct net_private {
	struct neighbour_table neighbours;
	struct fragment_table fragments;
	uint64_t signature;	/* of the tables that the next hops are made from */
	uint64_t addresses;	/* of the tables, likewise, for announcements */
	uint32_t house_tick;	/* of the last upkeep */
	uint32_t icmp_tokens;	/* in ticks' worth: ICMP_RATE * TICKS_PER_SECOND is full */
	uint32_t icmp_tick;	/* of the last refill */
	uint32_t conflict_tick; /* of the last report of a duplicate address */
	uint32_t turned;	/* net_tables.turned that the walk knows of */
	uint32_t announce_at;	/* place in own[] where the walk goes on */
	bool announce_pending;	/* the walk has met something that is not due yet */
	bool announce_done;	/* nothing of this view is left to announce */
};

static inline struct net_private *net_private(const struct worker *w)
{
	return w->net->private;
}

static inline const struct snap_settings *net_settings(const struct worker *w)
{
	return SNAP_ROWS(w->view->net->snap, SNAP_SETTINGS, struct snap_settings);
}

static inline bool tick_reached(uint32_t now, uint32_t due)
{
	return (int32_t)(now - due) >= 0;
}

/* Takes note of a new view: rows of VLANs may have moved, routes may differ. */
void net_sync(struct worker *w);

/* Does address a give this kind of answer (enum snap_answer) now? */
static inline bool own_gives(const struct worker *w, const struct own_addr *a, uint8_t answer)
{
	const struct counter_shared *line = worker_shared(w, a->id);

	if (answer != SNAP_ANSWER_SELECTIVE)
		return answer == SNAP_ANSWER_ALWAYS;
	return line->id == a->id && __atomic_load_n(&line->avail, __ATOMIC_RELAXED) & LIVE_NEW;
}

/* Does it answer who asks for it on that VLAN? */
static inline bool own_answers(const struct worker *w, const struct own_addr *a, uint16_t vlan)
{
	return own_on_vlan(a, vlan) && own_gives(w, a, a->answers);
}

/* --- solicit.c: what we say in ARP and NDP -------------------------------------------------------- */

/* Asks for hop in vlan: by broadcast on all its ports, or of one known MAC on one port. */
void solicit(struct worker *w, uint16_t vlan, const struct ip_addr *hop, const uint8_t *mac,
	uint8_t port);

/* Probe for a duplicate (step 0) or announcement of an own address on its VLAN. */
void announce(struct worker *w, const struct own_addr *a, unsigned step);

/* Reports another who uses a, and defends it. */
void conflict(struct worker *w, const struct own_addr *a, const uint8_t mac[6]);

/* Steps of announcements that are due: a slice. */
void announce_house(struct worker *w);

/* --- arp.c, ndp.c --------------------------------------------------------------------------------- */

/* Consume m. copy: came from another worker, only to learn from. */
void arp_process(struct worker *w, struct rte_mbuf *m, bool copy);
void ndp_process(struct worker *w, struct rte_mbuf *m, bool copy);

extern const struct ip_addr ndp_all_nodes; /* ff02::1 */

/* Does one of our ports have it? */
bool mac_is_ours(const uint8_t mac[6]);

/* Gives every other worker a copy to learn from. */
void share_neighbour(struct worker *w, const struct rte_mbuf *m);

/* --- netoutput.c ---------------------------------------------------------------------------------- */

/* Sends m, whose data starts with the finished Ethernet header for that port. */
void output_frame(struct worker *w, struct rte_mbuf *m, uint8_t port);

/* Writes the header of n before m's IP packet and sends it. */
void output_ready(struct worker *w, struct rte_mbuf *m, const struct nexthop *n);

/*
 * Sends the IP packet m where `from` came from: to its sender's MAC if the VLAN has auto last hop, else
 * as routes say. m may be `from` itself. Consumes m.
 */
void output_back(struct worker *w, struct rte_mbuf *m, const struct rte_mbuf *from);

/* An empty packet with its IP packet to be written at l3 (room for EMIT_ERROR_LENGTH_MAX), or NULL,
 * counted. */
struct rte_mbuf *packet_new(struct worker *w, uint8_t **l3);

/* Closes it: length of the IP packet that was written. Parses it into pkt. */
void packet_finish(struct rte_mbuf *m, unsigned length);

/* --- refragment.c --------------------------------------------------------------------------------- */

/* Cuts an IPv4 packet to n's MTU and sends the pieces. Consumes m. */
void refragment(struct worker *w, struct rte_mbuf *m, const struct nexthop *n);

/* --- icmp.c --------------------------------------------------------------------------------------- */

/* Answers an echo request to an own address; false if it is none. */
bool echo_process(struct worker *w, struct rte_mbuf *m, const struct own_addr *dst);

#endif
