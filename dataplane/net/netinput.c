/* SPDX-License-Identifier: BSD-3-Clause */
/* From a frame to an IP packet for dispatch. A burst goes through in passes: parse all, then sort all. */
#include "net/netprivate.h"
#include "wire/csum.h"

static const enum drop_reason verdict_reason[WIRE_VERDICTS] = {
	[WIRE_TRUNCATED] = DROP_TRUNCATED,
	[WIRE_BAD_VERSION] = DROP_BAD_VERSION,
	[WIRE_BAD_HEADER_LENGTH] = DROP_BAD_HEADER_LENGTH,
	[WIRE_BAD_TOTAL_LENGTH] = DROP_BAD_TOTAL_LENGTH,
	[WIRE_BAD_HEADER_CHECKSUM] = DROP_BAD_HEADER_CHECKSUM,
	[WIRE_TOO_MANY_EXTENSIONS] = DROP_TOO_MANY_EXTENSIONS,
	[WIRE_BAD_L4_HEADER] = DROP_BAD_L4_HEADER,
	[WIRE_UNKNOWN_ETHERTYPE] = DROP_UNKNOWN_ETHERTYPE,
};

/* The device says that the sender left the L4 checksum to it (virtio, on a host's own traffic): what stands
 * there is unfinished, and a delta applied to it would never come right. */
static void checksum_finish(struct rte_mbuf *m)
{
	const struct wire_info *i = &pkt_of(m)->wire;
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	/* Of a UDP checksum of 0 some drivers say the same; it means "none". */
	bool none = i->proto == PROTO_UDP && frame[i->l4 + 6] == 0 && frame[i->l4 + 7] == 0;
	if (i->ip_version != 0 && !(i->flags & WIRE_FRAGMENT) && !none)
		csum_l4_write(frame, i);
	m->ol_flags &= ~RTE_MBUF_F_RX_L4_CKSUM_MASK;
}

/* Fills pkt->wire of a fresh frame. NULL: dropped. */
static struct rte_mbuf *parse(struct worker *w, struct rte_mbuf *m)
{
	struct rte_mbuf *joined = mbuf_join(m, w->pool);

	if (unlikely(!joined)) {
		worker_drop(w, m, DROP_NO_MEMORY);
		return NULL;
	}
	m = joined;
	struct wire_info *i = &pkt_of(m)->wire;
	enum wire_verdict v = wire_parse(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, i);
	if (likely(v == WIRE_OK)) {
		if (unlikely((m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) ==
			     RTE_MBUF_F_RX_L4_CKSUM_NONE))
			checksum_finish(m);
		return m;
	}
	/* a first fragment that hides its ports (RFC 1858, 7112) */
	bool hides = v == WIRE_TRUNCATED && i->flags & WIRE_FRAGMENT;
	worker_drop(w, m, hides ? DROP_FRAGMENT_BAD : verdict_reason[v]);
	return NULL;
}

static bool is_neighbour_discovery(const struct wire_info *i)
{
	return i->ip_version == 6 && i->proto == PROTO_ICMP6 &&
	       (i->icmp_type == ICMP6_SOLICIT || i->icmp_type == ICMP6_ADVERT);
}

/* Is the frame meant for us? Groups only where neighbours are sought. */
static bool mac_accepted(const struct rte_mbuf *m, const struct pkt *p)
{
	const struct eth_hdr *eth = rte_pktmbuf_mtod(m, const struct eth_hdr *);

	if (likely(memcmp(eth->dst, port_at(p->port)->mac, 6) == 0))
		return true;
	return eth->dst[0] & 1 &&
	       (p->wire.ethertype == ETH_TYPE_ARP || is_neighbour_discovery(&p->wire));
}

/* No station sends from a group's MAC; answers to it would go to everybody. */
static bool from_group(const struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod(m, const struct eth_hdr *)->src[0] & 1;
}

/* 0/8, 127/8, groups, reserved and broadcast: no address of a host (RFC 1812, 5.3.7). */
static bool martian4(uint32_t be)
{
	uint8_t first = (uint8_t)(rte_be_to_cpu_32(be) >> 24);

	return first == 0 || first == 127 || first >= 224;
}

/* ::, ::1, IPv4-mapped ones (on the wire they can only confuse), groups (RFC 4291). */
static bool martian6(const struct ip_addr *a)
{
	if (a->b[0] == 0xff || ip_is_v4(a))
		return true;
	return a->d[0] == 0 && a->w[2] == 0 && (a->w[3] == 0 || a->w[3] == RTE_BE32(1));
}

static bool is_martian(const struct worker *w, const struct wire_info *i, const struct ip_addr *src,
	const struct ip_addr *dst)
{
	if (i->ip_version == 4 ? martian4(src->w[3]) || martian4(dst->w[3])
			       : martian6(src) || martian6(dst))
		return true;
	const struct own_addr *own = own_find(w->view->net, src);
	return ip_equal(src, dst) || (own && !own->shared);
}

/* ICMP that ends here: what hosts must not be told, what is damaged. */
static bool icmp_refused(const struct rte_mbuf *m, const struct wire_info *i)
{
	bool v6 = i->ip_version == 6 && i->proto == PROTO_ICMP6;

	if (i->ip_version == 4 && i->proto == PROTO_ICMP && i->icmp_type == ICMP_REDIRECT)
		return true;
	if (v6 && (i->icmp_type == ICMP6_REDIRECT || i->icmp_type == ICMP6_ROUTER_SOLICIT ||
			  i->icmp_type == ICMP6_ROUTER_ADVERT))
		return true;
	return i->flags & WIRE_ICMP_ERROR && !(i->flags & WIRE_FRAGMENT) &&
	       !csum_l4_right(rte_pktmbuf_mtod(m, const uint8_t *), i);
}

/* Sorts one IP packet. Returns how many packets it put into out, which has room for `room`. */
static unsigned sort_ip(struct worker *w, struct rte_mbuf *m, struct rte_mbuf **out, unsigned room)
{
	const uint8_t *base = rte_pktmbuf_mtod(m, const uint8_t *);
	const struct wire_info *i = &pkt_of(m)->wire;
	struct ip_addr src = wire_src(base, i), dst = wire_dst(base, i);

	if (unlikely(is_neighbour_discovery(i))) {
		ndp_process(w, m, false);
		return 0;
	}
	if (unlikely(is_martian(w, i, &src, &dst))) {
		worker_drop(w, m, DROP_MARTIAN);
		return 0;
	}
	const struct own_addr *own = own_find(w->view->net, &dst);
	if (unlikely(own && i->flags & WIRE_SOURCE_ROUTE)) {
		worker_drop(w, m, DROP_MARTIAN);
		return 0;
	}
	if (unlikely(i->proto == PROTO_ICMP || i->proto == PROTO_ICMP6)) {
		if (icmp_refused(m, i)) {
			worker_drop(w, m, DROP_BAD_ICMP);
			return 0;
		}
		if (own && echo_process(w, m, own))
			return 0;
	}
	if (unlikely(i->flags & WIRE_FRAGMENT))
		return fragment_input(w, m, out, room);
	out[0] = m;
	return 1;
}

/* Sorts one parsed frame. */
static unsigned sort(struct worker *w, struct rte_mbuf *m, struct rte_mbuf **out, unsigned room)
{
	struct pkt *p = pkt_of(m);

	p->vlan = net_vlan_of(w->view, p->port, p->wire.tag);
	if (unlikely(p->vlan == NET_NO_VLAN)) {
		worker_drop(w, m, DROP_UNKNOWN_VLAN);
		return 0;
	}
	switch (p->stage) {
	case PKT_FRAGMENT:
		return fragment_input(w, m, out, room);
	case PKT_NEIGHBOUR:
		if (p->wire.ethertype == ETH_TYPE_ARP)
			arp_process(w, m, true);
		else
			ndp_process(w, m, true);
		return 0;
	default:
		break;
	}
	if (unlikely(!mac_accepted(m, p))) {
		worker_drop(w, m, DROP_NOT_FOR_US);
		return 0;
	}
	if (unlikely(from_group(m))) {
		worker_drop(w, m, DROP_MARTIAN);
		return 0;
	}
	if (unlikely(p->wire.ethertype == ETH_TYPE_ARP)) {
		arp_process(w, m, false);
		return 0;
	}
	return sort_ip(w, m, out, room);
}

unsigned net_input(struct worker *w, struct rte_mbuf **in, unsigned n, struct rte_mbuf **out)
{
	unsigned parsed = 0, count = 0;

	if (unlikely(!w->view)) {
		for (unsigned i = 0; i < n; i++)
			worker_drop(w, in[i], DROP_NO_SNAPSHOT);
		return 0;
	}
	net_sync(w);
	for (unsigned i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(in[i], const void *));
	for (unsigned i = 0; i < n; i++) {
		enum pkt_stage stage = pkt_of(in[i])->stage;
		bool by_ring = stage == PKT_FRAGMENT || stage == PKT_NEIGHBOUR;
		struct rte_mbuf *m = by_ring ? in[i] : parse(w, in[i]);
		if (m)
			in[parsed++] = m;
	}
	for (unsigned i = 0; i < parsed; i++) {
		/* every packet still to come keeps its place */
		unsigned room = 2 * PKT_BURST - count - (parsed - i - 1);
		count += sort(w, in[i], out + count, room);
	}
	for (unsigned i = 0; i < count; i++)
		pkt_of(out[i])->stage = PKT_DISPATCH;
	return count;
}
