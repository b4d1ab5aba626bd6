/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections that members did not take, told to weir-cp: a member's first at once, what follows within PERIOD
 * together at its end. Each counts once; what the event ring has no room for is told later.
 */
#include "l4/l4_internal.h"

#include "core/event.h"
#include "lb/lb.h"

#define PERIOD (TICKS_PER_SECOND / 10)
#define LOOK 8u /* places that a member may have */

static void place_tell(struct worker *w, struct failed_place *p)
{
	p->untold = false;
	p->told = w->now;
	for (unsigned kind = 0; kind < CONNECT_FAILURES; kind++) {
		struct event_row row = {.type = EVENT_CONNECT_FAILED,
			.object = p->member,
			.detail = p->count[kind],
			.kind = kind,
			.time = w->now_ns};
		if (p->count[kind] == 0)
			continue;
		if (event_ring_put(w->events, &row))
			p->count[kind] = 0;
		else
			p->untold = true;
		w->stat[WORKER_EVENTS]++;
	}
	w->wake = true;
}

/* The member's place, or else the one that was told of longest ago. */
static struct failed_place *place_of(struct worker *w, uint32_t member)
{
	struct failed_place *all = w->l4->failed.place, *oldest = NULL;

	for (unsigned i = 0; i < LOOK; i++) {
		struct failed_place *p = &all[(member * 0x9e3779b1u + i) % FAILED_PLACES];
		if (p->member == member)
			return p;
		if (!oldest || w->now - p->told > w->now - oldest->told)
			oldest = p;
	}
	if (oldest->untold)
		place_tell(w, oldest);
	*oldest = (struct failed_place){.member = member, .told = w->now - PERIOD};
	return oldest;
}

void l4_failed(struct worker *w, struct flow *flow, enum connect_failure kind)
{
	if (flow->member_id == ID_NONE || flow->marks & FLOW_FAILED)
		return;
	flow->marks |= FLOW_FAILED;
	struct failed_place *p = place_of(w, flow->member_id);
	p->count[kind]++;
	if (w->now - p->told >= PERIOD) {
		place_tell(w, p);
	} else {
		p->untold = true;
		w->l4->failed.untold = true;
	}
}

void l4_failed_house(struct worker *w)
{
	struct l4_failed *f = &w->l4->failed;

	if (!f->untold || w->now == f->visited)
		return;
	f->visited = w->now;
	f->untold = false;
	for (unsigned i = 0; i < FAILED_PLACES; i++) {
		struct failed_place *p = &f->place[i];
		if (p->untold && w->now - p->told >= PERIOD)
			place_tell(w, p);
		f->untold |= p->untold;
	}
}

bool l4_failed_silent(const struct worker *w, uint32_t index)
{
	const struct flow *flow = &w->flow->flows[index];
	const struct snap_member *member;

	if (flow->state != FLOW_SYN_SENT || flow->marks & FLOW_FAILED || w->view == NULL)
		return false;
	member = lb_member(w->view->lb, flow->member_id);
	if (member == NULL)
		return false;
	uint32_t wait =
		SNAP_ROWS(w->view->snap, SNAP_POOL, struct snap_pool)[member->pool].response_time;
	return wait != 0 && l4_second(w) - w->flow->cold[index].start >= wait;
}
