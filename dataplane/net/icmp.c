/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMP and ICMPv6 of our own: echo replies and errors (RFC 792, 1191, 1812, 4443). */
#include "net/netprivate.h"
#include "port/tap.h"

bool echo_process(struct worker *w, struct rte_mbuf *m, const struct own_addr *dst)
{
	const struct wire_info *i = &pkt_of(m)->wire;
	bool request =
		(i->ip_version == 4 && i->proto == PROTO_ICMP && i->icmp_type == ICMP_ECHO) ||
		(i->ip_version == 6 && i->proto == PROTO_ICMP6 && i->icmp_type == ICMP6_ECHO);

	if (!request || i->flags & WIRE_FRAGMENT || !own_gives(w, dst, dst->echo))
		return false;
	emit_echo_reply(rte_pktmbuf_mtod(m, uint8_t *), i);
	w->stat[WORKER_ICMP_SENT]++;
	output_back(w, m, m);
	return true;
}

/* One token from the bucket that fills by ICMP_RATE a second. */
static bool icmp_allowed(struct worker *w)
{
	struct net_private *p = net_private(w);
	uint32_t elapsed = RTE_MIN(w->now - p->icmp_tick, TICKS_PER_SECOND);

	p->icmp_tick = w->now;
	p->icmp_tokens =
		RTE_MIN(p->icmp_tokens + elapsed * ICMP_RATE, ICMP_RATE * TICKS_PER_SECOND);
	if (p->icmp_tokens < TICKS_PER_SECOND)
		return false;
	p->icmp_tokens -= TICKS_PER_SECOND;
	return true;
}

static const struct {
	uint8_t type, code, type6, code6;
} errors[] = {
	[NET_TTL_EXCEEDED] = {ICMP_TIME_EXCEEDED, 0, ICMP6_TIME_EXCEEDED, 0},
	[NET_TOO_BIG] = {ICMP_UNREACHABLE, ICMP_TOO_BIG, ICMP6_TOO_BIG, 0},
	[NET_PORT_UNREACHABLE] = {ICMP_UNREACHABLE, ICMP_PORT_UNREACHABLE, ICMP6_UNREACHABLE,
		ICMP6_PORT_UNREACHABLE},
	[NET_HOST_UNREACHABLE] = {ICMP_UNREACHABLE, ICMP_HOST_UNREACHABLE, ICMP6_UNREACHABLE,
		ICMP6_ADDR_UNREACHABLE},
	[NET_ADMIN_PROHIBITED] = {ICMP_UNREACHABLE, ICMP_PROHIBITED, ICMP6_UNREACHABLE,
		ICMP6_PROHIBITED},
};

/* Who speaks: the address that was meant, if it is ours; a router on the way speaks for itself. */
static bool error_source(
	struct worker *w, const struct rte_mbuf *m, enum net_error error, struct ip_addr *src)
{
	const struct pkt *p = pkt_of((struct rte_mbuf *)(uintptr_t)m);
	const uint8_t *base = rte_pktmbuf_mtod(m, const uint8_t *);
	struct ip_addr dst = wire_dst(base, &p->wire), from = wire_src(base, &p->wire);
	uint16_t vlan = p->stage == PKT_TAP ? p->vlan : net_vlan_of(w->view, p->port, p->wire.tag);
	bool ours = own_find(w->view->net, &dst) != NULL;

	if (ours && error != NET_TTL_EXCEEDED)
		*src = dst;
	else if (!net_self_of_vlan(w->view, vlan, &from, src)) {
		if (!ours)
			return false;
		*src = dst;
	}
	return true;
}

/* RFC 1122, 3.2.2; RFC 4443, 2.4 (e). */
static bool error_forbidden(const struct rte_mbuf *m)
{
	const struct pkt *p = pkt_of((struct rte_mbuf *)(uintptr_t)m);
	const struct eth_hdr *eth = rte_pktmbuf_mtod(m, const struct eth_hdr *);

	if (p->wire.flags & (WIRE_ICMP_ERROR | WIRE_FRAGMENT_LATER))
		return true;
	return p->stage != PKT_TAP && eth->dst[0] & 1;
}

void net_icmp_error(struct worker *w, struct rte_mbuf *m, enum net_error error, uint16_t mtu)
{
	const struct pkt *p = pkt_of(m);
	struct ip_addr src;
	uint8_t *l3;

	if (error_forbidden(m) || !error_source(w, m, error, &src)) {
		rte_pktmbuf_free(m);
		return;
	}
	if (!icmp_allowed(w)) {
		worker_drop(w, m, DROP_RATE_LIMITED_ICMP);
		return;
	}
	struct rte_mbuf *out = packet_new(w, &l3);
	if (!out) {
		rte_pktmbuf_free(m);
		return;
	}
	bool v4 = p->wire.ip_version == 4;
	unsigned length = emit_icmp_error(l3, &src, v4 ? errors[error].type : errors[error].type6,
		v4 ? errors[error].code : errors[error].code6, error == NET_TOO_BIG ? mtu : 0,
		rte_pktmbuf_mtod(m, const uint8_t *), &p->wire);
	packet_finish(out, length);
	w->stat[WORKER_ICMP_SENT]++;
	if (p->stage == PKT_TAP)
		tap_send(w, out, p->vlan);
	else
		output_back(w, out, m);
	rte_pktmbuf_free(m);
}
