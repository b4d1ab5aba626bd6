/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/event.h"

#include <stdlib.h>

#include <rte_ring_elem.h>

#include "core/worker.h"

struct event_slot {
	uint64_t number;
	struct event_row row;
};

struct event_ring {
	struct rte_ring *ring;
	uint64_t next; /* number of the next event; the worker stores, the control thread loads */
	uint64_t expected;	/* number of the next event to be taken; control thread only */
	struct event_slot held; /* taken from the ring, but behind a gap; control thread only */
	bool holding;
};

struct event_ring *event_ring_new(unsigned worker)
{
	char name[RTE_RING_NAMESIZE];
	struct event_ring *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	snprintf(name, sizeof(name), "events_%u", worker);
	r->ring = rte_ring_create_elem(name, sizeof(struct event_slot), EVENT_RING_ROWS,
		SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	if (!r->ring) {
		free(r);
		return NULL;
	}
	return r;
}

void event_ring_free(struct event_ring *r)
{
	if (!r)
		return;
	rte_ring_free(r->ring);
	free(r);
}

bool event_ring_put(struct event_ring *r, const struct event_row *row)
{
	struct event_slot slot = {.number = r->next, .row = *row};
	bool kept = rte_ring_sp_enqueue_elem(r->ring, &slot, sizeof(slot)) == 0;

	/* After the row itself: who sees the number finds the row, or knows that there is none. */
	__atomic_store_n(&r->next, r->next + 1, __ATOMIC_RELEASE);
	return kept;
}

static bool next_slot(struct event_ring *r, struct event_slot *out)
{
	if (r->holding) {
		*out = r->held;
		r->holding = false;
		return true;
	}
	return rte_ring_sc_dequeue_elem(r->ring, out, sizeof(*out)) == 0;
}

unsigned event_ring_take(struct event_ring *r, struct event_row *out, unsigned max, uint64_t *lost)
{
	uint64_t next = __atomic_load_n(&r->next, __ATOMIC_ACQUIRE);
	struct event_slot slot;
	unsigned n = 0;

	*lost = 0;
	while (n < max && next_slot(r, &slot)) {
		if (slot.number != r->expected) {
			if (n > 0) {
				r->held = slot;
				r->holding = true;
				return n;
			}
			*lost = slot.number - r->expected;
		}
		r->expected = slot.number + 1;
		out[n++] = slot.row;
	}
	/* The ring is empty and what had a number below `next` is not in it: lost at the end. */
	if (n == 0 && max > 0 && r->expected < next) {
		*lost = next - r->expected;
		r->expected = next;
	}
	return n;
}

void worker_event(struct worker *w, uint32_t type, uint32_t object, uint32_t detail,
	const struct ip_addr *addr, const uint8_t mac[6])
{
	struct event_row row = {
		.type = type,
		.object = object,
		.detail = detail,
		.time = w->now_ns,
	};

	if (addr)
		row.addr = *addr;
	if (mac)
		memcpy(row.mac, mac, sizeof(row.mac));
	event_ring_put(w->events, &row);
	w->wake = true;
	w->stat[WORKER_EVENTS]++;
}
