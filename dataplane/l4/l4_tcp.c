/* SPDX-License-Identifier: BSD-3-Clause */
#include "l4/l4_internal.h"

/* How far from the numbers last seen a reset may lie: beyond it is somebody guessing. */
#define RESET_WINDOW (1 << 20)

static bool reset_credible(const struct flow *flow, enum flow_side side, uint32_t seq)
{
	int32_t distance = (int32_t)(seq - flow->seq[side]);

	if (flow->state == FLOW_SYN_SENT)
		return true;
	return distance > -RESET_WINDOW && distance < RESET_WINDOW;
}

static void track_sequence(struct flow *flow, enum flow_side side, uint32_t end, bool synchronise)
{
	if (synchronise || (int32_t)(end - flow->seq[side]) > 0)
		flow->seq[side] = end;
}

static enum l4_tcp track_fin(struct flow *flow, enum flow_side side)
{
	flow->flags |= side == FLOW_CLIENT ? FLOW_FIN_CLIENT : FLOW_FIN_SERVER;
	bool both = (flow->flags & FLOW_FIN_CLIENT) && (flow->flags & FLOW_FIN_SERVER);
	if (flow->state != FLOW_CLOSED)
		flow->state = both ? FLOW_CLOSING : FLOW_FIN_WAIT;
	return L4_TCP_PASS;
}

enum l4_tcp l4_tcp_track(struct flow *flow, enum flow_side side, const struct tcp_hdr *tcp,
	uint32_t data)
{
	uint8_t flags = tcp->flags;
	bool syn = flags & TCP_SYN, fin = flags & TCP_FIN, ack = flags & TCP_ACK;
	uint32_t seq = rte_be_to_cpu_32(tcp->seq);

	if (flags & TCP_RST)
		return reset_credible(flow, side, seq) ? L4_TCP_END : L4_TCP_PASS;
	if (syn && !ack && side == FLOW_CLIENT && flow->state >= FLOW_CLOSING)
		return L4_TCP_REOPEN;
	track_sequence(flow, side, seq + data + syn + fin, syn && flow->state == FLOW_SYN_SENT);
	if (fin)
		return track_fin(flow, side);
	switch (flow->state) {
	case FLOW_SYN_SENT:
		if (side == FLOW_SERVER && syn && ack)
			flow->state = FLOW_SYN_RECEIVED;
		return L4_TCP_PASS;
	case FLOW_SYN_RECEIVED:
		if (side == FLOW_CLIENT && ack && !syn)
			flow->state = FLOW_ESTABLISHED;
		return L4_TCP_PASS;
	case FLOW_CLOSING:
		flow->state = FLOW_CLOSED;
		return L4_TCP_CLOSED;
	default:
		return L4_TCP_PASS;
	}
}
