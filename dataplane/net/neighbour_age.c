/* SPDX-License-Identifier: BSD-3-Clause */
/* Upkeep of neighbours: over a change of configuration, and as time goes by; and their list. */
#include "net/netprivate.h"

#define HOUSE_PASS_TICKS 25u /* upkeep sees every row in that time */

/* A row whose VLAN or port is gone serves nobody any more. */
static void row_retire(struct worker *w, uint32_t i)
{
	struct neighbour_table *t = neighbour_table_of(w);

	neighbour_queue_drop(w, &t->rows[i], DROP_NO_NEIGHBOUR);
	neighbour_unlink(t, i);
	net_nexthop(w, i)->state = NEXTHOP_GONE;
	if (net_nexthop(w, i)->refs == 0)
		neighbour_free(w, i);
}

void neighbours_sync(struct worker *w)
{
	struct neighbour_table *t = neighbour_table_of(w);
	const struct net_tables *tables = w->view->net;

	for (uint32_t i = 0; i < t->top; i++) {
		struct nexthop *hot = net_nexthop(w, i);
		if (t->rows[i].kind == NEXTHOP_FREE || hot->state == NEXTHOP_GONE)
			continue;
		uint16_t vlan = vlan_row_of(tables, t->rows[i].vlan_id);
		hot->vlan = vlan;
		if (vlan == NET_NO_VLAN ||
			(hot->state == NEXTHOP_READY && !neighbour_header_write(w, i, hot->port)))
			row_retire(w, i);
		else if (hot->lasthop)
			hot->mtu = tables->vlans[vlan].mtu;
	}
}

/* Asks again before its time is over, unless nobody uses it. */
static void age(struct worker *w, uint32_t i, uint32_t timeout, uint32_t retries)
{
	struct neighbour *n = &neighbour_table_of(w)->rows[i];
	const struct nexthop *hot = net_nexthop(w, i);
	uint32_t old = w->now - n->confirmed, ahead = 2 * retries * SOLICIT_INTERVAL;
	bool idle = hot->refs == 0 && w->now - hot->used >= ahead;

	if (idle || hot->epoch != w->net->epoch) {
		if (old >= timeout && hot->refs == 0)
			neighbour_free(w, i);
		return;
	}
	if (old < timeout - RTE_MIN(ahead, timeout / 2) || !tick_reached(w->now, n->due))
		return;
	if (n->probes >= 2 * retries)
		neighbour_fail(w, i);
	else
		neighbour_ask(w, i, n->probes < retries);
}

static void row_house(struct worker *w, uint32_t i)
{
	struct neighbour *n = &neighbour_table_of(w)->rows[i];
	const struct snap_settings *s = net_settings(w);
	const struct nexthop *hot = net_nexthop(w, i);
	uint32_t timeout =
		RTE_MIN(s->arp_timeout, (uint32_t)INT32_MAX / TICKS_PER_SECOND) * TICKS_PER_SECOND;

	if (n->kind == NEXTHOP_LASTHOP) {
		if (hot->refs == 0 && w->now - hot->used >= timeout)
			neighbour_free(w, i);
		return;
	}
	switch (hot->state) {
	case NEXTHOP_INCOMPLETE:
		if (!tick_reached(w->now, n->due))
			break;
		if (n->probes < s->arp_retries)
			neighbour_ask(w, i, false);
		else
			neighbour_fail(w, i);
		break;
	case NEXTHOP_READY:
		age(w, i, timeout, s->arp_retries);
		break;
	case NEXTHOP_FAILED:
		if (hot->refs == 0 && w->now - n->due >= FAILED_KEEP &&
			tick_reached(w->now, n->due))
			neighbour_free(w, i);
		break;
	default:
		break;
	}
}

void neighbours_house(struct worker *w)
{
	struct neighbour_table *t = neighbour_table_of(w);
	uint32_t slice = t->top / HOUSE_PASS_TICKS + 1;

	for (uint32_t k = 0; k < slice && t->top; k++) {
		if (t->house_at >= t->top)
			t->house_at = 0;
		uint32_t i = t->house_at++;
		if (t->rows[i].kind != NEXTHOP_FREE)
			row_house(w, i);
	}
}

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
	const struct neighbour_table *t = neighbour_table_of(w);
	unsigned n = 0;

	for (; *place < t->top && budget && n < max; ++*place, budget--) {
		const struct neighbour *from = &t->rows[*place];
		const struct nexthop *hot = net_nexthop(w, *place);
		if (from->kind != NEXTHOP_IP || hot->epoch != w->net->epoch)
			continue;
		rows[n] = (struct neighbour_row){.addr = from->addr,
			.vlan_id = from->vlan_id,
			.state = listed_state(from, hot),
			.worker = (uint8_t)w->index,
			.age = (w->now - from->confirmed) / TICKS_PER_SECOND};
		memcpy(rows[n++].mac, from->mac, 6);
	}
	if (*place >= t->top)
		*place = UINT32_MAX;
	return n;
}
