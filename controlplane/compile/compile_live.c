/* SPDX-License-Identifier: BSD-3-Clause */
#include "compile/compile.h"

#include "state/state.h"

static struct state_side side_of(
	const struct verdicts *verdicts, uint32_t id, const struct holds *holds)
{
	return (struct state_side){
		.holds = (uint8_t)holds_bits(holds), .verdict = verdicts_get(verdicts, id).verdict};
}

static void node_live(
	const struct verdicts *verdicts, const struct object *o, struct snap_live *out)
{
	const struct node *n = model_node(o);
	struct state_side own = side_of(verdicts, o->id, &n->live.holds);

	*out = (struct snap_live){
		.ratio = n->live.ratio,
		.dynamic_ratio = n->live.dynamic_ratio,
		.avail = state_of_server(&own, NULL).avail,
		.connection_limit = n->conf.connection_limit,
		.rate_limit = n->conf.rate_limit,
	};
}

static void member_live(const struct model *m, const struct verdicts *verdicts,
	const struct object *o, struct snap_live *out)
{
	const struct pool_member *p = model_pool_member(o);
	const struct node *n = model_node(model_get(m, p->conf.node));
	struct state_side own = side_of(verdicts, o->id, &p->live.holds);
	struct state_side parent = side_of(verdicts, p->conf.node, &n->live.holds);

	*out = (struct snap_live){
		.ratio = p->live.ratio,
		.dynamic_ratio = p->live.dynamic_ratio,
		.avail = state_of_server(&own, &parent).avail,
		.connection_limit = p->conf.connection_limit,
		.rate_limit = p->conf.rate_limit,
	};
}

bool compile_live(const struct model *m, const struct verdicts *verdicts, const struct object *o,
	struct live_row *out)
{
	*out = (struct live_row){.id = o->id};
	switch (o->kind) {
	case KIND_NODE:
		node_live(verdicts, o, &out->live);
		return true;
	case KIND_POOL_MEMBER:
		member_live(m, verdicts, o, &out->live);
		return true;
	case KIND_VIRTUAL:
		out->live = (struct snap_live){
			.ratio = 1,
			.dynamic_ratio = 1,
			.avail = model_virtual(o)->conf.enabled ? LIVE_BITS : 0,
			.connection_limit = model_virtual(o)->conf.connection_limit,
			.rate_limit = model_virtual(o)->conf.rate_limit,
		};
		return true;
	default:
		return false;
	}
}
