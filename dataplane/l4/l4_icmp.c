/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ICMP errors about packets of our flows: found by the packet they quote, reversed, and translated back
 * inside and outside (RFC 5508, 4; RFC 4443, 2.4).
 */
#include "l4/l4_internal.h"

#include "core/handover.h"
#include "wire/csum.h"

/* Longest part of the quoted packet that we change: IPv6 with extension headers, TCP up to its checksum. */
#define QUOTE_MAX 512u

bool l4_icmp_quoted(struct rte_mbuf *m, struct wire_info *inner, struct flow_tuple *reversed)
{
	const struct wire_info *i = &pkt_of(m)->wire;
	const uint8_t *quoted = rte_pktmbuf_mtod_offset(m, const uint8_t *, i->payload);

	if (i->l3_end > rte_pktmbuf_data_len(m) || i->payload >= i->l3_end ||
		wire_parse_quoted(quoted, i->l3_end - i->payload, inner) != WIRE_OK ||
		inner->ip_version != i->ip_version || inner->flags & WIRE_FRAGMENT_LATER ||
		inner->l4 + 8u > QUOTE_MAX)
		return false;
	reversed->src_port = rte_be_to_cpu_16(inner->dst_port);
	reversed->dst_port = rte_be_to_cpu_16(inner->src_port);
	if (inner->ip_version == 4) {
		const struct ip4_hdr *ip = (const void *)(quoted + inner->l3);
		reversed->src = ip_addr_v4(ip->dst);
		reversed->dst = ip_addr_v4(ip->src);
	} else {
		const struct ip6_hdr *ip = (const void *)(quoted + inner->l3);
		memcpy(&reversed->src, ip->dst, 16);
		memcpy(&reversed->dst, ip->src, 16);
	}
	return true;
}

static bool lookup(struct worker *w, const struct wire_info *inner, const struct flow_tuple *t,
	uint32_t *index, uint8_t *side)
{
	uint64_t hit = 0;

	if (inner->ip_version == 4) {
		struct flow_key4 k = {t->src.w[3], t->dst.w[3], rte_cpu_to_be_16(t->src_port),
			rte_cpu_to_be_16(t->dst_port), 0, inner->proto, 0};
		flow_lookup4(w->flow, &k, 1, &hit, index, side);
	} else {
		struct flow_key6 k = {.src_port = rte_cpu_to_be_16(t->src_port),
			.dst_port = rte_cpu_to_be_16(t->dst_port),
			.proto = inner->proto};
		memcpy(k.src, &t->src, 16);
		memcpy(k.dst, &t->dst, 16);
		flow_lookup6(w->flow, &k, 1, &hit, index, side);
	}
	return hit != 0;
}

static void write16(uint8_t *at, uint16_t value)
{
	memcpy(at, &value, 2);
}

/* Changes a checksum field, if the quote reaches that far, by the deltas of what it covers. */
static void adjust(uint8_t *quoted, unsigned at, unsigned end, uint16_t delta, bool udp)
{
	uint16_t sum;

	if (at + 2 > end)
		return;
	memcpy(&sum, quoted + at, 2);
	if (udp)
		csum_apply_udp(&sum, delta);
	else
		csum_apply(&sum, delta);
	memcpy(quoted + at, &sum, 2);
}

/* Writes the tuple that the receiver of the error once sent (or got) into the quote. */
static void quote_translate(uint8_t *quoted, unsigned end, const struct wire_info *inner,
	const struct flow_tuple *from, const struct flow_tuple *to)
{
	uint16_t addr = csum_delta_add(
		csum_delta_addr(&from->src, &to->src), csum_delta_addr(&from->dst, &to->dst));
	uint16_t src = rte_cpu_to_be_16(to->src_port), dst = rte_cpu_to_be_16(to->dst_port);
	uint16_t src_delta = csum_delta_16(rte_cpu_to_be_16(from->src_port), src);
	uint16_t port =
		csum_delta_add(src_delta, csum_delta_16(rte_cpu_to_be_16(from->dst_port), dst));

	if (inner->ip_version == 4) {
		struct ip4_hdr *ip = (void *)(quoted + inner->l3);
		ip->src = to->src.w[3];
		ip->dst = to->dst.w[3];
		adjust(quoted, inner->l3 + offsetof(struct ip4_hdr, csum), end, addr, false);
	} else {
		struct ip6_hdr *ip = (void *)(quoted + inner->l3);
		memcpy(ip->src, &to->src, 16);
		memcpy(ip->dst, &to->dst, 16);
	}
	switch (inner->proto) {
	case PROTO_TCP:
	case PROTO_UDP:
		write16(quoted + inner->l4, src);
		write16(quoted + inner->l4 + 2, dst);
		adjust(quoted, inner->l4 + (inner->proto == PROTO_TCP ? 16 : 6), end,
			csum_delta_add(addr, port), inner->proto == PROTO_UDP);
		break;
	case PROTO_ICMP:
	case PROTO_ICMP6:
		write16(quoted + inner->l4 + 4, src);
		adjust(quoted, inner->l4 + 2, end,
			inner->proto == PROTO_ICMP ? src_delta : csum_delta_add(addr, src_delta),
			false);
		break;
	}
}

/* The error's own addresses: it goes to the flow's other end, and comes from the address that end talks
 * to if it came from the peer itself; a router on the way keeps its own. */
static uint16_t outer_translate(
	struct rte_mbuf *m, const struct flow_tuple *arrived, const struct flow_tuple *leaving)
{
	struct flow_tuple t = l4_tuple(m);
	struct ip_addr src = ip_equal(&t.src, &arrived->src) ? leaving->src : t.src;
	uint16_t delta = csum_delta_add(
		csum_delta_addr(&t.src, &src), csum_delta_addr(&t.dst, &leaving->dst));

	if (pkt_of(m)->wire.ip_version == 4) {
		struct ip4_hdr *ip = pkt_l3(m);
		ip->src = src.w[3];
		ip->dst = leaving->dst.w[3];
		ip->ttl--;
		uint16_t ttl = csum_delta_16(rte_cpu_to_be_16(0x0100), 0);
		adjust((uint8_t *)ip, offsetof(struct ip4_hdr, csum), sizeof(*ip),
			csum_delta_add(delta, ttl), false);
		return 0; /* no pseudo header */
	}
	struct ip6_hdr *ip = pkt_l3(m);
	memcpy(ip->src, &src, 16);
	memcpy(ip->dst, &leaving->dst, 16);
	ip->hop_limit--;
	return delta;
}

static void translate(struct worker *w, struct rte_mbuf *m, const struct wire_info *inner,
	uint32_t index, enum flow_side side)
{
	const struct wire_info *i = &pkt_of(m)->wire;
	struct flow *flow = &w->flow->flows[index];
	uint8_t *quoted = rte_pktmbuf_mtod_offset(m, uint8_t *, i->payload);
	unsigned length = i->l3_end - i->payload, covered = RTE_MIN(length, QUOTE_MAX);
	struct flow_tuple arrived, other;

	if (l4_ttl(m) <= 1) {
		worker_drop(w, m, DROP_TTL);
		return;
	}
	/* Packets from `side` have the tuple `arrived`; what leaves for them is `other`, reversed. The quote
	 * runs the opposite way of both. */
	flow_tuple(w->flow, flow, side, &arrived);
	flow_tuple(w->flow, flow, !side, &other);
	struct flow_tuple leaving = {other.dst, other.src, other.dst_port, other.src_port};
	struct flow_tuple quote_from = {
		arrived.dst, arrived.src, arrived.dst_port, arrived.src_port};

	covered &= ~1u;
	uint16_t before = csum_fold(csum_add(0, quoted, covered));
	quote_translate(quoted, covered, inner, &quote_from, &other);
	uint16_t after = csum_fold(csum_add(0, quoted, covered));
	uint16_t delta = csum_delta_add(
		outer_translate(m, &arrived, &leaving), csum_delta_16(before, after));
	adjust(pkt_l4(m), offsetof(struct icmp_hdr, csum), sizeof(struct icmp_hdr), delta, false);

	uint32_t nexthop = l4_nexthop(w, flow, side);
	if (nexthop == NEXTHOP_NONE) {
		worker_drop(w, m, DROP_NO_ROUTE);
		return;
	}
	w->stat[WORKER_ICMP_TRANSLATED]++;
	net_output(w, m, nexthop);
}

/* The server's host or a router says that the SYN cannot be delivered; whoever quotes its number has seen it. */
static bool refuses(const struct worker *w, struct rte_mbuf *m, const struct wire_info *inner,
	uint32_t index, enum flow_side side)
{
	const struct wire_info *i = &pkt_of(m)->wire;
	const struct flow *flow = &w->flow->flows[index];
	const struct tcp_hdr *tcp =
		rte_pktmbuf_mtod_offset(m, const void *, i->payload + inner->l4);

	if (side != FLOW_SERVER || flow->state != FLOW_SYN_SENT ||
		i->payload + inner->l4 + 8u > i->l3_end ||
		rte_be_to_cpu_32(tcp->seq) + 1 != flow->seq[FLOW_CLIENT])
		return false;
	if (i->ip_version == 6)
		return i->icmp_type == ICMP6_UNREACHABLE;
	return i->icmp_type == ICMP_UNREACHABLE && i->icmp_code != ICMP_TOO_BIG;
}

void l4_icmp_error(struct worker *w, struct rte_mbuf *m)
{
	struct flow_tuple t;
	struct wire_info inner;
	uint32_t index, row;
	uint8_t side;

	if (!l4_icmp_quoted(m, &inner, &t)) {
		worker_drop(w, m, DROP_BAD_ICMP);
		return;
	}
	if (lookup(w, &inner, &t, &index, &side)) {
		if (refuses(w, m, &inner, index, side)) {
			if (l4_retry(w, index, CONNECT_UNREACHABLE)) {
				rte_pktmbuf_free(m);
				return;
			}
			l4_failed(w, &w->flow->flows[index], CONNECT_UNREACHABLE);
		}
		translate(w, m, &inner, index, side);
		return;
	}
	if (pkt_of(m)->owner_hash != w->index) {
		handover_send(w, pkt_of(m)->owner_hash, m, PKT_MISSED);
		return;
	}
	struct flow_tuple outer = l4_tuple(m);
	if (net_owner_of(w->view, &outer.dst, &row) == NET_SELF)
		net_to_kernel(w, m, row);
	else
		worker_drop(w, m, DROP_ICMP_NO_FLOW);
}
