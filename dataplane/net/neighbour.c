/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/neighbour.h"

#include <errno.h>
#include <stdlib.h>

#include "net/netprivate.h"

#define EVICT_LOOKS 256u /* rows looked at to find one that nobody holds */

struct neighbour_table *neighbour_table_of(const struct worker *w)
{
	return &net_private(w)->neighbours;
}

int neighbours_init(struct worker *w, uint32_t max)
{
	struct neighbour_table *t = neighbour_table_of(w);

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
	struct neighbour_table *t = neighbour_table_of(w);

	for (uint32_t i = 0; t->rows && i < t->top; i++)
		rte_pktmbuf_free_bulk(t->rows[i].queue, t->rows[i].queued);
	free(t->rows);
	free(t->buckets);
	free(w->net->nexthops);
}

/* --- rows and their hash -------------------------------------------------------------------------- */

uint32_t *neighbour_bucket(struct neighbour_table *t, uint32_t vlan_id, const struct ip_addr *addr)
{
	return &t->buckets[addr_hash(addr, vlan_id) & t->mask];
}

void neighbour_link(struct neighbour_table *t, uint32_t i)
{
	struct neighbour *n = &t->rows[i];
	uint32_t *bucket = neighbour_bucket(t, n->vlan_id, &n->addr);

	n->chain = *bucket;
	*bucket = i;
	n->hashed = true;
}

void neighbour_unlink(struct neighbour_table *t, uint32_t i)
{
	struct neighbour *n = &t->rows[i];
	uint32_t *at = neighbour_bucket(t, n->vlan_id, &n->addr);

	if (!n->hashed)
		return;
	while (*at != i)
		at = &t->rows[*at].chain;
	*at = n->chain;
	n->hashed = false;
}

void neighbour_queue_drop(struct worker *w, struct neighbour *n, enum drop_reason reason)
{
	for (unsigned i = 0; i < n->queued; i++)
		worker_drop(w, n->queue[i], reason);
	neighbour_table_of(w)->queued -= n->queued;
	n->queued = 0;
}

void neighbour_free(struct worker *w, uint32_t i)
{
	struct neighbour_table *t = neighbour_table_of(w);
	struct neighbour *n = &t->rows[i];

	neighbour_queue_drop(w, n, DROP_NO_NEIGHBOUR);
	neighbour_unlink(t, i);
	t->lasthops -= n->kind == NEXTHOP_LASTHOP;
	n->kind = NEXTHOP_FREE;
	n->chain = t->free;
	t->free = i;
	t->count--;
}

/* Frees a row that no flow holds and no packet waits for. */
static bool evict(struct worker *w, bool lasthops_only)
{
	struct neighbour_table *t = neighbour_table_of(w);

	for (uint32_t looked = 0; looked < EVICT_LOOKS && looked < t->top; looked++) {
		uint32_t i = t->clock++;
		if (t->clock >= t->top)
			t->clock = 0;
		if (i >= t->top || t->rows[i].kind == NEXTHOP_FREE || t->rows[i].queued ||
			w->net->nexthops[i].refs ||
			(lasthops_only && t->rows[i].kind != NEXTHOP_LASTHOP))
			continue;
		neighbour_free(w, i);
		return true;
	}
	return false;
}

uint32_t neighbour_new(struct worker *w, enum nexthop_kind kind)
{
	struct neighbour_table *t = neighbour_table_of(w);
	uint32_t limit = RTE_MIN(t->max, net_settings(w)->maximum_arp);
	bool share_used = kind == NEXTHOP_LASTHOP && t->lasthops >= RTE_MAX(limit / 2, 1u);
	uint32_t i;

	if ((share_used || t->count >= limit) && !evict(w, share_used))
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
	t->rows[i].kind = (uint8_t)kind;
	t->lasthops += kind == NEXTHOP_LASTHOP;
	return i;
}

bool neighbour_is(const struct neighbour *n, enum nexthop_kind kind, uint32_t vlan_id,
	const struct ip_addr *addr)
{
	return n->kind == kind && n->vlan_id == vlan_id && ip_equal(&n->addr, addr);
}

/* --- resolution ----------------------------------------------------------------------------------- */

bool neighbour_header_write(struct worker *w, uint32_t i, uint8_t port)
{
	struct nexthop *hot = net_nexthop(w, i);
	uint16_t tag;

	if (!vlan_tag_at(w->view->net, hot->vlan, port, &tag))
		return false;
	hot->port = port;
	hot->header_length = (uint8_t)emit_eth(
		hot->header, neighbour_table_of(w)->rows[i].mac, port_at(port)->mac, tag, 0);
	return true;
}

static void queue_send(struct worker *w, uint32_t i)
{
	struct neighbour *n = &neighbour_table_of(w)->rows[i];
	unsigned count = n->queued;

	neighbour_table_of(w)->queued -= count;
	n->queued = 0;
	for (unsigned k = 0; k < count; k++)
		net_output(w, n->queue[k], i);
}

static void row_ready(struct worker *w, uint32_t i)
{
	net_nexthop(w, i)->state = NEXTHOP_READY;
	queue_send(w, i);
}

void neighbour_ask(struct worker *w, uint32_t i, bool unicast)
{
	struct neighbour *n = &neighbour_table_of(w)->rows[i];
	struct nexthop *hot = net_nexthop(w, i);

	n->probes++;
	n->due = w->now + SOLICIT_INTERVAL;
	solicit(w, hot->vlan, &n->addr, unicast ? n->mac : NULL, hot->port);
}

void neighbour_resolve(struct worker *w, uint32_t i)
{
	net_nexthop(w, i)->state = NEXTHOP_INCOMPLETE;
	neighbour_table_of(w)->rows[i].probes = 0;
	neighbour_ask(w, i, false);
}

void neighbour_fail(struct worker *w, uint32_t i)
{
	struct neighbour *n = &neighbour_table_of(w)->rows[i];

	net_nexthop(w, i)->state = NEXTHOP_FAILED;
	n->due = w->now + SOLICIT_INTERVAL;
	neighbour_queue_drop(w, n, DROP_NO_NEIGHBOUR);
	if (!n->reported)
		worker_event(w, EVENT_NEIGHBOUR_FAILED, n->vlan_id, 0, &n->addr, NULL);
	n->reported = true;
}

static void row_learn(struct worker *w, uint32_t i, const struct neighbour_news *news)
{
	struct neighbour *n = &neighbour_table_of(w)->rows[i];
	struct nexthop *hot = net_nexthop(w, i);
	bool known = hot->state == NEXTHOP_READY;
	const uint8_t *mac = news->mac ? news->mac : n->mac;
	bool same = known && hot->port == news->port && memcmp(mac, n->mac, 6) == 0;

	if (hot->state == NEXTHOP_GONE || (!known && !news->mac) ||
		(known && !same && !news->override))
		return;
	memmove(n->mac, mac, 6);
	if (!same && !neighbour_header_write(w, i, news->port))
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
	struct neighbour_table *t = neighbour_table_of(w);
	uint32_t vlan_id = w->view->net->vlans[news->vlan].id;

	for (uint32_t i = *neighbour_bucket(t, vlan_id, &news->addr); i != NEXTHOP_NONE;
		i = t->rows[i].chain)
		if (neighbour_is(&t->rows[i], NEXTHOP_IP, vlan_id, &news->addr))
			row_learn(w, i, news);
}

void neighbour_wait(struct worker *w, struct rte_mbuf *m, uint32_t nexthop)
{
	struct neighbour_table *t = neighbour_table_of(w);
	struct neighbour *n = &t->rows[nexthop];
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
		neighbour_resolve(w, nexthop);
	}
	if (n->queued == NEIGHBOUR_QUEUE) { /* RFC 1122, 2.3.2.2: keep the latest */
		worker_drop(w, n->queue[0], DROP_NEIGHBOUR_QUEUE_FULL);
		memmove(n->queue, n->queue + 1, (NEIGHBOUR_QUEUE - 1) * sizeof(n->queue[0]));
		n->queue[NEIGHBOUR_QUEUE - 1] = m;
	} else if (t->queued == NEIGHBOUR_QUEUE_ALL) {
		worker_drop(w, m, DROP_NEIGHBOUR_QUEUE_FULL);
	} else {
		n->queue[n->queued++] = m;
		t->queued++;
	}
}
