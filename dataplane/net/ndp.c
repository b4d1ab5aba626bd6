/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbour solicitations and advertisements received (RFC 4861, 7; RFC 4862, 5.4). */
#include "net/netprivate.h"
#include "wire/csum.h"

const struct ip_addr ndp_all_nodes = {.b = {0xff, 2, [15] = 1}};

struct ndp {
	struct ndp_hdr hdr;
	struct ip_addr src, dst, target;
	const uint8_t *mac; /* of the option that belongs to the type, or NULL */
};

/* Finds the link-layer address option. False if an option is malformed. */
static bool ndp_options(const uint8_t *p, const uint8_t *end, uint8_t wanted, const uint8_t **mac)
{
	*mac = NULL;
	while (p < end) {
		if (end - p < 2 || p[1] == 0 || p + p[1] * 8 > end)
			return false;
		if (p[0] == wanted && p[1] == 1 && !*mac)
			*mac = p + 2;
		p += p[1] * 8;
	}
	return true;
}

/* The checks of RFC 4861, 7.1.1 and 7.1.2. */
static bool ndp_parse(struct rte_mbuf *m, struct ndp *out)
{
	const struct wire_info *i = &pkt_of(m)->wire;
	const uint8_t *base = rte_pktmbuf_mtod(m, const uint8_t *);
	const struct ip6_hdr *ip = pkt_l3(m);
	bool advert = i->icmp_type == ICMP6_ADVERT;

	if (i->flags & WIRE_FRAGMENT || ip->hop_limit != 255 || i->icmp_code != 0 ||
		i->l3_end - i->l4 < (int)sizeof(struct ndp_hdr) || !csum_l4_right(base, i))
		return false;
	memcpy(&out->hdr, base + i->l4, sizeof(out->hdr));
	memcpy(out->target.b, out->hdr.target, 16);
	out->src = wire_src(base, i);
	out->dst = wire_dst(base, i);
	if (out->target.b[0] == 0xff ||
		!ndp_options(base + i->l4 + sizeof(out->hdr), base + i->l3_end,
			advert ? NDP_TARGET_MAC : NDP_SOURCE_MAC, &out->mac))
		return false;
	if (out->mac && out->mac[0] & 1)
		return false;
	if (advert)
		return out->dst.b[0] != 0xff || !(out->hdr.icmp.word & RTE_BE32(NDP_SOLICITED));
	if (!ip_is_any(&out->src))
		return true;
	struct ip_addr group = wire_solicited_node(&out->target);
	return ip_equal(&out->dst, &group) && !out->mac;
}

static void ndp_learn(struct worker *w, const struct pkt *p, const struct ndp *n)
{
	bool advert = p->wire.icmp_type == ICMP6_ADVERT;
	uint32_t flags = rte_be_to_cpu_32(n->hdr.icmp.word);
	struct neighbour_news news = {
		.vlan = p->vlan,
		.port = p->port,
		.addr = advert ? n->target : n->src,
		.mac = n->mac,
		.solicited = advert && flags & NDP_SOLICITED,
		.override = !advert || flags & NDP_OVERRIDE,
	};

	if (news.mac || advert)
		neighbour_learn(w, &news);
}

/* Sends the advertisement that answers the solicitation in m; m is done with. */
static void ndp_answer(struct worker *w, struct rte_mbuf *m, const struct ndp *n)
{
	const struct pkt *p = pkt_of(m);
	const struct eth_hdr *eth = rte_pktmbuf_mtod(m, const struct eth_hdr *);
	bool probe = ip_is_any(&n->src);
	struct rte_mbuf *reply = mbuf_new(w->pool);
	uint8_t to[6],
		*frame = reply ? mbuf_append(reply, ETH_HEADER_TAGGED + EMIT_NDP_LENGTH) : NULL;

	if (!frame) {
		rte_pktmbuf_free(reply);
		worker_drop(w, m, DROP_NO_MEMORY);
		return;
	}
	memcpy(to, n->mac ? n->mac : eth->src, 6);
	if (probe)
		wire_group_mac(&ndp_all_nodes, to);
	const uint8_t *mac = port_at(p->port)->mac;
	unsigned length = emit_eth(frame, to, mac, p->wire.tag, ETH_TYPE_IP6);
	length += emit_ndp_advert(frame + length, &n->target, probe ? &ndp_all_nodes : &n->src,
		&n->target, mac, NDP_OVERRIDE | (probe ? 0 : NDP_SOLICITED));
	mbuf_trim(reply, (uint16_t)(ETH_HEADER_TAGGED + EMIT_NDP_LENGTH - length));
	w->stat[WORKER_ARP_SENT]++;
	output_frame(w, reply, p->port);
	rte_pktmbuf_free(m);
}

void ndp_process(struct worker *w, struct rte_mbuf *m, bool copy)
{
	const struct pkt *p = pkt_of(m);
	const struct eth_hdr *eth = rte_pktmbuf_mtod(m, const struct eth_hdr *);
	bool advert = p->wire.icmp_type == ICMP6_ADVERT;
	struct ndp n;

	if (!ndp_parse(m, &n) || mac_is_ours(eth->src)) {
		worker_drop(w, m, DROP_BAD_NDP);
		return;
	}
	ndp_learn(w, p, &n);
	if (copy) {
		rte_pktmbuf_free(m);
		return;
	}
	share_neighbour(w, m);
	const struct own_addr *own = own_find(w->view->net, &n.target);
	if (!own || !own_answers(w, own, p->vlan)) {
		rte_pktmbuf_free(m);
		return;
	}
	if (advert || ip_is_any(&n.src))
		conflict(w, own, eth->src);
	if (advert)
		rte_pktmbuf_free(m);
	else
		ndp_answer(w, m, &n);
}
