/* SPDX-License-Identifier: BSD-3-Clause */
/* State and statistics of nodes, pools, members, virtual servers and addresses. */
#include <stdlib.h>
#include <string.h>

#include "compile/compile.h"
#include "compile/compile.h"
#include "main/cp.h"

/* Statistics of one object or the sum of several. "In" is towards the servers. */
struct totals {
	bool known; /* a dataplane is connected */
	uint64_t now, max, total, bytes_in, bytes_out, packets_in, packets_out;
	uint64_t refused, resets, timeouts;
};

static void totals_add(struct totals *t, const struct cp *cp, uint32_t id)
{
	const struct counters *c = dplink_counters(cp->link);
	uint32_t slot = id_slot(id);

	t->known = c != NULL;
	/* Another id in its line: the dataplane does not have the object yet. */
	if (!c || slot >= c->header->slots || c->shared[slot].id != id)
		return;
	t->now += __atomic_load_n(&c->shared[slot].current, __ATOMIC_RELAXED);
	t->max += __atomic_load_n(&c->shared[slot].maximum, __ATOMIC_RELAXED);
	t->total += counters_object_sum(c, slot, OBJECT_CONNECTIONS);
	t->bytes_in += counters_object_sum(c, slot, OBJECT_CLIENT_BYTES_IN);
	t->bytes_out += counters_object_sum(c, slot, OBJECT_CLIENT_BYTES_OUT);
	t->packets_in += counters_object_sum(c, slot, OBJECT_CLIENT_PACKETS_IN);
	t->packets_out += counters_object_sum(c, slot, OBJECT_CLIENT_PACKETS_OUT);
	t->refused += counters_object_sum(c, slot, OBJECT_REFUSED);
	t->resets += counters_object_sum(c, slot, OBJECT_RESETS);
	t->timeouts += counters_object_sum(c, slot, OBJECT_TIMEOUTS);
}

static void put_number(json_t *row, const char *prefix, const char *name, uint64_t value)
{
	char key[64];

	snprintf(key, sizeof(key), "%s%s", prefix, name);
	json_object_set_new(row, key, json_integer((json_int_t)value));
}

static void put_text(json_t *row, const char *key, const char *value)
{
	json_object_set_new(row, key, ipc_text_new(value, strlen(value)));
}

static void put_totals(json_t *row, const char *side, const struct totals *t)
{
	if (!t->known)
		return;
	put_number(row, side, "curConns", t->now);
	put_number(row, side, "maxConns", t->max);
	put_number(row, side, "totConns", t->total);
	put_number(row, side, "bitsIn", t->bytes_in * 8);
	put_number(row, side, "bitsOut", t->bytes_out * 8);
	put_number(row, side, "pktsIn", t->packets_in);
	put_number(row, side, "pktsOut", t->packets_out);
	put_number(row, "", "refused", t->refused);
	put_number(row, "", "resets", t->resets);
	put_number(row, "", "timeouts", t->timeouts);
}

static void put_state(json_t *row, const struct state *s, bool server)
{
	put_text(row, "status.availabilityState", state_availability_name(s->availability));
	put_text(row, "status.color", state_colour_name(s->availability));
	put_text(row, "status.enabledState", state_enabled_name(s->enabled));
	put_text(row, "status.statusReason", s->reason);
	if (!server)
		return;
	put_text(row, "monitorStatus", state_monitor_name(s->monitor));
	put_text(row, "sessionStatus", state_session_name(s->session));
}

static void put_addr(json_t *row, const char *key, const struct ip_addr *addr)
{
	char text[IP_ADDR_TEXT];

	put_text(row, key, ip_format(addr, text));
}

/* What is configured, what holds it, and what its agent asks for. */
struct server_fields {
	uint16_t ratio, dynamic_ratio, agent_weight;
	uint32_t limit, agent_limit, agent_said;
	const struct holds *holds;
};

static struct server_fields server_fields(const struct object *o)
{
	if (o->kind == KIND_NODE) {
		const struct node *n = model_node(o);

		return (struct server_fields){n->live.ratio, n->live.dynamic_ratio,
			n->live.agent_weight, n->conf.connection_limit,
			n->live.agent_connection_limit, n->live.agent_said, &n->live.holds};
	}
	const struct pool_member *m = model_pool_member(o);

	return (struct server_fields){m->live.ratio, m->live.dynamic_ratio, m->live.agent_weight,
		m->conf.connection_limit, m->live.agent_connection_limit, m->live.agent_said,
		&m->live.holds};
}

static json_t *holds_rows(const struct cp *cp, const struct holds *holds)
{
	json_t *rows = json_array();

	for (unsigned i = 0; i < HOLD_CLASSES; i++) {
		const struct hold *h = &holds->by[i];
		const char *reason = model_string(cp->model, h->reason);

		if (h->bits)
			json_array_append_new(rows,
				json_pack("{s:s,s:s,s:s,s:o}", "class", hold_class_name[i],
					"session",
					h->bits & HOLD_SESSION ? "user-disabled" : "user-enabled",
					"state", h->bits & HOLD_STATE ? "user-down" : "user-up",
					"reason", ipc_text_new(reason, strlen(reason))));
	}
	return rows;
}

static void put_server(const struct cp *cp, json_t *row, const struct object *o)
{
	struct server_fields f = server_fields(o);
	unsigned bits = holds_bits(f.holds);

	put_text(row, "session", bits & HOLD_SESSION ? "user-disabled" : "user-enabled");
	put_text(row, "state", bits & HOLD_STATE ? "user-down" : "user-up");
	put_number(row, "", "ratio", f.ratio);
	put_number(row, "", "dynamicRatio", f.dynamic_ratio);
	put_number(row, "", "connectionLimit", f.limit);
	json_object_set_new(row, "holds", holds_rows(cp, f.holds));
	put_number(row, "", "agentWeight", f.agent_weight);
	put_number(row, "", "agentConnectionLimit", f.agent_limit);
	put_text(row, "agentSaid", model_string(cp->model, f.agent_said));
	put_number(row, "", "ratioInForce", compile_weighted(f.ratio, f.agent_weight));
}

/* --- states --------------------------------------------------------------------------------------- */

static bool at_limit(const struct cp *cp, uint32_t id, uint32_t limit)
{
	struct totals t = {0};

	if (limit)
		totals_add(&t, cp, id);
	return limit && t.now >= limit;
}

static struct state_side server_side(const struct cp *cp, const struct object *o)
{
	struct state_side side = compile_side(cp->verdicts, o);

	side.at_limit = at_limit(cp, o->id, compile_connection_limit(o));
	return side;
}

static struct state member_state(const struct cp *cp, const struct object *o)
{
	const struct pool_member *m = model_pool_member(o);
	struct state_side parent = server_side(cp, model_get(cp->model, m->conf.node));
	struct state_side own = server_side(cp, o);

	return state_of_server(&own, &parent);
}

static void put_reason(const struct cp *cp, json_t *row, const struct object *o,
	const struct state_side *own, const struct state_side *parent)
{
	struct verdict_row verdict = verdicts_get(cp->verdicts, o->id);
	struct text text = {0};

	cp_reason(cp, o, own, parent, &text);
	put_text(row, "status.statusReason", text.data ? text.data : "");
	text_fini(&text);
	put_text(row, "monitorReason", verdict.reason);
	if (verdict.since)
		put_number(row, "", "monitorSince", verdict.since);
}

struct pool_sum {
	struct state_count count;
	unsigned members, available, active;
};

static struct state pool_state(const struct cp *cp, const struct object *pool, struct pool_sum *sum)
{
	const struct object *o;

	*sum = (struct pool_sum){0};
	for (unsigned i = 0; (o = model_child_at(cp->model, pool, i)); i++) {
		if (model_is_template(cp->model, o))
			continue;
		struct state s = member_state(cp, o);

		state_count_add(&sum->count, &s);
		sum->members++;
		sum->available += s.avail == LIVE_BITS;
		sum->active += s.avail == LIVE_BITS && s.availability != AVAILABILITY_YELLOW;
	}
	return state_of_pool(&sum->count);
}

/* --- session and state as LTM's REST interface has them -------------------------------------------- */

static const char *rest_state_name(const struct state_side *own)
{
	static const char *const name[VERDICTS] = {[VERDICT_UNCHECKED] = "unchecked",
		[VERDICT_CHECKING] = "checking",
		[VERDICT_RECHECKING] = "checking",
		[VERDICT_UP] = "up",
		[VERDICT_DOWN] = "down",
		[VERDICT_DRAIN] = "up",
		[VERDICT_RESUME] = "down"};

	return own->holds & HOLD_STATE ? "user-down" : name[own->verdict];
}

static const char *rest_session_name(const struct state_side *own)
{
	if (own->holds & HOLD_SESSION)
		return "user-disabled";
	if (own->verdict == VERDICT_UNCHECKED)
		return "user-enabled";
	return own->verdict == VERDICT_DRAIN ? "monitor-disabled" : "monitor-enabled";
}

static void rest_state_put(struct cp *cp, const struct object *o, json_t *row)
{
	struct state_side own = compile_side(cp->verdicts, o);
	const char *state = rest_state_name(&own);

	if (model_is_template(cp->model, o) && !(own.holds & HOLD_STATE))
		state = cp_resolve_state(cp, o);
	put_text(row, "session", rest_session_name(&own));
	put_text(row, "state", state);
}

void cp_rest_state(struct cp *cp, const struct object *o, json_t *row)
{
	json_t *members = json_object_get(json_object_get(row, "membersReference"), "items");

	if (cp_is_server(o))
		rest_state_put(cp, o, row);
	for (size_t i = 0; o->kind == KIND_POOL && i < json_array_size(members); i++)
		rest_state_put(cp, model_child_at(cp->model, o, i), json_array_get(members, i));
}

/* --- rows ----------------------------------------------------------------------------------------- */

static void put_origin(struct cp *cp, json_t *row, const struct object *o)
{
	put_text(row, "ephemeral", model_is_ephemeral(o) ? "true" : "false");
	if (model_is_template(cp->model, o))
		cp_resolve_row(cp, o, row);
}

/* The rule in force; "default" in its own is said in words. */
static void put_monitor_rule(const struct cp *cp, const struct object *o, json_t *row)
{
	static const char *const from[] = {
		[KIND_NODE] = " (default node monitor)", [KIND_POOL_MEMBER] = " (pool monitor)"};
	const struct object *source = o;
	struct text text = {0};

	model_field_text(cp->model, o, model_field_find(o->kind, NULL, "monitor"), &text);
	if (text.data && !strcmp(text.data, "default")) {
		text_fini(&text);
		source = o->kind == KIND_POOL_MEMBER
				 ? model_get(cp->model, o->owner)
				 : model_at(cp->model, KIND_DEFAULT_NODE_MONITOR, 0);
		const char *field = o->kind == KIND_POOL_MEMBER ? "monitor" : "rule";
		model_field_text(
			cp->model, source, model_field_find(source->kind, NULL, field), &text);
	}
	if (source != o && text.data && strcmp(text.data, "none"))
		text_printf(&text, "%s", from[o->kind]);
	put_text(row, "monitorRule", text.data ? text.data : "");
	text_fini(&text);
}

static void node_row(struct cp *cp, const struct object *o, json_t *row)
{
	const struct node *n = model_node(o);
	struct state_side own = server_side(cp, o);
	struct state s = state_of_server(&own, NULL);
	struct totals t = {.known = dplink_counters(cp->link) != NULL};
	const uint32_t *member;
	unsigned count = cp_index_members(&cp->members, cp->model, o->id, &member);

	/* The dataplane counts by member. */
	for (unsigned i = 0; i < count; i++)
		totals_add(&t, cp, member[i]);
	put_state(row, &s, true);
	put_reason(cp, row, o, &own, NULL);
	put_addr(row, "addr", &n->conf.address);
	put_monitor_rule(cp, o, row);
	put_server(cp, row, o);
	put_origin(cp, row, o);
	put_totals(row, "serverside.", &t);
}

static void member_row(struct cp *cp, const struct object *o, json_t *row)
{
	const struct pool_member *m = model_pool_member(o);
	const struct object *node = model_get(cp->model, m->conf.node);
	struct state_side own = server_side(cp, o), parent = server_side(cp, node);
	struct state s = state_of_server(&own, &parent);
	struct totals t = {0};

	totals_add(&t, cp, o->id);
	put_state(row, &s, true);
	put_reason(cp, row, o, &own, &parent);
	put_addr(row, "addr", &model_node(node)->conf.address);
	put_number(row, "", "port", m->conf.port);
	put_number(row, "", "priorityGroup", m->conf.priority_group);
	put_text(row, "nodeName", node->path);
	put_text(row, "poolName", model_get(cp->model, o->owner)->path);
	put_monitor_rule(cp, o, row);
	put_server(cp, row, o);
	put_origin(cp, row, o);
	put_totals(row, "serverside.", &t);
}

static void put_field(
	const struct cp *cp, const struct object *o, json_t *row, const char *key, const char *name)
{
	struct text text = {0};

	model_field_text(cp->model, o, model_field_find(o->kind, NULL, name), &text);
	put_text(row, key, text.data ? text.data : "");
	text_fini(&text);
}

static void pool_row(struct cp *cp, const struct object *o, json_t *row)
{
	struct totals t = {.known = dplink_counters(cp->link) != NULL};
	struct pool_sum sum;
	struct state s = pool_state(cp, o, &sum);
	const struct object *m;

	for (unsigned i = 0; (m = model_child_at(cp->model, o, i)); i++)
		totals_add(&t, cp, m->id);
	put_state(row, &s, false);
	put_field(cp, o, row, "loadBalancingMode", "load-balancing-mode");
	put_field(cp, o, row, "serviceDownAction", "service-down-action");
	put_number(row, "", "minUpMembers", model_pool(o)->conf.min_up_members);
	put_monitor_rule(cp, o, row);
	put_number(row, "", "memberCnt", sum.members);
	put_number(row, "", "availableMemberCnt", sum.available);
	put_number(row, "", "activeMemberCnt", sum.active);
	put_totals(row, "serverside.", &t);
}

static struct state virtual_state(const struct cp *cp, const struct object *o)
{
	const struct virtual_conf *conf = &model_virtual(o)->conf;
	const struct object *pool = model_get(cp->model, conf->pool);
	const struct object *vaddr = model_get(cp->model, conf->destination.addr);
	struct pool_sum sum;
	struct state s = {0};

	if (pool)
		s = pool_state(cp, pool, &sum);
	return state_of_virtual(conf->enabled, model_virtual_address(vaddr)->conf.enabled,
		at_limit(cp, o->id, conf->connection_limit), pool ? &s : NULL);
}

static void virtual_row(struct cp *cp, const struct object *o, json_t *row)
{
	const struct virtual_conf *conf = &model_virtual(o)->conf;
	const struct object *pool = model_get(cp->model, conf->pool);
	const struct object *vaddr = model_get(cp->model, conf->destination.addr);
	struct state s = virtual_state(cp, o);
	struct totals t = {0};

	totals_add(&t, cp, o->id);
	put_state(row, &s, false);
	put_field(cp, o, row, "destination", "destination");
	put_field(cp, o, row, "ipProtocol", "ip-protocol");
	put_text(row, "pool", pool ? pool->path : "");
	put_text(row, "virtualAddress", vaddr->path);
	put_addr(row, "addr", &model_virtual_address(vaddr)->conf.address);
	put_number(row, "", "port", conf->destination.port);
	put_number(row, "", "connectionLimit", conf->connection_limit);
	put_totals(row, "clientside.", &t);
}

static void vaddr_row(struct cp *cp, const struct object *o, json_t *row)
{
	const struct virtual_address_conf *conf = &model_virtual_address(o)->conf;
	struct state_count count = {0};
	struct totals t = {.known = dplink_counters(cp->link) != NULL};
	const uint32_t *virtual;
	unsigned virtuals = cp_index_virtuals(&cp->virtuals, cp->model, o->id, &virtual);

	for (unsigned i = 0; i < virtuals; i++) {
		struct state s = virtual_state(cp, model_get(cp->model, virtual[i]));
		state_count_add(&count, &s);
		totals_add(&t, cp, virtual[i]);
	}
	struct state s = compile_address_state(o, &count);
	put_state(row, &s, false);
	put_addr(row, "addr", &conf->address);
	put_totals(row, "clientside.", &t);
}

static struct state vaddr_state(const struct cp *cp, const struct object *o)
{
	struct state_count count = {0};
	const uint32_t *virtual;
	unsigned virtuals =
		cp_index_virtuals(&((struct cp *)cp)->virtuals, cp->model, o->id, &virtual);

	for (unsigned i = 0; i < virtuals; i++) {
		struct state s = virtual_state(cp, model_get(cp->model, virtual[i]));
		state_count_add(&count, &s);
	}
	return compile_address_state(o, &count);
}

static struct state server_state(const struct cp *cp, const struct object *o, struct text *reason)
{
	const struct object *node = o->kind == KIND_POOL_MEMBER
					    ? model_get(cp->model, model_pool_member(o)->conf.node)
					    : NULL;
	struct state_side own = server_side(cp, o), parent = {0};

	if (node)
		parent = server_side(cp, node);
	if (reason)
		cp_reason(cp, o, &own, node ? &parent : NULL, reason);
	return state_of_server(&own, node ? &parent : NULL);
}

struct state cp_state(const struct cp *cp, const struct object *o, struct text *reason)
{
	struct pool_sum sum;
	struct state s = {0};

	if (cp_is_server(o))
		return server_state(cp, o, reason);
	if (o->kind == KIND_POOL)
		s = pool_state(cp, o, &sum);
	else if (o->kind == KIND_VIRTUAL)
		s = virtual_state(cp, o);
	else if (o->kind == KIND_VIRTUAL_ADDRESS)
		s = vaddr_state(cp, o);
	if (reason)
		text_printf(reason, "%s", s.reason);
	return s;
}

json_t *cp_object_row(struct cp *cp, const struct object *o)
{
	static void (*const rows[MODEL_KINDS])(struct cp *, const struct object *, json_t *) = {
		[KIND_NODE] = node_row,
		[KIND_POOL] = pool_row,
		[KIND_POOL_MEMBER] = member_row,
		[KIND_VIRTUAL] = virtual_row,
		[KIND_VIRTUAL_ADDRESS] = vaddr_row,
	};
	const struct object *owner = model_get(cp->model, o->owner);
	json_t *row = rows[o->kind] ? json_object() : NULL;

	if (!row)
		return NULL;
	put_text(row, "kind",
		o->kind == KIND_POOL_MEMBER ? "ltm pool members" : model_kinds[o->kind].words);
	put_text(row, "name", o->path);
	put_text(row, "owner", owner ? owner->path : "");
	put_number(row, "", "id", o->id);
	put_number(row, "", "generation", o->generation);
	rows[o->kind](cp, o, row);
	return row;
}
