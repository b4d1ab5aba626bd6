/* SPDX-License-Identifier: BSD-3-Clause */
/* A packet of a known flow: follow the state, translate, send. */
#include "l4/l4_internal.h"

#include "wire/csum.h"

/* Headers are not aligned: fields are reached by offset. */
static inline uint16_t *field16(void *header, unsigned offset)
{
	return (uint16_t *)(void *)((uint8_t *)header + offset);
}

static void translate_ports(struct rte_mbuf *m, const struct flow *flow, enum flow_side side,
	uint16_t src_port, uint16_t dst_port)
{
	uint8_t *l4 = pkt_l4(m);

	switch (flow->proto) {
	case PROTO_TCP:
		*field16(l4, 0) = src_port;
		*field16(l4, 2) = dst_port;
		csum_apply(field16(l4, 16), flow->l4_delta[side]);
		break;
	case PROTO_UDP:
		*field16(l4, 0) = src_port;
		*field16(l4, 2) = dst_port;
		csum_apply_udp(field16(l4, 6), flow->l4_delta[side]);
		break;
	case PROTO_ICMP:
	case PROTO_ICMP6:
		*field16(l4, 4) = src_port;
		csum_apply(field16(l4, 2), flow->l4_delta[side]);
		break;
	}
}

void l4_translate(
	struct rte_mbuf *m, const struct flow *flow, enum flow_side side, const void *other)
{
	uint16_t src_port, dst_port;

	if (flow->flags & FLOW_IPV6) {
		const struct flow_key6 *k = other;
		struct ip6_hdr *ip = pkt_l3(m);
		memcpy(ip->src, k->dst, 16);
		memcpy(ip->dst, k->src, 16);
		ip->hop_limit--;
		src_port = k->dst_port;
		dst_port = k->src_port;
	} else {
		const struct flow_key4 *k = other;
		struct ip4_hdr *ip = pkt_l3(m);
		ip->src = k->dst;
		ip->dst = k->src;
		ip->ttl--;
		csum_apply(field16(ip, offsetof(struct ip4_hdr, csum)), flow->l3_delta[side]);
		src_port = k->dst_port;
		dst_port = k->src_port;
	}
	if (!(pkt_of(m)->wire.flags & WIRE_FRAGMENT_LATER))
		translate_ports(m, flow, side, src_port, dst_port);
}

uint32_t l4_nexthop(struct worker *w, struct flow *flow, enum flow_side side)
{
	uint32_t nexthop = flow->nexthop[side];
	struct flow_tuple reply;

	if (likely(nexthop != NEXTHOP_NONE && net_nexthop_current(w, nexthop)))
		return nexthop;
	if (nexthop != NEXTHOP_NONE)
		net_nexthop_put(w, nexthop);
	flow_tuple(w->flow, flow, !side, &reply);
	flow->nexthop[side] = net_route_get(w, &reply.src);
	return flow->nexthop[side];
}

static inline void count(
	struct worker *w, struct flow *flow, uint32_t index, enum flow_side side, uint32_t bytes)
{
	flow->last = w->now;
	flow->packets[side]++;
	flow->bytes[side] += bytes;
	if (unlikely(flow->packets[side] >= FLOW_FOLD_PACKETS ||
		     flow->bytes[side] >= FLOW_FOLD_BYTES))
		l4_fold(w, index);
}

/* Sends m on its flow; false if it could not be (m is gone either way). */
static void send(struct worker *w, struct rte_mbuf *m, uint32_t index, enum flow_side side)
{
	struct flow *flow = &w->flow->flows[index];
	uint32_t nexthop = l4_nexthop(w, flow, side);
	uint16_t length = pkt_l3_length(m);

	if (unlikely(nexthop == NEXTHOP_NONE)) {
		w->drop[DROP_NO_ROUTE]++;
		net_icmp_error(w, m, NET_HOST_UNREACHABLE, 0);
		return;
	}
	if (unlikely(l4_ttl(m) <= 1)) {
		w->drop[DROP_TTL]++;
		net_icmp_error(w, m, NET_TTL_EXCEEDED, 0);
		return;
	}
	uint16_t mtu = net_nexthop(w, nexthop)->mtu;
	if (unlikely(length > mtu && pkt_of(m)->wire.flags & WIRE_DONT_FRAGMENT)) {
		w->drop[DROP_TOO_BIG]++;
		net_icmp_error(w, m, NET_TOO_BIG, mtu);
		return;
	}
	l4_translate(m, flow, side, flow_key(w->flow, flow, !side));
	count(w, flow, index, side, length);
	net_output(w, m, nexthop);
}

/* The new connection of a client that uses its port again takes the old one's place. */
static void reopen(struct worker *w, struct rte_mbuf *m, uint32_t index)
{
	l4_end(w, index);
	index = l4_open(w, m);
	if (index != FLOW_NONE)
		l4_forward(w, m, index, FLOW_CLIENT);
}

/* A packet of a flow whose SYN is kept. True: the connection went to another member, and m with it. */
static bool kept_ends(struct worker *w, struct rte_mbuf *m, uint32_t index, enum flow_side side)
{
	struct flow *flow = &w->flow->flows[index];
	uint8_t flags = pkt_of(m)->wire.tcp_flags;

	if (side == FLOW_SERVER && flags & TCP_SYN) {
		l4_retry_forget(w, flow);
		return false;
	}
	if (side == FLOW_SERVER || !(flags & TCP_SYN) || l4_tcp_anew(flow, pkt_l4(m)) ||
		!l4_retry_silent(w, index) || !l4_retry(w, index, CONNECT_SILENT))
		return false;
	rte_pktmbuf_free(m);
	return true;
}

void l4_forward(struct worker *w, struct rte_mbuf *m, uint32_t index, enum flow_side side)
{
	struct flow *flow = &w->flow->flows[index];
	const struct wire_info *i = &pkt_of(m)->wire;
	enum l4_tcp verdict = L4_TCP_PASS;

	if (unlikely(flow->marks & FLOW_SILENT)) {
		worker_drop(w, m, DROP_MEMBER_DOWN);
		return;
	}
	if (unlikely(flow->kept != 0) && kept_ends(w, m, index, side))
		return;
	if (flow->proto == PROTO_TCP && !(i->flags & WIRE_FRAGMENT_LATER))
		verdict = l4_tcp_track(flow, side, pkt_l4(m), i->l3_end - i->payload);
	if (likely(verdict == L4_TCP_PASS)) {
		send(w, m, index, side);
		return;
	}
	if (verdict == L4_TCP_REOPEN) {
		reopen(w, m, index);
		return;
	}
	if (flow->state == FLOW_SYN_SENT && side == FLOW_SERVER) {
		if (l4_retry(w, index, CONNECT_REFUSED)) {
			rte_pktmbuf_free(m);
			return;
		}
		l4_failed(w, flow, CONNECT_REFUSED);
	}
	send(w, m, index, side);
	if (verdict == L4_TCP_END)
		l4_end(w, index);
	else
		l4_uncount(w, index);
}
