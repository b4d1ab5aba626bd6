/* SPDX-License-Identifier: BSD-3-Clause */
#include "compile/compile.h"

#include "state/state.h"

/* What its agent asks for; an agent that asks for nothing at all drains it. */
static uint8_t bits_of(const struct holds *holds, uint16_t agent_weight)
{
	return (uint8_t)(holds_bits(holds) | (agent_weight ? 0 : HOLD_SESSION));
}

struct state_side compile_side(const struct verdicts *verdicts, const struct object *o)
{
	struct state_side side = {.verdict = verdicts_get(verdicts, o->id).verdict};

	if (o->kind == KIND_NODE)
		side.holds = bits_of(&model_node(o)->live.holds, model_node(o)->live.agent_weight);
	else
		side.holds = bits_of(
			&model_pool_member(o)->live.holds, model_pool_member(o)->live.agent_weight);
	return side;
}

uint32_t compile_connection_limit(const struct object *o)
{
	bool node = o->kind == KIND_NODE;
	uint32_t own = node ? model_node(o)->conf.connection_limit
			    : model_pool_member(o)->conf.connection_limit;
	uint32_t agent = node ? model_node(o)->live.agent_connection_limit
			      : model_pool_member(o)->live.agent_connection_limit;

	return agent && (!own || agent < own) ? agent : own;
}

uint16_t compile_weighted(uint16_t ratio, uint16_t percent)
{
	uint32_t weighted = ((uint32_t)ratio * percent + 50) / 100;

	return weighted < 1 ? 1 : weighted > UINT16_MAX ? UINT16_MAX : (uint16_t)weighted;
}

static void node_live(
	const struct verdicts *verdicts, const struct object *o, struct snap_live *out)
{
	const struct node *n = model_node(o);
	struct state_side own = compile_side(verdicts, o);

	*out = (struct snap_live){
		.ratio = compile_weighted(n->live.ratio, n->live.agent_weight),
		.dynamic_ratio = compile_weighted(n->live.dynamic_ratio, n->live.agent_weight),
		.avail = state_of_server(&own, NULL).avail,
		.connection_limit = compile_connection_limit(o),
		.rate_limit = n->conf.rate_limit,
	};
}

static void member_live(const struct model *m, const struct verdicts *verdicts,
	const struct object *o, struct snap_live *out)
{
	const struct pool_member *p = model_pool_member(o);
	struct state_side own = compile_side(verdicts, o);
	struct state_side parent = compile_side(verdicts, model_get(m, p->conf.node));

	*out = (struct snap_live){
		.ratio = compile_weighted(p->live.ratio, p->live.agent_weight),
		.dynamic_ratio = compile_weighted(p->live.dynamic_ratio, p->live.agent_weight),
		.avail = state_of_server(&own, &parent).avail,
		.connection_limit = compile_connection_limit(o),
		.rate_limit = p->conf.rate_limit,
	};
}

static bool member_usable(
	const struct model *m, const struct verdicts *verdicts, const struct object *o)
{
	struct snap_live live;

	if (model_is_template(m, o))
		return false;
	member_live(m, verdicts, o, &live);
	return live.avail != 0;
}

void compile_count_virtual(const struct model *m, const struct verdicts *verdicts,
	const struct object *virtual, struct state_count *count)
{
	const struct virtual_conf *conf = &model_virtual(virtual)->conf;
	const struct object *pool = model_get(m, conf->pool), *o;
	struct state of_pool = {.availability = AVAILABILITY_BLUE};

	for (unsigned i = 0; pool && !of_pool.avail && (o = model_child_at(m, pool, i)); i++)
		if (member_usable(m, verdicts, o))
			of_pool.avail = LIVE_BITS;
	struct state s = state_of_virtual(conf->enabled, true, false, pool ? &of_pool : NULL);
	state_count_add(count, &s);
}

struct state compile_address_state(const struct object *vaddr, const struct state_count *virtuals)
{
	static const uint8_t scopes[] = {
		[VIRTUAL_ADDRESS_SERVER_SCOPE_ANY] = SCOPE_ANY,
		[VIRTUAL_ADDRESS_SERVER_SCOPE_ALL] = SCOPE_ALL,
		[VIRTUAL_ADDRESS_SERVER_SCOPE_NONE] = SCOPE_NONE,
	};
	const struct virtual_address_conf *conf = &model_virtual_address(vaddr)->conf;

	return state_of_address(conf->enabled, scopes[conf->server_scope], virtuals);
}

bool compile_live(const struct model *m, const struct verdicts *verdicts, const struct object *o,
	struct live_row *out)
{
	*out = (struct live_row){.id = o->id};
	if (model_is_template(m, o))
		return false;
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
