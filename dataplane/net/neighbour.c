/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/neighbour.h"

#include <errno.h>
#include <stdlib.h>

#include "net/netprivate.h"

#define EVICT_LOOKS 64u	    /* rows looked at to find one that nobody holds */
#define HOUSE_PASS_TICKS 25u /* upkeep sees every row in that time */

static struct neighbour_table *table_of(const struct worker *w)
{
	return &net_private(w)->neighbours;
}

int neighbours_init(struct worker *w, uint32_t max)
{
	struct neighbour_table *t = table_of(w);

	t->max = max;
	t->mask = rte_align32pow2(max) - 1;
	t->free = NEXTHOP_NONE;
	t->rows = calloc(max, sizeof(*t->rows));
	t->buckets = malloc((t->mask + 1) * sizeof(*t->buckets));
	w->net->nexthops = aligned_alloc(64, max * sizeof(struct nexthop));
	if (!t->rows || !t->buckets || !w->net->nexthops)
		return -ENOMEM;
	memset(w->net->nexthops, 0, max * sizeof(struct nexthop));
	memset(t->buckets, 0xff, (t->mask + 1) * sizeof(*t->buckets));
	return 0;
}

void neighbours_fini(struct worker *w)
{
	struct neighbour_table *t = table_of(w);

	for (uint32_t i = 0; t->rows && i < t->top; i++)
		rte_pktmbuf_free_bulk(t->rows[i].queue, t->rows[i].queued);
	free(t->rows);
	free(t->buckets);
	free(w->net->nexthops);
}

/* --- rows and their hash -------------------------------------------------------------------------- */

static uint32_t *bucket_of(struct neighbour_table *t, uint32_t vlan_id, const struct ip_addr *addr)
{
	return &t->buckets[addr_hash(addr, vlan_id) & t->mask];
}

static void row_link(struct neighbour_table *t, uint32_t i)
{
	struct neighbour *n = &t->rows[i];
	uint32_t *bucket = bucket_of(t, n->vlan_id, &n->addr);

	n->chain = *bucket;
	*bucket = i;
	n->hashed = true;
}

static void row_unlink(struct neighbour_table *t, uint32_t i)
{
	struct neighbour *n = &t->rows[i];
	uint32_t *at = bucket_of(t, n->vlan_id, &n->addr);

	if (!n->hashed)
		return;
	while (*at != i)
		at = &t->rows[*at].chain;
	*at = n->chain;
	n->hashed = false;
}

static void queue_drop(struct worker *w, struct neighbour *n, enum drop_reason reason)
{
	for (unsigned i = 0; i < n->queued; i++)
		worker_drop(w, n->queue[i], reason);
	n->queued = 0;
}

static void row_free(struct worker *w, uint32_t i)
{
	struct neighbour_table *t = table_of(w);
	struct neighbour *n = &t->rows[i];

	queue_drop(w, n, DROP_NO_NEIGHBOUR);
	row_unlink(t, i);
	n->kind = NEXTHOP_FREE;
	n->chain = t->free;
	t->free = i;
	t->count--;
}

/* Frees a row that no flow holds and no packet waits for. */
static bool evict(struct worker *w)
{
	struct neighbour_table *t = table_of(w);

	for (uint32_t looked = 0; looked < EVICT_LOOKS && looked < t->top; looked++) {
		uint32_t i = t->clock++;
		if (t->clock >= t->top)
			t->clock = 0;
		if (i >= t->top || t->rows[i].kind == NEXTHOP_FREE || t->rows[i].queued ||
			w->net->nexthops[i].refs)
			continue;
		row_free(w, i);
		return true;
	}
	return false;
}

static uint32_t row_new(struct worker *w)
{
	struct neighbour_table *t = table_of(w);
	uint32_t limit = net_settings(w)->maximum_arp;
	uint32_t i;

	if (t->count >= RTE_MIN(t->max, limit) && !evict(w))
		return NEXTHOP_NONE;
	if (t->free != NEXTHOP_NONE) {
		i = t->free;
		t->free = t->rows[i].chain;
	} else {
		i = t->top++;
	}
	t->count++;
	memset(&t->rows[i], 0, sizeof(t->rows[i]));
	memset(&w->net->nexthops[i], 0, sizeof(struct nexthop));
	return i;
}

static bool row_is(const struct neighbour *n, enum nexthop_kind kind, uint32_t vlan_id,
	const struct ip_addr *addr)
{
	return n->kind == kind && n->vlan_id == vlan_id && ip_equal(&n->addr, addr);
}

/* --- resolution ----------------------------------------------------------------------------------- */

/* The ready Ethernet header; its type is written with each packet. False: port is not in the VLAN. */
static bool header_write(struct worker *w, uint32_t i, uint8_t port)
{
	struct nexthop *hot = net_nexthop(w, i);
	uint16_t tag;

	if (!vlan_tag_at(w->view->net, hot->vlan, port, &tag))
		return false;
	hot->port = port;
	hot->header_length = (uint8_t)emit_eth(hot->header, table_of(w)->rows[i].mac,
		port_at(port)->mac, tag, 0);
	return true;
}

static void queue_send(struct worker *w, uint32_t i)
{
	struct neighbour *n = &table_of(w)->rows[i];
	unsigned count = n->queued;

	n->queued = 0;
	for (unsigned k = 0; k < count; k++)
		net_output(w, n->queue[k], i);
}

static void row_ready(struct worker *w, uint32_t i)
{
	net_nexthop(w, i)->state = NEXTHOP_READY;
	queue_send(w, i);
}

static void row_ask(struct worker *w, uint32_t i, bool unicast)
{
	struct neighbour *n = &table_of(w)->rows[i];
	struct nexthop *hot = net_nexthop(w, i);

	n->probes++;
	n->due = w->now + SOLICIT_INTERVAL;
	solicit(w, hot->vlan, &n->addr, unicast ? n->mac : NULL, hot->port);
}

static void row_resolve(struct worker *w, uint32_t i)
{
	net_nexthop(w, i)->state = NEXTHOP_INCOMPLETE;
	table_of(w)->rows[i].probes = 0;
	row_ask(w, i, false);
}

static void row_fail(struct worker *w, uint32_t i)
{
	struct neighbour *n = &table_of(w)->rows[i];

	net_nexthop(w, i)->state = NEXTHOP_FAILED;
	n->due = w->now + SOLICIT_INTERVAL;
	queue_drop(w, n, DROP_NO_NEIGHBOUR);
	if (!n->reported)
		worker_event(w, EVENT_NEIGHBOUR_FAILED, n->vlan_id, 0, &n->addr, NULL);
	n->reported = true;
}

static void row_learn(struct worker *w, uint32_t i, const struct neighbour_news *news)
{
	struct neighbour *n = &table_of(w)->rows[i];
	struct nexthop *hot = net_nexthop(w, i);
	bool known = hot->state == NEXTHOP_READY;
	const uint8_t *mac = news->mac ? news->mac : n->mac;
	bool same = known && hot->port == news->port && memcmp(mac, n->mac, 6) == 0;

	if (hot->state == NEXTHOP_GONE || (!known && !news->mac) ||
		(known && !same && !news->override))
		return;
	memmove(n->mac, mac, 6);
	if (!same && !header_write(w, i, news->port))
		return;
	if (news->solicited || !same) {
		n->confirmed = w->now;
		n->probes = 0;
		n->reported = false;
	}
	row_ready(w, i);
}

void neighbour_learn(struct worker *w, const struct neighbour_news *news)
{
	struct neighbour_table *t = table_of(w);
	uint32_t vlan_id = w->view->net->vlans[news->vlan].id;

	for (uint32_t i = *bucket_of(t, vlan_id, &news->addr); i != NEXTHOP_NONE; i = t->rows[i].chain)
		if (row_is(&t->rows[i], NEXTHOP_IP, vlan_id, &news->addr))
			row_learn(w, i, news);
}

void neighbour_wait(struct worker *w, struct rte_mbuf *m, uint32_t nexthop)
{
	struct neighbour *n = &table_of(w)->rows[nexthop];
	struct nexthop *hot = net_nexthop(w, nexthop);

	if (hot->state == NEXTHOP_GONE) {
		worker_drop(w, m, DROP_NO_ROUTE);
		return;
	}
	if (hot->state == NEXTHOP_FAILED) {
		if (!tick_reached(w->now, n->due)) {
			worker_drop(w, m, DROP_NO_NEIGHBOUR);
			return;
		}
		row_resolve(w, nexthop);
	}
	if (n->queued == NEIGHBOUR_QUEUE) { /* RFC 1122, 2.3.2.2: keep the latest */
		worker_drop(w, n->queue[0], DROP_NEIGHBOUR_QUEUE_FULL);
		memmove(n->queue, n->queue + 1, (NEIGHBOUR_QUEUE - 1) * sizeof(n->queue[0]));
		n->queued--;
	}
	n->queue[n->queued++] = m;
}

/* --- get and put ---------------------------------------------------------------------------------- */

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
	struct neighbour_table *t = table_of(w);
	struct neighbour *n = &t->rows[i], *other = &t->rows[from];

	memcpy(n->mac, other->mac, 6);
	if (!header_write(w, i, net_nexthop(w, from)->port))
		return;
	n->confirmed = other->confirmed;
	n->probes = other->probes;
	n->due = other->due;
	net_nexthop(w, i)->state = NEXTHOP_READY;
}

static uint32_t route_row(struct worker *w, uint16_t vlan, const struct ip_addr *hop, uint16_t mtu)
{
	struct neighbour_table *t = table_of(w);
	const struct net_vlan *v = &w->view->net->vlans[vlan];
	uint32_t same = NEXTHOP_NONE, i;

	for (i = *bucket_of(t, v->id, hop); i != NEXTHOP_NONE; i = t->rows[i].chain) {
		struct nexthop *hot = net_nexthop(w, i);
		if (!row_is(&t->rows[i], NEXTHOP_IP, v->id, hop) || hot->state == NEXTHOP_GONE)
			continue;
		if (hot->epoch == w->net->epoch && t->rows[i].route_mtu == mtu)
			return i;
		if (hot->state == NEXTHOP_READY)
			same = i;
	}
	if (same != NEXTHOP_NONE)
		net_nexthop(w, same)->refs++; /* not evicted now */
	i = row_new(w);
	if (same != NEXTHOP_NONE)
		net_nexthop(w, same)->refs--;
	if (i == NEXTHOP_NONE)
		return i;
	t->rows[i].addr = *hop;
	t->rows[i].vlan_id = v->id;
	t->rows[i].kind = NEXTHOP_IP;
	t->rows[i].route_mtu = mtu;
	struct nexthop *hot = net_nexthop(w, i);
	hot->vlan = vlan;
	hot->mtu = mtu && mtu < v->mtu ? mtu : v->mtu;
	hot->epoch = w->net->epoch;
	hot->used = w->now;
	row_link(t, i);
	if (same != NEXTHOP_NONE)
		row_clone(w, i, same);
	if (hot->state != NEXTHOP_READY)
		row_resolve(w, i);
	return i;
}

/* VLAN and address of the next hop towards dst; NULL: none. */
static const struct route *next_hop(const struct worker *w, const struct ip_addr *dst,
	struct ip_addr *hop)
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

uint32_t net_lasthop_get(struct worker *w, struct rte_mbuf *m)
{
	struct neighbour_table *t = table_of(w);
	const struct pkt *p = pkt_of(m);
	const struct eth_hdr *eth = rte_pktmbuf_mtod(m, const struct eth_hdr *);
	struct ip_addr key = {.b = {p->port}};

	net_sync(w);
	uint16_t vlan = net_vlan_of(w->view, p->port, p->wire.tag);
	if (vlan == NET_NO_VLAN)
		return NEXTHOP_NONE;
	const struct net_vlan *v = &w->view->net->vlans[vlan];
	memcpy(key.b + 1, eth->src, 6);
	uint32_t i = *bucket_of(t, v->id, &key);
	while (i != NEXTHOP_NONE && !row_is(&t->rows[i], NEXTHOP_LASTHOP, v->id, &key))
		i = t->rows[i].chain;
	if (i == NEXTHOP_NONE) {
		i = row_new(w);
		if (i == NEXTHOP_NONE)
			return i;
		t->rows[i].addr = key;
		t->rows[i].vlan_id = v->id;
		t->rows[i].kind = NEXTHOP_LASTHOP;
		memcpy(t->rows[i].mac, eth->src, 6);
		*net_nexthop(w, i) = (struct nexthop){.lasthop = 1, .vlan = vlan, .mtu = v->mtu,
			.used = w->now, .state = NEXTHOP_READY};
		header_write(w, i, p->port);
		row_link(t, i);
	}
	net_nexthop(w, i)->refs++;
	return i;
}

void net_nexthop_put(struct worker *w, uint32_t nexthop)
{
	struct nexthop *hot = net_nexthop(w, nexthop);

	if (--hot->refs == 0 && hot->state == NEXTHOP_GONE)
		row_free(w, nexthop);
}

/* --- upkeep --------------------------------------------------------------------------------------- */

/* A row whose VLAN or port is gone serves nobody any more. */
static void row_retire(struct worker *w, uint32_t i)
{
	struct neighbour_table *t = table_of(w);

	queue_drop(w, &t->rows[i], DROP_NO_NEIGHBOUR);
	row_unlink(t, i);
	net_nexthop(w, i)->state = NEXTHOP_GONE;
	if (net_nexthop(w, i)->refs == 0)
		row_free(w, i);
}

void neighbours_sync(struct worker *w)
{
	struct neighbour_table *t = table_of(w);
	const struct net_tables *tables = w->view->net;

	for (uint32_t i = 0; i < t->top; i++) {
		struct nexthop *hot = net_nexthop(w, i);
		if (t->rows[i].kind == NEXTHOP_FREE || hot->state == NEXTHOP_GONE)
			continue;
		uint16_t vlan = vlan_row_of(tables, t->rows[i].vlan_id);
		hot->vlan = vlan;
		if (vlan == NET_NO_VLAN ||
			(hot->state == NEXTHOP_READY && !header_write(w, i, hot->port)))
			row_retire(w, i);
		else if (hot->lasthop)
			hot->mtu = tables->vlans[vlan].mtu;
	}
}

/* Asks again before its time is over, unless nobody uses it. */
static void age(struct worker *w, uint32_t i, uint32_t timeout, uint32_t retries)
{
	struct neighbour *n = &table_of(w)->rows[i];
	const struct nexthop *hot = net_nexthop(w, i);
	uint32_t old = w->now - n->confirmed, ahead = 2 * retries * SOLICIT_INTERVAL;
	bool idle = hot->refs == 0 && w->now - hot->used >= ahead;

	if (idle || hot->epoch != w->net->epoch) {
		if (old >= timeout && hot->refs == 0)
			row_free(w, i);
		return;
	}
	if (old < timeout - RTE_MIN(ahead, timeout / 2) || !tick_reached(w->now, n->due))
		return;
	if (n->probes >= 2 * retries)
		row_fail(w, i);
	else
		row_ask(w, i, n->probes < retries);
}

static void row_house(struct worker *w, uint32_t i)
{
	struct neighbour *n = &table_of(w)->rows[i];
	const struct snap_settings *s = net_settings(w);
	const struct nexthop *hot = net_nexthop(w, i);
	uint32_t timeout = RTE_MIN(s->arp_timeout, (uint32_t)INT32_MAX / TICKS_PER_SECOND) *
			   TICKS_PER_SECOND;

	if (n->kind == NEXTHOP_LASTHOP) {
		if (hot->refs == 0 && w->now - hot->used >= timeout)
			row_free(w, i);
		return;
	}
	switch (hot->state) {
	case NEXTHOP_INCOMPLETE:
		if (!tick_reached(w->now, n->due))
			break;
		if (n->probes < s->arp_retries)
			row_ask(w, i, false);
		else
			row_fail(w, i);
		break;
	case NEXTHOP_READY:
		age(w, i, timeout, s->arp_retries);
		break;
	case NEXTHOP_FAILED:
		if (hot->refs == 0 && w->now - n->due >= FAILED_KEEP && tick_reached(w->now, n->due))
			row_free(w, i);
		break;
	default:
		break;
	}
}

void neighbours_house(struct worker *w)
{
	struct neighbour_table *t = table_of(w);
	uint32_t slice = t->top / HOUSE_PASS_TICKS + 1;

	for (uint32_t k = 0; k < slice && t->top; k++) {
		if (t->house_at >= t->top)
			t->house_at = 0;
		uint32_t i = t->house_at++;
		if (t->rows[i].kind != NEXTHOP_FREE)
			row_house(w, i);
	}
}

/* --- list ----------------------------------------------------------------------------------------- */

static uint8_t listed_state(const struct neighbour *n, const struct nexthop *hot)
{
	if (hot->state == NEXTHOP_INCOMPLETE)
		return NEIGHBOUR_INCOMPLETE;
	if (hot->state != NEXTHOP_READY)
		return NEIGHBOUR_FAILED;
	return n->probes ? NEIGHBOUR_PROBING : NEIGHBOUR_RESOLVED;
}

unsigned net_neighbour_scan(const struct worker *w, uint32_t *place, unsigned budget,
	struct neighbour_row *rows, unsigned max)
{
	const struct neighbour_table *t = table_of(w);
	unsigned n = 0;

	for (; *place < t->top && budget && n < max; ++*place, budget--) {
		const struct neighbour *from = &t->rows[*place];
		const struct nexthop *hot = net_nexthop(w, *place);
		if (from->kind != NEXTHOP_IP || hot->epoch != w->net->epoch)
			continue;
		rows[n] = (struct neighbour_row){.addr = from->addr, .vlan_id = from->vlan_id,
			.state = listed_state(from, hot), .worker = (uint8_t)w->index,
			.age = (w->now - from->confirmed) / TICKS_PER_SECOND};
		memcpy(rows[n++].mac, from->mac, 6);
	}
	if (*place >= t->top)
		*place = UINT32_MAX;
	return n;
}
