/* SPDX-License-Identifier: BSD-3-Clause */
/* Fewest current connections; among equals the rotation decides. */
#include "lb/method.h"

static uint32_t weight_equal(const struct lb_context *c, const struct snap_member *member)
{
	(void)c;
	(void)member;
	return 1;
}

/* Connections now, seen as more the less of its slow ramp a member has behind it: one that came up a
 * moment ago is not flooded because it has none. */
static uint64_t burden(const struct counter_shared *line, uint32_t now)
{
	uint8_t share = __atomic_load_n(&line->ramp, __ATOMIC_RELAXED);

	return share ? ((uint64_t)now + 1) * LB_RAMP / share : (uint64_t)now + 1;
}

/* A member that took no connection is at its limit, or raced to it: the next try looks on behind it. */
static uint32_t pick_least(
	const struct lb_context *c, const struct schedule *s, uint64_t ticket, uint32_t skip)
{
	uint32_t best = SNAP_NIL;
	uint64_t fewest = UINT64_MAX;

	if (skip >= s->length)
		return SNAP_NIL;
	if (skip > 0)
		return s->entry[(ticket % s->length + skip) % s->length];
	for (uint32_t i = 0; i < s->length; i++) {
		uint32_t row = s->entry[(ticket % s->length + i) % s->length];
		const struct counter_shared *line = lb_line(c, c->members[row].id);
		uint32_t limit = __atomic_load_n(&line->limit, __ATOMIC_RELAXED);
		uint32_t now = __atomic_load_n(&line->current, __ATOMIC_RELAXED);
		if ((limit != 0 && now >= limit) || burden(line, now) >= fewest)
			continue;
		fewest = burden(line, now);
		best = row;
	}
	return best;
}

const struct lb_method lb_least_connections_member = {weight_equal, pick_least};
