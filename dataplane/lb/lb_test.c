/* SPDX-License-Identifier: BSD-3-Clause */
#include "lb/lb.h"

#include <time.h>

#include "api/test_snapshot.h"
#include "lb/live.h"

enum { MEMBERS = 4, NODE_ID = 10, MEMBER_ID = 20, POOL_ID = 30 };

struct fixture {
	struct snap_header *snap;
	struct counters counters;
	struct lb_table *table;
};

static void setup(struct fixture *f, enum snap_lb method)
{
	const uint32_t counts[SNAP_KINDS] = {[SNAP_SETTINGS] = 1,
		[SNAP_NODE] = MEMBERS,
		[SNAP_POOL] = 1,
		[SNAP_MEMBER] = MEMBERS};

	f->snap = test_snapshot_new(counts);
	*TEST_ROW(f->snap, SNAP_POOL, struct snap_pool, 0) =
		(struct snap_pool){.id = POOL_ID, .lb = method, .members = MEMBERS};
	for (uint32_t i = 0; i < MEMBERS; i++) {
		struct snap_live live = test_live;
		live.ratio = (uint16_t)(MEMBERS - i);
		*TEST_ROW(f->snap, SNAP_NODE, struct snap_node, i) =
			(struct snap_node){.id = NODE_ID + i,
				.addr = ip_addr_v4(htobe32(0x0a000001 + i)),
				.live = live};
		*TEST_ROW(f->snap, SNAP_MEMBER, struct snap_member, i) = (struct snap_member){
			.id = MEMBER_ID + i, .node = i, .port = 80, .live = live};
	}
	test_snapshot_seal(f->snap);
	CHECK(counters_create(1, 64, &f->counters) >= 0);
	live_sync(f->snap, &f->counters);
	f->table = lb_table_new(f->snap, &f->counters, 1);
	CHECK(f->table != NULL);
}

static void teardown(struct fixture *f)
{
	lb_table_free(f->table);
	counters_unmap(&f->counters);
	free(f->snap);
}

static void picks(struct fixture *f, unsigned n, unsigned got[MEMBERS])
{
	enum drop_reason reason;

	memset(got, 0, MEMBERS * sizeof(*got));
	for (unsigned i = 0; i < n; i++) {
		uint32_t row = lb_pick(f->table, 0, 1, &reason);
		CHECK(row < MEMBERS);
		got[row]++;
	}
}

static void expect(const unsigned got[MEMBERS], unsigned a, unsigned b, unsigned c, unsigned d)
{
	CHECK_INT(got[0], a);
	CHECK_INT(got[1], b);
	CHECK_INT(got[2], c);
	CHECK_INT(got[3], d);
}

static uint32_t now = 100; /* s */

static void change(struct fixture *f, uint32_t id, uint16_t ratio, uint8_t avail, uint32_t limit)
{
	struct live_row row = {
		.id = id, .live = {.ratio = ratio, .avail = avail, .connection_limit = limit}};

	CHECK(live_apply(&f->counters, &row, now) != LIVE_UNKNOWN);
	CHECK(lb_touch(f->table, id));
	struct lb_garbage *g = lb_refresh(f->table, now);
	CHECK(g != NULL);
	lb_garbage_free(g);
}

static void test_methods(void)
{
	struct fixture f;
	unsigned got[MEMBERS];

	setup(&f, SNAP_LB_ROUND_ROBIN);
	picks(&f, 40, got);
	expect(got, 10, 10, 10, 10);
	teardown(&f);
	setup(&f, SNAP_LB_RATIO_MEMBER);
	picks(&f, 100, got);
	expect(got, 40, 30, 20, 10);
	teardown(&f);
	setup(&f, SNAP_LB_RATIO_NODE);
	picks(&f, 100, got);
	expect(got, 40, 30, 20, 10);
	change(&f, NODE_ID + 3, 31, LIVE_BITS, 0);
	picks(&f, 40, got);
	expect(got, 4, 3, 2, 31);
	change(&f, MEMBER_ID, 9, LIVE_BITS, 0);
	picks(&f, 40, got);
	expect(got, 4, 3, 2, 31);
	teardown(&f);
}

static void test_ratio_and_avail_change(void)
{
	struct fixture f;
	unsigned got[MEMBERS];

	setup(&f, SNAP_LB_RATIO_MEMBER);
	change(&f, MEMBER_ID + 3, 11, LIVE_BITS, 0);
	picks(&f, 20, got);
	expect(got, 4, 3, 2, 11);
	change(&f, MEMBER_ID + 0, 4, 0, 0);
	change(&f, MEMBER_ID + 1, 3, LIVE_PERSISTED, 0);
	picks(&f, 13, got);
	expect(got, 0, 0, 2, 11);
	for (unsigned i = 2; i < MEMBERS; i++)
		change(&f, MEMBER_ID + i, 1, 0, 0);
	enum drop_reason reason;
	CHECK(lb_pick(f.table, 0, 1, &reason) == SNAP_NIL);
	CHECK_INT(reason, DROP_NO_MEMBER);
	struct live_row unknown = {.id = 63, .live = test_live};
	CHECK_INT(live_apply(&f.counters, &unknown, 1), LIVE_UNKNOWN);
	unknown.id = id_make(MEMBER_ID, 1);
	CHECK_INT(live_apply(&f.counters, &unknown, 1), LIVE_UNKNOWN);
	teardown(&f);
}

static void test_limits(void)
{
	struct fixture f;
	unsigned got[MEMBERS];
	enum drop_reason reason;

	setup(&f, SNAP_LB_ROUND_ROBIN);
	change(&f, MEMBER_ID + 0, 1, LIVE_BITS, 3);
	change(&f, NODE_ID + 1, 1, LIVE_BITS, 5);
	change(&f, MEMBER_ID + 2, 1, 0, 0);
	change(&f, MEMBER_ID + 3, 1, LIVE_BITS, 2);
	picks(&f, 10, got);
	expect(got, 3, 5, 0, 2);
	CHECK(lb_pick(f.table, 0, 1, &reason) == SNAP_NIL);
	CHECK_INT(reason, DROP_CONNECTION_LIMIT);
	CHECK(!lb_release(&f.counters, MEMBER_ID + 1));
	picks(&f, 1, got);
	expect(got, 0, 1, 0, 0);
	for (unsigned i = 0; i < 3; i++)
		CHECK_INT(lb_release(&f.counters, MEMBER_ID), i == 2);
	CHECK_INT(f.counters.shared[NODE_ID].current, 0);
	CHECK_INT(f.counters.shared[MEMBER_ID].maximum, 3);
	teardown(&f);
}

static void test_rate_limit(void)
{
	struct counter_shared line = {.rate_limit = 3};
	unsigned admitted = 0;

	for (unsigned i = 0; i < 10; i++)
		admitted += lb_admit(&line, 7) == LB_ADMITTED;
	CHECK_INT(admitted, 3);
	CHECK_INT(line.current, 3);
	CHECK_INT(lb_admit(&line, 7), DROP_RATE_LIMIT);
	CHECK_INT(lb_admit(&line, 8), LB_ADMITTED);
	/* a worker that still lives in second 7 takes none back */
	admitted = 0;
	for (unsigned i = 0; i < 10; i++)
		admitted += lb_admit(&line, 7 + i % 2) == LB_ADMITTED;
	CHECK_INT(admitted, 2);
}

/* Connections to a full pool cost about as much as others, however long its schedule is. */
static void test_full_pool_is_cheap(void)
{
	struct fixture f;
	unsigned got[MEMBERS];
	enum drop_reason reason;
	struct timespec spent, before;

	setup(&f, SNAP_LB_RATIO_MEMBER);
	for (unsigned i = 0; i < MEMBERS; i++)
		change(&f, MEMBER_ID + i, i ? 1 : 65000, LIVE_BITS, i + 1);
	picks(&f, 10, got); /* the last ones stand far behind in the schedule */
	expect(got, 1, 2, 3, 4);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
	for (unsigned i = 0; i < 20000; i++)
		CHECK(lb_pick(f.table, 0, 1, &reason) == SNAP_NIL);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
	CHECK_INT(reason, DROP_CONNECTION_LIMIT);
	CHECK(spent.tv_sec - before.tv_sec <= 1);
	teardown(&f);
}

static void test_least_connections(void)
{
	struct fixture f;
	unsigned got[MEMBERS];

	setup(&f, SNAP_LB_LEAST_CONNECTIONS_MEMBER);
	picks(&f, 8, got);
	expect(got, 2, 2, 2, 2);
	lb_release(&f.counters, MEMBER_ID + 2);
	lb_release(&f.counters, MEMBER_ID + 2);
	picks(&f, 2, got);
	expect(got, 0, 0, 2, 0);
	change(&f, MEMBER_ID + 1, 1, LIVE_BITS, 2);
	picks(&f, 3, got);
	expect(got, 1, 0, 1, 1);
	for (unsigned i = 0; i < MEMBERS; i++)
		change(&f, MEMBER_ID + i, 1, LIVE_BITS, 1);
	enum drop_reason reason;
	CHECK(lb_pick(f.table, 0, 1, &reason) == SNAP_NIL);
	CHECK_INT(reason, DROP_CONNECTION_LIMIT);
	teardown(&f);
}

/* Moves time on; the pool is rebuilt if that changes it. */
static bool pass(struct fixture *f, uint32_t seconds)
{
	now += seconds;
	lb_tick(f->table, now);
	struct lb_garbage *g = lb_refresh(f->table, now);
	bool changed = g != NULL;
	lb_garbage_free(g);
	return changed;
}

static struct snap_pool *pool_row(struct fixture *f)
{
	return TEST_ROW(f->snap, SNAP_POOL, struct snap_pool, 0);
}

/* A member that comes back has half its share after half the time, and all of it afterwards. */
static void test_slow_ramp(void)
{
	struct fixture f;
	unsigned got[MEMBERS];

	setup(&f, SNAP_LB_ROUND_ROBIN);
	pool_row(&f)->slow_ramp = 40;
	change(&f, MEMBER_ID, 1, 0, 0);
	change(&f, MEMBER_ID, 1, LIVE_BITS, 0);
	CHECK(pass(&f, 20));
	picks(&f, 70, got);
	expect(got, 10, 20, 20, 20);
	CHECK(pass(&f, 10));
	picks(&f, 150, got);
	expect(got, 30, 40, 40, 40);
	CHECK(pass(&f, 10));
	CHECK(!pass(&f, 10));
	picks(&f, 40, got);
	expect(got, 10, 10, 10, 10);
	teardown(&f);
}

static void test_priority_groups(void)
{
	struct fixture f;
	unsigned got[MEMBERS];

	setup(&f, SNAP_LB_ROUND_ROBIN);
	pool_row(&f)->min_active = 2;
	for (uint32_t i = 0; i < MEMBERS; i++)
		TEST_ROW(f.snap, SNAP_MEMBER, struct snap_member, i)->priority_group =
			i < 2 ? 20 : 10;
	change(&f, MEMBER_ID, 1, LIVE_BITS, 10);
	picks(&f, 10, got);
	expect(got, 5, 5, 0, 0);
	/* One of the two goes: the lower group joins, whole. */
	change(&f, MEMBER_ID + 1, 1, 0, 0);
	picks(&f, 9, got);
	expect(got, 3, 0, 3, 3);
	change(&f, MEMBER_ID + 1, 1, LIVE_BITS, 0);
	picks(&f, 4, got);
	expect(got, 2, 2, 0, 0);
	/* A member at its limit is not active either. */
	CHECK_INT(f.counters.shared[MEMBER_ID].current, 10);
	CHECK(pass(&f, 1));
	picks(&f, 8, got);
	CHECK_INT(got[0], 0);
	CHECK(got[1] >= 2 && got[2] == 2 && got[3] == 2);
	teardown(&f);
}

int main(void)
{
	test_slow_ramp();
	test_priority_groups();
	test_methods();
	test_ratio_and_avail_change();
	test_limits();
	test_rate_limit();
	test_least_connections();
	test_full_pool_is_cheap();
	return 0;
}
