/* SPDX-License-Identifier: BSD-3-Clause */
/* What we know of a packet: lies in the mbuf's private area and travels with it over hand-over rings. */
#ifndef WEIR_CORE_PKT_H
#define WEIR_CORE_PKT_H

#include <rte_mbuf.h>

#include "base/ipaddr.h"
#include "wire/parse.h"

#define PKT_BURST 32
#define PKT_PRIV 64 /* bytes of private area: the pools are made with it */

/* Where a packet that came by ring goes on. */
enum pkt_stage {
	PKT_DISPATCH,  /* its owner: flow look-up */
	PKT_MISSED,    /* second and last owner, after a miss at the first (owner rule 3) */
	PKT_FRAGMENT,  /* keeper of its datagram's fragment state */
	PKT_NEIGHBOUR, /* copy of an ARP or NDP message to learn from */
	PKT_TRANSMIT,  /* finished frame for a queue that another worker owns: port says which */
	PKT_TAP,       /* IP packet from the kernel, to be routed */
};

struct pkt {
	struct wire_info wire;
	uint16_t vlan; /* row of the view's VLAN table it came in on */
	uint8_t port;  /* port it came in on, or leaves by (PKT_TRANSMIT) */
	uint8_t stage; /* enum pkt_stage */
	uint32_t owner_hash;
	uint8_t reserved[24];
};

_Static_assert(sizeof(struct pkt) <= PKT_PRIV, "struct pkt must fit the private area");

static inline struct pkt *pkt_of(struct rte_mbuf *m)
{
	return rte_mbuf_to_priv(m);
}

static inline void *pkt_l3(struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod_offset(m, void *, pkt_of(m)->wire.l3);
}

static inline void *pkt_l4(struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod_offset(m, void *, pkt_of(m)->wire.l4);
}

/* Bytes of the IP packet, without Ethernet header and padding. */
static inline uint16_t pkt_l3_length(struct rte_mbuf *m)
{
	const struct wire_info *w = &pkt_of(m)->wire;
	return w->l3_end - w->l3;
}

#endif
