/* SPDX-License-Identifier: BSD-3-Clause */
#include "l4/l4_internal.h"

/* How far from the numbers last seen a reset may lie: beyond it is somebody guessing. */
#define RESET_WINDOW (1 << 20)
/* How far behind what the server has sent the client's first acknowledgement may be: a client that cannot
 * see the server's answers does not make the flow an established one. */
#define HANDSHAKE_WINDOW (1u << 16)
/* A SYN that is sent again has the number of the first one; the data that may go with it does not count. */
#define SAME_SYN_WINDOW (1u << 16)

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

/* Is the handshake over, if it was not before? */
static bool track_handshake(struct flow *flow, enum flow_side side, const struct tcp_hdr *tcp)
{
	bool syn = tcp->flags & TCP_SYN, ack = tcp->flags & TCP_ACK;

	if (flow->state == FLOW_SYN_SENT) {
		if (side == FLOW_SERVER && syn && ack)
			flow->state = FLOW_SYN_RECEIVED;
		return false;
	}
	if (flow->state == FLOW_SYN_RECEIVED && side == FLOW_CLIENT) {
		if (syn || !ack ||
			flow->seq[FLOW_SERVER] - rte_be_to_cpu_32(tcp->ack) >= HANDSHAKE_WINDOW)
			return false;
		flow->state = FLOW_ESTABLISHED;
	}
	return true;
}

static void track_fin(struct flow *flow, enum flow_side side, bool fin)
{
	if (fin)
		flow->flags |= side == FLOW_CLIENT ? FLOW_FIN_CLIENT : FLOW_FIN_SERVER;
	unsigned fins = flow->flags & (FLOW_FIN_CLIENT | FLOW_FIN_SERVER);
	if (flow->state < FLOW_ESTABLISHED || flow->state == FLOW_CLOSED || fins == 0)
		return;
	bool closes = fins == (FLOW_FIN_CLIENT | FLOW_FIN_SERVER) || flow->marks & FLOW_LOOSE_CLOSE;
	flow->state = closes ? FLOW_CLOSING : FLOW_FIN_WAIT;
}

bool l4_tcp_anew(const struct flow *flow, const struct tcp_hdr *tcp)
{
	uint32_t distance = rte_be_to_cpu_32(tcp->seq) - flow->seq[FLOW_CLIENT];

	if ((tcp->flags & (TCP_SYN | TCP_ACK)) != TCP_SYN)
		return false;
	if (flow->state <= FLOW_SYN_RECEIVED)
		return distance + SAME_SYN_WINDOW >= 2 * SAME_SYN_WINDOW;
	return flow->state >= FLOW_CLOSING;
}

enum l4_tcp l4_tcp_track(
	struct flow *flow, enum flow_side side, const struct tcp_hdr *tcp, uint32_t data)
{
	uint8_t flags = tcp->flags;
	bool syn = flags & TCP_SYN, fin = flags & TCP_FIN;
	uint32_t seq = rte_be_to_cpu_32(tcp->seq);

	if (flags & TCP_RST)
		return reset_credible(flow, side, seq) ? L4_TCP_END : L4_TCP_PASS;
	if (side == FLOW_CLIENT && l4_tcp_anew(flow, tcp))
		return L4_TCP_REOPEN;
	track_sequence(flow, side, seq + data + syn + fin, syn && flow->state <= FLOW_SYN_RECEIVED);
	if (!track_handshake(flow, side, tcp))
		return L4_TCP_PASS;
	if (flow->state == FLOW_CLOSING && !fin) {
		flow->state = FLOW_CLOSED;
		return L4_TCP_CLOSED;
	}
	track_fin(flow, side, fin);
	return L4_TCP_PASS;
}
