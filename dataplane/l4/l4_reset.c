/* SPDX-License-Identifier: BSD-3-Clause */
/* Telling the ends that there is nothing (more) here. */
#include "l4/l4_internal.h"

#include "core/mbuf.h"
#include "wire/emit.h"

/* Room for a reset, or NULL, counted. */
static struct rte_mbuf *reset_new(struct worker *w)
{
	struct rte_mbuf *m = mbuf_new(w->pool);

	if (m == NULL)
		w->drop[DROP_NO_MEMORY]++;
	else
		mbuf_append(m, EMIT_RESET_LENGTH_MAX);
	return m;
}

/* Sends the reset of `length` bytes that was written into m. */
static void reset_send(
	struct worker *w, struct rte_mbuf *m, unsigned length, bool ipv6, uint32_t nexthop)
{
	struct wire_info *i = &pkt_of(m)->wire;

	mbuf_trim(m, (uint16_t)(EMIT_RESET_LENGTH_MAX - length));
	i->ip_version = ipv6 ? 6 : 4;
	i->proto = PROTO_TCP;
	i->flags = WIRE_DONT_FRAGMENT;
	i->tag = WIRE_NO_TAG;
	i->ethertype = ipv6 ? ETH_TYPE_IP6 : ETH_TYPE_IP4;
	i->l4 = ipv6 ? sizeof(struct ip6_hdr) : sizeof(struct ip4_hdr);
	i->payload = i->l3_end = (uint16_t)length;
	net_output(w, m, nexthop);
	w->stat[WORKER_RESETS_SENT]++;
}

static void reset_reply(struct worker *w, struct rte_mbuf *m)
{
	uint32_t nexthop = net_lasthop_get(w, m);

	if (nexthop == NEXTHOP_NONE)
		return;
	struct rte_mbuf *out = reset_new(w);
	if (out != NULL) {
		unsigned length = emit_tcp_reset_reply(rte_pktmbuf_mtod(out, uint8_t *),
			rte_pktmbuf_mtod(m, const uint8_t *), &pkt_of(m)->wire);
		reset_send(w, out, length, pkt_of(m)->wire.ip_version == 6, nexthop);
	}
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
	struct rte_mbuf *out = nexthop == NEXTHOP_NONE ? NULL : reset_new(w);

	if (out == NULL)
		return;
	/* What goes out for `side` is the other side's key, reversed. */
	flow_tuple(w->flow, flow, !side, &reply);
	unsigned length = emit_tcp_reset(rte_pktmbuf_mtod(out, uint8_t *), &reply.dst, &reply.src,
		rte_cpu_to_be_16(reply.dst_port), rte_cpu_to_be_16(reply.src_port), flow->seq[side],
		flow->seq[!side], TCP_RST | TCP_ACK);
	reset_send(w, out, length, flow->flags & FLOW_IPV6, nexthop);
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
