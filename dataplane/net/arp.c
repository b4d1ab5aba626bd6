/* SPDX-License-Identifier: BSD-3-Clause */
/* ARP (RFC 826) received: learn, answer, notice duplicates (RFC 5227). */
#include "net/netprivate.h"

static bool arp_valid(const struct arp_hdr *arp)
{
	uint16_t op = rte_be_to_cpu_16(arp->op);
	uint8_t first = (uint8_t)(rte_be_to_cpu_32(arp->sender) >> 24);

	return arp->hardware == RTE_BE16(1) && arp->protocol == RTE_BE16(ETH_TYPE_IP4) &&
	       arp->hardware_length == 6 && arp->protocol_length == 4 &&
	       (op == ARP_REQUEST || op == ARP_REPLY) && !(arp->sender_mac[0] & 1) && first < 224 &&
	       first != 127;
}

bool mac_is_ours(const uint8_t mac[6])
{
	for (unsigned i = 0; i < port_count(); i++)
		if (memcmp(port_at(i)->mac, mac, 6) == 0)
			return true;
	return false;
}

static void arp_learn(struct worker *w, const struct pkt *p, const struct arp_hdr *arp)
{
	struct neighbour_news news = {
		.vlan = p->vlan,
		.port = p->port,
		.addr = ip_addr_v4(arp->sender),
		.mac = arp->sender_mac,
		.solicited = rte_be_to_cpu_16(arp->op) == ARP_REPLY && mac_is_ours(arp->target_mac),
		.override = true,
	};

	if (arp->sender != 0)
		neighbour_learn(w, &news);
}

/* Turns the request in m into the reply. */
static void arp_answer(struct worker *w, struct rte_mbuf *m, const struct arp_hdr *request)
{
	const struct pkt *p = pkt_of(m);
	const uint8_t *mac = port_at(p->port)->mac;
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);

	/* a probe's answer goes to its sender, too (RFC 5227, 2.1.1) */
	emit_eth(frame, request->sender_mac, mac, p->wire.tag, ETH_TYPE_ARP);
	emit_arp(frame + p->wire.l3, ARP_REPLY, mac, request->target, request->sender_mac,
		request->sender);
	w->stat[WORKER_ARP_SENT]++;
	output_frame(w, m, p->port);
}

void share_neighbour(struct worker *w, const struct rte_mbuf *m)
{
	for (unsigned to = 0; to < w->count; to++) {
		struct rte_mbuf *copy;
		if (to == w->index)
			continue;
		copy = mbuf_copy(m, w->pool);
		if (copy)
			handover_send(w, to, copy, PKT_NEIGHBOUR);
		else
			w->drop[DROP_NO_MEMORY]++;
	}
}

void arp_process(struct worker *w, struct rte_mbuf *m, bool copy)
{
	const struct pkt *p = pkt_of(m);
	struct arp_hdr arp;

	memcpy(&arp, pkt_l3(m), sizeof(arp));
	if (!arp_valid(&arp) || mac_is_ours(arp.sender_mac)) {
		worker_drop(w, m, DROP_BAD_ARP);
		return;
	}
	arp_learn(w, p, &arp);
	if (copy) {
		rte_pktmbuf_free(m);
		return;
	}
	share_neighbour(w, m);
	struct ip_addr sender = ip_addr_v4(arp.sender), target = ip_addr_v4(arp.target);
	const struct own_addr *own = own_find(w->view->net, &sender);
	if (own && own_answers(w, own, p->vlan))
		conflict(w, own, arp.sender_mac);
	own = own_find(w->view->net, &target);
	if (rte_be_to_cpu_16(arp.op) == ARP_REQUEST && own && own_answers(w, own, p->vlan) &&
		arp.sender != arp.target)
		arp_answer(w, m, &arp);
	else
		rte_pktmbuf_free(m);
}
