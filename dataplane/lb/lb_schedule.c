/* SPDX-License-Identifier: BSD-3-Clause */
/* Methods that follow a fixed order: round robin, ratio by member, ratio by node. */
#include "lb/method.h"

static uint32_t weight_equal(const struct lb_context *c, const struct snap_member *member)
{
	(void)c;
	(void)member;
	return 1;
}

static uint32_t weight_member(const struct lb_context *c, const struct snap_member *member)
{
	return lb_line(c, member->id)->ratio;
}

static uint32_t weight_node(const struct lb_context *c, const struct snap_member *member)
{
	return lb_line(c, c->nodes[member->node].id)->ratio;
}

static uint32_t pick_next(
	const struct lb_context *c, const struct schedule *s, uint64_t ticket, uint32_t skip)
{
	(void)c;
	return skip < s->length ? s->entry[(ticket % s->length + skip) % s->length] : SNAP_NIL;
}

const struct lb_method lb_round_robin = {weight_equal, pick_next};
const struct lb_method lb_ratio_member = {weight_member, pick_next};
const struct lb_method lb_ratio_node = {weight_node, pick_next};
