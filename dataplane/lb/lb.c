/* SPDX-License-Identifier: BSD-3-Clause */
#include "lb/lb.h"

#include <stdlib.h>
#include <string.h>

#include "api/message.h"
#include "lb/method.h"

static const struct lb_method *const methods[SNAP_LB_COUNT] = {
	[SNAP_LB_ROUND_ROBIN] = &lb_round_robin,
	[SNAP_LB_RATIO_MEMBER] = &lb_ratio_member,
	[SNAP_LB_RATIO_NODE] = &lb_ratio_node,
	[SNAP_LB_LEAST_CONNECTIONS_MEMBER] = &lb_least_connections_member,
};

#define PICK_TRIES 32u /* entries of the schedule that one connection asks */

struct lb_table {
	struct lb_context context;
	uint32_t pools;
	uint32_t touched;	  /* pools marked */
	uint32_t ticked;	  /* second of the last lb_tick */
	bool limited;		  /* some pool has priority groups */
	uint32_t *member_of_slot; /* id slot -> member row */
	uint32_t *node_of_slot;
	uint32_t slots;
	uint32_t *node_first;  /* node row -> first of its members in node_member */
	uint32_t *node_member; /* member rows, by node */
	struct lb_pool pool[];
};

struct lb_garbage {
	struct lb_garbage *next;
	struct schedule *schedule;
};

static bool usable(const struct lb_context *c, const struct snap_member *m)
{
	return lb_line(c, m->id)->avail & LIVE_NEW;
}

static bool below_limit(const struct counter_shared *line)
{
	uint32_t limit = __atomic_load_n(&line->limit, __ATOMIC_RELAXED);

	return limit == 0 || __atomic_load_n(&line->current, __ATOMIC_RELAXED) < limit;
}

/* Active, as priority groups count: usable and below its own and its node's limit. */
static bool active(const struct lb_context *c, const struct snap_member *m)
{
	return usable(c, m) && below_limit(lb_line(c, m->id)) &&
	       below_limit(lb_line(c, c->nodes[m->node].id));
}

/* The highest priority group below `above` that has an active member, and how many it has. */
static bool next_group(const struct lb_context *c, const struct snap_pool *row, uint32_t above,
	uint16_t *group, uint32_t *count)
{
	bool found = false;

	for (uint32_t i = 0; i < row->members; i++) {
		const struct snap_member *m = &c->members[row->first_member + i];
		if (m->priority_group >= above || !active(c, m))
			continue;
		if (!found || m->priority_group > *group) {
			*group = m->priority_group;
			*count = 0;
			found = true;
		}
		*count += m->priority_group == *group;
	}
	return found;
}

/* The lowest priority group that takes part: groups join from the top until enough members are active. */
static uint16_t lowest_group(const struct lb_context *c, const struct snap_pool *row)
{
	uint32_t total = 0, count = 0, above = UINT32_MAX;
	uint16_t group = 0;

	if (row->min_active == 0)
		return 0;
	while (total < row->min_active && next_group(c, row, above, &group, &count)) {
		total += count;
		above = group;
	}
	return total < row->min_active ? 0 : group;
}

static bool has_limit(const struct lb_context *c, const struct snap_pool *row)
{
	for (uint32_t i = 0; i < row->members; i++) {
		const struct snap_member *m = &c->members[row->first_member + i];
		if (lb_line(c, m->id)->limit != 0 || lb_line(c, c->nodes[m->node].id)->limit != 0)
			return true;
	}
	return false;
}

/* A member's share of its weight in 32nds. One that came up less than slow_ramp ago has grown into as
 * much of it as of the time; afterwards its ramp is forgotten. */
static uint8_t ramp_share(struct counter_shared *line, uint32_t slow_ramp, uint32_t second)
{
	uint32_t age = second - line->ramp_since;

	if (line->ramp_since == 0)
		return 0;
	if (age >= slow_ramp) {
		line->ramp_since = 0;
		return 0;
	}
	uint8_t share = (uint8_t)((uint64_t)age * LB_RAMP / slow_ramp);
	return share ? share : 1;
}

/* Brings the ramps of a pool's members up to date; true if any is under way. */
static bool ramps_set(const struct lb_context *c, const struct snap_pool *row, uint32_t second)
{
	bool any = false;

	for (uint32_t i = 0; i < row->members; i++) {
		struct counter_shared *line = lb_line(c, c->members[row->first_member + i].id);
		uint8_t share = ramp_share(line, row->slow_ramp, second);
		__atomic_store_n(&line->ramp, share, __ATOMIC_RELAXED);
		any |= share != 0;
	}
	return any;
}

static struct schedule *schedule_of(const struct lb_table *t, struct lb_pool *p, uint32_t second)
{
	const struct lb_context *c = &t->context;
	uint32_t n = 0, total = p->row->members;
	uint32_t *rows = malloc((total + 1) * sizeof(*rows) * 2), *weights = rows + total + 1;
	struct schedule *s = NULL;

	if (rows == NULL)
		return NULL;
	p->ramping = ramps_set(c, p->row, second);
	p->limited = p->row->min_active != 0 && has_limit(c, p->row);
	p->lowest = lowest_group(c, p->row);
	for (uint32_t i = 0; i < total; i++) {
		const struct snap_member *m = &c->members[p->row->first_member + i];
		if (!usable(c, m) || m->priority_group < p->lowest)
			continue;
		uint32_t weight = p->method->weight(c, m), share = lb_line(c, m->id)->ramp;
		rows[n] = p->row->first_member + i;
		weights[n] = weight ? weight : 1;
		if (p->ramping)
			weights[n] *= share ? share : LB_RAMP;
		n++;
	}
	s = schedule_new(rows, weights, n);
	free(rows);
	return s;
}

static uint32_t highest_slot(const struct lb_context *c)
{
	uint32_t highest = 0;

	for (uint32_t i = 0; i < SNAP_COUNT(c->snap, SNAP_MEMBER); i++)
		if (id_slot(c->members[i].id) > highest)
			highest = id_slot(c->members[i].id);
	for (uint32_t i = 0; i < SNAP_COUNT(c->snap, SNAP_NODE); i++)
		if (id_slot(c->nodes[i].id) > highest)
			highest = id_slot(c->nodes[i].id);
	return highest;
}

/* Maps from ids to rows and from nodes to their members. */
static int index_build(struct lb_table *t)
{
	const struct lb_context *c = &t->context;
	uint32_t members = SNAP_COUNT(c->snap, SNAP_MEMBER), nodes = SNAP_COUNT(c->snap, SNAP_NODE);

	t->slots = highest_slot(c) + 1;
	t->member_of_slot = malloc(t->slots * sizeof(uint32_t));
	t->node_of_slot = malloc(t->slots * sizeof(uint32_t));
	t->node_first = calloc(nodes + 2, sizeof(uint32_t));
	t->node_member = malloc((members + 1) * sizeof(uint32_t));
	if (!t->member_of_slot || !t->node_of_slot || !t->node_first || !t->node_member)
		return -1;
	memset(t->member_of_slot, 0xff, t->slots * sizeof(uint32_t));
	memset(t->node_of_slot, 0xff, t->slots * sizeof(uint32_t));
	for (uint32_t i = 0; i < nodes; i++)
		t->node_of_slot[id_slot(c->nodes[i].id)] = i;
	for (uint32_t i = 0; i < members; i++) {
		t->member_of_slot[id_slot(c->members[i].id)] = i;
		t->node_first[c->members[i].node + 2]++;
	}
	for (uint32_t i = 2; i < nodes + 2; i++)
		t->node_first[i] += t->node_first[i - 1];
	/* After this, node_first[n + 1] has moved to the end of n's members: the start of n + 1's. */
	for (uint32_t i = 0; i < members; i++)
		t->node_member[t->node_first[c->members[i].node + 1]++] = i;
	return 0;
}

struct lb_table *lb_table_new(
	const struct snap_header *snap, const struct counters *counters, uint32_t second)
{
	const struct snap_pool *rows = SNAP_ROWS(snap, SNAP_POOL, struct snap_pool);
	uint32_t n = SNAP_COUNT(snap, SNAP_POOL);
	struct lb_table *t = calloc(1, sizeof(*t) + n * sizeof(t->pool[0]));

	if (t == NULL)
		return NULL;
	t->context = (struct lb_context){snap, counters,
		SNAP_ROWS(snap, SNAP_MEMBER, struct snap_member),
		SNAP_ROWS(snap, SNAP_NODE, struct snap_node)};
	t->pools = n;
	if (index_build(t) < 0) {
		lb_table_free(t);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct lb_pool *p = &t->pool[i];
		p->row = &rows[i];
		p->method = methods[rows[i].lb];
		p->line = &counters->shared[id_slot(rows[i].id)];
		t->limited |= rows[i].min_active != 0;
		p->schedule = schedule_of(t, p, second);
		if (p->schedule == NULL) {
			lb_table_free(t);
			return NULL;
		}
	}
	return t;
}

void lb_table_free(struct lb_table *t)
{
	if (t == NULL)
		return;
	for (uint32_t i = 0; i < t->pools; i++)
		schedule_free(t->pool[i].schedule);
	free(t->member_of_slot);
	free(t->node_of_slot);
	free(t->node_first);
	free(t->node_member);
	free(t);
}

static void pool_touch(struct lb_table *t, uint32_t pool)
{
	t->touched += !t->pool[pool].touched;
	t->pool[pool].touched = true;
}

bool lb_touch(struct lb_table *t, uint32_t id)
{
	const struct lb_context *c = &t->context;
	uint32_t slot = id_slot(id);

	if (slot >= t->slots)
		return false;
	uint32_t member = t->member_of_slot[slot], node = t->node_of_slot[slot];
	if (member != SNAP_NIL && c->members[member].id == id) {
		pool_touch(t, c->members[member].pool);
		return true;
	}
	if (node == SNAP_NIL || c->nodes[node].id != id)
		return false;
	for (uint32_t i = t->node_first[node]; i < t->node_first[node + 1]; i++)
		pool_touch(t, c->members[t->node_member[i]].pool);
	return true;
}

void lb_tick(struct lb_table *t, uint32_t second)
{
	if (second == t->ticked && !t->limited)
		return;
	for (uint32_t i = 0; i < t->pools; i++) {
		struct lb_pool *p = &t->pool[i];
		if (p->ramping && second != t->ticked)
			pool_touch(t, i);
		else if (p->limited && lowest_group(&t->context, p->row) != p->lowest)
			pool_touch(t, i);
	}
	t->ticked = second;
}

struct lb_garbage *lb_refresh(struct lb_table *t, uint32_t second)
{
	struct lb_garbage *garbage = NULL;

	for (uint32_t i = 0; i < t->pools && t->touched > 0; i++) {
		struct lb_pool *p = &t->pool[i];
		if (!p->touched)
			continue;
		struct lb_garbage *g = malloc(sizeof(*g));
		struct schedule *s = g ? schedule_of(t, p, second) : NULL;
		if (s == NULL) {
			free(g);
			break;
		}
		*g = (struct lb_garbage){garbage, p->schedule};
		garbage = g;
		__atomic_store_n(&p->schedule, s, __ATOMIC_RELEASE);
		p->touched = false;
		t->touched--;
	}
	return garbage;
}

void lb_garbage_free(struct lb_garbage *g)
{
	while (g != NULL) {
		struct lb_garbage *next = g->next;
		schedule_free(g->schedule);
		free(g);
		g = next;
	}
}

static enum drop_reason rate_admit(struct counter_shared *o, uint32_t limit, uint32_t second)
{
	uint64_t window = __atomic_load_n(&o->rate_window, __ATOMIC_RELAXED), next;

	do {
		uint32_t count = 0, in = (uint32_t)(window >> 32);
		/* Another worker may be in the next second already: there is no way back. */
		if ((int32_t)(in - second) >= 0) {
			second = in;
			count = (uint32_t)window;
		}
		if (count >= limit)
			return DROP_RATE_LIMIT;
		next = (uint64_t)second << 32 | (count + 1);
	} while (!__atomic_compare_exchange_n(
		&o->rate_window, &window, next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return LB_ADMITTED;
}

enum drop_reason lb_admit(struct counter_shared *o, uint32_t second)
{
	uint32_t limit = __atomic_load_n(&o->limit, __ATOMIC_RELAXED);
	uint32_t rate = __atomic_load_n(&o->rate_limit, __ATOMIC_RELAXED);
	uint32_t now = __atomic_load_n(&o->current, __ATOMIC_RELAXED);

	do {
		if (limit != 0 && now >= limit)
			return DROP_CONNECTION_LIMIT;
	} while (!__atomic_compare_exchange_n(
		&o->current, &now, now + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	if (rate != 0 && rate_admit(o, rate, second) != LB_ADMITTED) {
		__atomic_fetch_sub(&o->current, 1, __ATOMIC_RELAXED);
		return DROP_RATE_LIMIT;
	}
	uint32_t highest = __atomic_load_n(&o->maximum, __ATOMIC_RELAXED);
	while (now + 1 > highest && !__atomic_compare_exchange_n(&o->maximum, &highest, now + 1,
					    false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return LB_ADMITTED;
}

/* Counts on the member and its node, or on neither. */
static enum drop_reason member_admit(const struct lb_context *c, uint32_t row, uint32_t second)
{
	struct counter_shared *member = lb_line(c, c->members[row].id);
	struct counter_shared *node = lb_line(c, c->nodes[c->members[row].node].id);
	enum drop_reason reason = lb_admit(member, second);

	if (reason != LB_ADMITTED)
		return reason;
	reason = lb_admit(node, second);
	if (reason != LB_ADMITTED)
		__atomic_fetch_sub(&member->current, 1, __ATOMIC_RELAXED);
	return reason;
}

/* The schedule led to full members only: each of the pool's is asked once. Going on through a long schedule
 * would let whoever fills a pool use up the worker's time. */
static uint32_t pick_any(const struct lb_table *t, const struct lb_pool *p, uint64_t ticket,
	uint32_t second, enum drop_reason *reason)
{
	const struct lb_context *c = &t->context;

	for (uint32_t i = 0; i < p->row->members; i++) {
		uint32_t row = p->row->first_member + (uint32_t)((ticket + i) % p->row->members);
		if (!(__atomic_load_n(&lb_line(c, c->members[row].id)->avail, __ATOMIC_RELAXED) &
			    LIVE_NEW))
			continue;
		*reason = member_admit(c, row, second);
		if (*reason == LB_ADMITTED)
			return row;
	}
	return SNAP_NIL;
}

uint32_t lb_pick(const struct lb_table *t, uint32_t pool, uint32_t second, enum drop_reason *reason)
{
	const struct lb_pool *p = &t->pool[pool];
	const struct schedule *s = __atomic_load_n(&p->schedule, __ATOMIC_ACQUIRE);

	*reason = DROP_NO_MEMBER;
	if (s->length == 0)
		return SNAP_NIL;
	uint64_t ticket = __atomic_fetch_add(&p->line->cursor, 1, __ATOMIC_RELAXED);
	for (uint32_t skip = 0; skip < PICK_TRIES; skip++) {
		uint32_t row = p->method->pick(&t->context, s, ticket, skip);
		if (row == SNAP_NIL)
			break;
		*reason = member_admit(&t->context, row, second);
		if (*reason == LB_ADMITTED)
			return row;
	}
	return pick_any(t, p, ticket, second, reason);
}

static bool count_down(const struct counters *counters, uint32_t id)
{
	struct counter_shared *line = &counters->shared[id_slot(id)];

	return line->id == id && __atomic_sub_fetch(&line->current, 1, __ATOMIC_RELAXED) == 0;
}

bool lb_release(const struct counters *counters, uint32_t id)
{
	uint32_t parent = counters->shared[id_slot(id)].parent;
	bool ours = counters->shared[id_slot(id)].id == id;
	bool zero = count_down(counters, id);

	if (ours && parent != ID_NONE)
		count_down(counters, parent);
	return zero;
}

const struct snap_member *lb_member(const struct lb_table *t, uint32_t id)
{
	uint32_t slot = id_slot(id);

	if (slot >= t->slots || t->member_of_slot[slot] == SNAP_NIL)
		return NULL;
	const struct snap_member *m = &t->context.members[t->member_of_slot[slot]];
	return m->id == id ? m : NULL;
}
