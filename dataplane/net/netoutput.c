/* SPDX-License-Identifier: BSD-3-Clause */
/* From an IP packet to a frame on a port. */
#include "net/netprivate.h"

void output_frame(struct worker *w, struct rte_mbuf *m, uint8_t port)
{
	port_send(w, m, port);
}

/* Leaves exactly `want` bytes before the IP packet and none behind it. */
static bool frame_fit(struct rte_mbuf *m, uint16_t want)
{
	struct wire_info *i = &pkt_of(m)->wire;
	uint16_t length = pkt_l3_length(m);

	if (i->l3 > want)
		mbuf_adj(m, i->l3 - want);
	else if (i->l3 < want && !mbuf_prepend(m, want - i->l3))
		return false;
	if (m->pkt_len > (uint32_t)want + length)
		mbuf_trim(m, (uint16_t)(m->pkt_len - want - length));
	i->l4 = (uint16_t)(i->l4 - i->l3 + want);
	i->payload = (uint16_t)(i->payload - i->l3 + want);
	i->l3 = want;
	i->l3_end = want + length;
	return true;
}

static void ethertype_write(uint8_t *frame, uint8_t header_length, uint8_t ip_version)
{
	uint16_t type = rte_cpu_to_be_16(ip_version == 4 ? ETH_TYPE_IP4 : ETH_TYPE_IP6);

	memcpy(frame + header_length - 2, &type, 2);
}

void output_ready(struct worker *w, struct rte_mbuf *m, const struct nexthop *n)
{
	if (unlikely(!frame_fit(m, n->header_length))) {
		worker_drop(w, m, DROP_NO_MEMORY);
		return;
	}
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	memcpy(frame, n->header, n->header_length);
	ethertype_write(frame, n->header_length, pkt_of(m)->wire.ip_version);
	port_send(w, m, n->port);
}

void net_output(struct worker *w, struct rte_mbuf *m, uint32_t nexthop)
{
	struct nexthop *n = net_nexthop(w, nexthop);

	n->used = w->now;
	if (unlikely(n->state != NEXTHOP_READY)) {
		neighbour_wait(w, m, nexthop);
		return;
	}
	if (likely(pkt_l3_length(m) <= n->mtu))
		output_ready(w, m, n);
	else if (pkt_of(m)->wire.flags & WIRE_DONT_FRAGMENT)
		worker_drop(w, m, DROP_TOO_BIG);
	else
		refragment(w, m, n);
}

void net_output_routed(struct worker *w, struct rte_mbuf *m)
{
	struct ip_addr dst = wire_dst(rte_pktmbuf_mtod(m, const uint8_t *), &pkt_of(m)->wire);
	uint32_t nexthop = net_route_get(w, &dst);

	if (nexthop == NEXTHOP_NONE) {
		worker_drop(w, m, DROP_NO_ROUTE);
		return;
	}
	net_output(w, m, nexthop);
	net_nexthop_put(w, nexthop);
}

void output_back(struct worker *w, struct rte_mbuf *m, const struct rte_mbuf *from)
{
	const struct pkt *p = rte_mbuf_to_priv((struct rte_mbuf *)(uintptr_t)from);
	const struct eth_hdr *eth = rte_pktmbuf_mtod(from, const struct eth_hdr *);
	uint16_t vlan = net_vlan_of(w->view, p->port, p->wire.tag);
	uint8_t port = p->port, header[ETH_HEADER_TAGGED];

	if (vlan == NET_NO_VLAN || !w->view->net->vlans[vlan].auto_lasthop) {
		net_output_routed(w, m);
		return;
	}
	unsigned length = emit_eth(header, eth->src, port_at(port)->mac, p->wire.tag, 0);
	if (!frame_fit(m, (uint16_t)length)) {
		worker_drop(w, m, DROP_NO_MEMORY);
		return;
	}
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	memcpy(frame, header, length);
	ethertype_write(frame, (uint8_t)length, pkt_of(m)->wire.ip_version);
	port_send(w, m, port);
}

struct rte_mbuf *packet_new(struct worker *w, uint8_t **l3)
{
	struct rte_mbuf *m = mbuf_new(w->pool);

	if (!m) {
		w->drop[DROP_NO_MEMORY]++;
		return NULL;
	}
	*l3 = mbuf_append(m, EMIT_ERROR_LENGTH_MAX);
	if (*l3)
		return m;
	worker_drop(w, m, DROP_NO_MEMORY);
	return NULL;
}

void packet_finish(struct rte_mbuf *m, unsigned length)
{
	mbuf_trim(m, (uint16_t)(EMIT_ERROR_LENGTH_MAX - length));
	wire_parse_quoted(rte_pktmbuf_mtod(m, const uint8_t *), length, &pkt_of(m)->wire);
}
