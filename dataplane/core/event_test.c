/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/test_eal.h"

static void put(struct worker *w, unsigned first, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		worker_event(w, EVENT_CONNECTIONS_ZERO, first + i, 0, NULL, NULL);
}

static void test_fields(struct worker *w)
{
	const struct ip_addr addr = ip_addr_v4(0x0100000a);
	const uint8_t mac[6] = {2, 0, 0, 0, 0, 9};
	struct event_row row[4];
	uint64_t lost;

	worker_clock(w, 123456789);
	worker_event(w, EVENT_ADDRESS_CONFLICT, 7, 8, &addr, mac);
	CHECK_INT(event_ring_take(w->events, row, 4, &lost), 1);
	CHECK_INT(lost, 0);
	CHECK_INT(row[0].type, EVENT_ADDRESS_CONFLICT);
	CHECK_INT(row[0].object, 7);
	CHECK_INT(row[0].detail, 8);
	CHECK_INT(row[0].time, 123456789);
	CHECK(ip_equal(&row[0].addr, &addr));
	CHECK(memcmp(row[0].mac, mac, 6) == 0);
	CHECK_INT(event_ring_take(w->events, row, 4, &lost), 0);
	CHECK_INT(lost, 0);
}

/* Ring full, three lost, then more: the gap shows before the first row behind it. */
static void test_gap_in_between(struct worker *w)
{
	static struct event_row row[EVENT_RING_ROWS];
	uint64_t lost;

	put(w, 0, EVENT_RING_ROWS + 3);
	CHECK_INT(event_ring_take(w->events, row, 1, &lost), 1);
	put(w, 5000, 1);
	CHECK_INT(lost, 0);
	CHECK_INT(event_ring_take(w->events, row, EVENT_RING_ROWS, &lost), EVENT_RING_ROWS - 1);
	CHECK_INT(lost, 0);
	CHECK_INT(row[EVENT_RING_ROWS - 2].object, EVENT_RING_ROWS - 1);
	CHECK_INT(event_ring_take(w->events, row, EVENT_RING_ROWS, &lost), 1);
	CHECK_INT(lost, 3);
	CHECK_INT(row[0].object, 5000);
	CHECK_INT(event_ring_take(w->events, row, EVENT_RING_ROWS, &lost), 0);
	CHECK_INT(lost, 0);
}

/* Nothing comes after the lost ones: they are reported all the same, once. */
static void test_gap_at_end(struct worker *w)
{
	static struct event_row row[EVENT_RING_ROWS];
	uint64_t lost;

	put(w, 0, EVENT_RING_ROWS + 9);
	CHECK_INT(event_ring_take(w->events, row, EVENT_RING_ROWS, &lost), EVENT_RING_ROWS);
	CHECK_INT(lost, 0);
	CHECK_INT(event_ring_take(w->events, row, EVENT_RING_ROWS, &lost), 0);
	CHECK_INT(lost, 9);
	CHECK_INT(event_ring_take(w->events, row, EVENT_RING_ROWS, &lost), 0);
	CHECK_INT(lost, 0);
}

int main(void)
{
	struct worker *w[1];

	test_eal_init(64);
	test_workers_new(w, 1, 8);
	test_fields(w[0]);
	test_gap_in_between(w[0]);
	test_gap_at_end(w[0]);
	CHECK(w[0]->stat[WORKER_EVENTS] > 2 * EVENT_RING_ROWS);
	test_workers_free(w, 1);
	return 0;
}
