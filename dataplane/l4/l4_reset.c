/* SPDX-License-Identifier: BSD-3-Clause */
/* Telling the ends that there is nothing (more) here. */
#include "l4/l4_internal.h"

#include "wire/emit.h"

/* A packet of ours: `length` bytes of IP were written at its start. */
static void ready(struct rte_mbuf *m, unsigned length, bool ipv6)
{
	struct pkt *p = pkt_of(m);

	memset(p, 0, sizeof(*p));
	p->wire.ip_version = ipv6 ? 6 : 4;
	p->wire.proto = PROTO_TCP;
	p->wire.flags = WIRE_DONT_FRAGMENT;
	p->wire.tag = WIRE_NO_TAG;
	p->wire.ethertype = ipv6 ? ETH_TYPE_IP6 : ETH_TYPE_IP4;
	p->wire.l4 = ipv6 ? sizeof(struct ip6_hdr) : sizeof(struct ip4_hdr);
	p->wire.payload = p->wire.l3_end = (uint16_t)length;
	rte_pktmbuf_append(m, (uint16_t)length);
}

static struct rte_mbuf *packet_new(struct worker *w)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(w->pool);

	if (m == NULL)
		w->drop[DROP_NO_MEMORY]++;
	return m;
}

static void reset_reply(struct worker *w, struct rte_mbuf *m)
{
	struct rte_mbuf *out = packet_new(w);
	uint32_t nexthop = net_lasthop_get(w, m);

	if (out == NULL || nexthop == NEXTHOP_NONE) {
		rte_pktmbuf_free(out);
	} else {
		unsigned length = emit_tcp_reset_reply(rte_pktmbuf_mtod(out, uint8_t *),
			rte_pktmbuf_mtod(m, const uint8_t *), &pkt_of(m)->wire);
		ready(out, length, pkt_of(m)->wire.ip_version == 6);
		net_output(w, out, nexthop);
		w->stat[WORKER_RESETS_SENT]++;
	}
	if (nexthop != NEXTHOP_NONE)
		net_nexthop_put(w, nexthop);
}

/* Is the packet addressed to something of ours, so that silence would be a lie? */
static bool is_ours(struct worker *w, struct rte_mbuf *m)
{
	struct flow_tuple t = l4_tuple(m);

	return net_owner_of(w->view, &t.dst, NULL) != NET_NOT_OURS;
}

void l4_refuse(struct worker *w, struct rte_mbuf *m, enum drop_reason reason)
{
	const struct wire_info *i = &pkt_of(m)->wire;

	w->drop[reason]++;
	if (i->flags & WIRE_FRAGMENT) {
		rte_pktmbuf_free(m);
		return;
	}
	bool begins = (i->tcp_flags & (TCP_SYN | TCP_ACK)) == TCP_SYN;
	if (i->proto == PROTO_TCP && !(i->tcp_flags & TCP_RST) &&
		view_settings(w->view)->reset_unmatched &&
		(!begins || reason != DROP_NO_LISTENER || is_ours(w, m))) {
		reset_reply(w, m);
		rte_pktmbuf_free(m);
	} else if (i->proto == PROTO_UDP && is_ours(w, m)) {
		net_icmp_error(w, m, NET_PORT_UNREACHABLE, 0);
	} else {
		rte_pktmbuf_free(m);
	}
}

/* Towards the receiver of packets from `side`, as if the other end had sent it. */
static void reset_towards(struct worker *w, struct flow *flow, enum flow_side side)
{
	struct flow_tuple reply;
	uint32_t nexthop = l4_nexthop(w, flow, side);
	struct rte_mbuf *out = nexthop == NEXTHOP_NONE ? NULL : packet_new(w);

	if (out == NULL)
		return;
	/* What goes out for `side` is the other side's key, reversed. */
	flow_tuple(w->flow, flow, !side, &reply);
	unsigned length = emit_tcp_reset(rte_pktmbuf_mtod(out, uint8_t *), &reply.dst, &reply.src,
		rte_cpu_to_be_16(reply.dst_port), rte_cpu_to_be_16(reply.src_port), flow->seq[side],
		flow->seq[!side], TCP_RST | TCP_ACK);
	ready(out, length, flow->flags & FLOW_IPV6);
	net_output(w, out, nexthop);
	w->stat[WORKER_RESETS_SENT]++;
}

void l4_reset_flow(struct worker *w, uint32_t index)
{
	struct flow *flow = &w->flow->flows[index];

	reset_towards(w, flow, FLOW_CLIENT);
	if (flow->state != FLOW_SYN_SENT)
		reset_towards(w, flow, FLOW_SERVER);
	if (worker_shared(w, flow->virtual_id)->id == flow->virtual_id)
		worker_object(w, flow->virtual_id)[OBJECT_RESETS]++;
}
