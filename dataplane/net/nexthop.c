/* SPDX-License-Identifier: BSD-3-Clause */
/* Next hops for those who send: by route, or back to where a packet came from. */
#include "net/netprivate.h"

/* May a packet go to dst on link? Not to ourselves, not to the network or broadcast address of an IPv4
 * network, and no group. */
static bool is_host(const struct worker *w, const struct route *r, const struct ip_addr *dst)
{
	uint32_t host = ip_is_v4(dst) ? rte_be_to_cpu_32(dst->w[3]) : 0;

	if (ip_is_v4(dst) ? host >> 28 >= 0xe : dst->b[0] == 0xff)
		return false;
	if (own_find(w->view->net, dst))
		return false;
	if (!ip_is_v4(dst) || r->kind != ROUTE_CONNECTED || r->prefix >= 31)
		return true;
	uint32_t mask = UINT32_MAX >> r->prefix;
	return (host & mask) != 0 && (host & mask) != mask;
}

/* A row that another route or an older state of the routes has for the same neighbour knows its MAC. */
static void row_clone(struct worker *w, uint32_t i, uint32_t from)
{
	struct neighbour_table *t = neighbour_table_of(w);
	struct neighbour *n = &t->rows[i], *other = &t->rows[from];

	memcpy(n->mac, other->mac, 6);
	if (!neighbour_header_write(w, i, net_nexthop(w, from)->port))
		return;
	n->confirmed = other->confirmed;
	n->probes = other->probes;
	n->due = other->due;
	net_nexthop(w, i)->state = NEXTHOP_READY;
}

static uint32_t route_row(struct worker *w, uint16_t vlan, const struct ip_addr *hop, uint16_t mtu)
{
	struct neighbour_table *t = neighbour_table_of(w);
	const struct net_vlan *v = &w->view->net->vlans[vlan];
	uint32_t same = NEXTHOP_NONE, i;

	for (i = *neighbour_bucket(t, v->id, hop); i != NEXTHOP_NONE; i = t->rows[i].chain) {
		struct nexthop *hot = net_nexthop(w, i);
		if (!neighbour_is(&t->rows[i], NEXTHOP_IP, v->id, hop) ||
			hot->state == NEXTHOP_GONE)
			continue;
		if (hot->epoch == w->net->epoch && t->rows[i].route_mtu == mtu)
			return i;
		if (hot->state == NEXTHOP_READY)
			same = i;
	}
	if (same != NEXTHOP_NONE)
		net_nexthop(w, same)->refs++; /* not evicted now */
	i = neighbour_new(w, NEXTHOP_IP);
	if (same != NEXTHOP_NONE)
		net_nexthop(w, same)->refs--;
	if (i == NEXTHOP_NONE)
		return i;
	t->rows[i].addr = *hop;
	t->rows[i].vlan_id = v->id;
	t->rows[i].route_mtu = mtu;
	struct nexthop *hot = net_nexthop(w, i);
	hot->vlan = vlan;
	hot->mtu = mtu && mtu < v->mtu ? mtu : v->mtu;
	hot->epoch = w->net->epoch;
	hot->used = w->now;
	neighbour_link(t, i);
	if (same != NEXTHOP_NONE)
		row_clone(w, i, same);
	if (hot->state != NEXTHOP_READY)
		neighbour_resolve(w, i);
	return i;
}

/* VLAN and address of the next hop towards dst; NULL: none. */
static const struct route *next_hop(
	const struct worker *w, const struct ip_addr *dst, struct ip_addr *hop)
{
	const struct route *r = route_find(w->view->net, dst);

	if (!r || r->kind == ROUTE_BLACKHOLE || !is_host(w, r, dst))
		return NULL;
	*hop = r->kind == ROUTE_GATEWAY ? r->gateway : *dst;
	return own_find(w->view->net, hop) ? NULL : r;
}

uint32_t net_route_get(struct worker *w, const struct ip_addr *dst)
{
	struct ip_addr hop;

	if (!w->view)
		return NEXTHOP_NONE;
	net_sync(w);
	const struct route *r = next_hop(w, dst, &hop);
	if (!r)
		return NEXTHOP_NONE;
	uint16_t mtu = (uint16_t)RTE_MIN(r->mtu, (uint32_t)UINT16_MAX);
	uint32_t i = route_row(w, r->vlan, &hop, mtu);
	if (i != NEXTHOP_NONE)
		net_nexthop(w, i)->refs++;
	return i;
}

uint32_t net_hop_get(struct worker *w, uint16_t vlan, const struct ip_addr *hop)
{
	if (vlan >= w->view->net->vlan_count || own_find(w->view->net, hop))
		return NEXTHOP_NONE;
	uint32_t i = route_row(w, vlan, hop, 0);
	if (i != NEXTHOP_NONE)
		net_nexthop(w, i)->refs++;
	return i;
}

uint32_t net_lasthop_get(struct worker *w, struct rte_mbuf *m)
{
	struct neighbour_table *t = neighbour_table_of(w);
	const struct pkt *p = pkt_of(m);
	const struct eth_hdr *eth = rte_pktmbuf_mtod(m, const struct eth_hdr *);
	struct ip_addr key = {.b = {p->port}};

	net_sync(w);
	uint16_t vlan = net_vlan_of(w->view, p->port, p->wire.tag);
	if (vlan == NET_NO_VLAN)
		return NEXTHOP_NONE;
	const struct net_vlan *v = &w->view->net->vlans[vlan];
	memcpy(key.b + 1, eth->src, 6);
	uint32_t i = *neighbour_bucket(t, v->id, &key);
	while (i != NEXTHOP_NONE && !neighbour_is(&t->rows[i], NEXTHOP_LASTHOP, v->id, &key))
		i = t->rows[i].chain;
	if (i == NEXTHOP_NONE) {
		i = neighbour_new(w, NEXTHOP_LASTHOP);
		if (i == NEXTHOP_NONE)
			return i;
		t->rows[i].addr = key;
		t->rows[i].vlan_id = v->id;
		memcpy(t->rows[i].mac, eth->src, 6);
		*net_nexthop(w, i) = (struct nexthop){.lasthop = 1,
			.vlan = vlan,
			.mtu = v->mtu,
			.used = w->now,
			.state = NEXTHOP_READY};
		neighbour_header_write(w, i, p->port);
		neighbour_link(t, i);
	}
	net_nexthop(w, i)->refs++;
	return i;
}

void net_nexthop_put(struct worker *w, uint32_t nexthop)
{
	struct nexthop *hot = net_nexthop(w, nexthop);

	if (--hot->refs == 0 && hot->state == NEXTHOP_GONE)
		neighbour_free(w, nexthop);
}
