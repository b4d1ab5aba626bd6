/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Instances, made equal to what the model says. Only what differs is touched: an instance whose monitor stays
 * in its object's rule keeps its verdict and its place in weir-mon.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "health/health_internal.h"

/* --- slots ---------------------------------------------------------------------------------------- */

static int slots_grow(void *array, uint32_t *count, uint32_t slot)
{
	void ***place = array;
	uint32_t want = *count ? *count : 1024;

	while (want <= slot)
		want *= 2;
	if (want == *count)
		return 0;
	void **more = reallocarray(*place, want, sizeof(*more));
	if (!more)
		return -ENOMEM;
	memset(more + *count, 0, (want - *count) * sizeof(*more));
	*place = more;
	*count = want;
	return 0;
}

struct health_object *health_object_get(const struct health *h, uint32_t id)
{
	struct health_object *o = id_slot(id) < h->objects ? h->object[id_slot(id)] : NULL;

	return o && o->id == id ? o : NULL;
}

struct health_monitor *health_monitor_get(const struct health *h, uint32_t id)
{
	struct health_monitor *m = id_slot(id) < h->monitors ? h->monitor[id_slot(id)] : NULL;

	return m && m->id == id ? m : NULL;
}

struct health_inst *health_inst_get(const struct health *h, uint32_t object, uint32_t monitor)
{
	const struct health_object *o = health_object_get(h, object);
	struct health_inst *in = o ? o->instances : NULL;

	while (in && in->monitor->id != monitor)
		in = in->next;
	return in;
}

/* --- monitors ------------------------------------------------------------------------------------- */

static void monitor_fini(struct health_monitor *m)
{
	json_decref(m->message);
	free(m->name);
	free(m->fault);
}

static void fault_log(const struct health_monitor *m)
{
	if (m->fault)
		log_error("monitor %s: %s", m->name, m->fault);
}

static struct health_monitor *monitor_use(struct health *h, uint32_t id)
{
	struct health_monitor *m = health_monitor_get(h, id);
	const struct object *o = model_get(h->model, id);

	if (m || !o || slots_grow(&h->monitor, &h->monitors, id_slot(id)))
		return m;
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->id = id;
	LIST_INIT(&m->instances);
	health_model_monitor(h, o, m);
	h->monitor[id_slot(id)] = m;
	fault_log(m);
	health_link_monitor(h->link, m);
	return m;
}

static void monitor_release(struct health *h, struct health_monitor *m)
{
	if (!LIST_EMPTY(&m->instances))
		return;
	health_link_monitor_gone(h->link, m->id);
	h->monitor[id_slot(m->id)] = NULL;
	monitor_fini(m);
	free(m);
}

static bool text_equal(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool content_equal(const struct health_monitor *a, const struct health_monitor *b)
{
	if (a->message != b->message && !json_equal(a->message, b->message))
		return false;
	return a->refused || b->refused || text_equal(a->fault, b->fault);
}

static bool target_equal(const struct health_monitor *a, const struct health_monitor *b)
{
	return ip_equal(&a->to_address, &b->to_address) && a->to_port == b->to_port;
}

/* Takes what is fresh; what weir-mon said of the same content stands. */
static void monitor_take(struct health_monitor *m, struct health_monitor *fresh, bool same)
{
	if (same && m->refused) {
		fresh->refused = true;
		fresh->fault = m->fault;
		m->fault = NULL;
	}
	fresh->instances = m->instances;
	monitor_fini(m);
	*m = *fresh;
	if (!LIST_EMPTY(&m->instances))
		LIST_FIRST(&m->instances)->of_monitor.le_prev = &m->instances.lh_first;
}

/* The model's fields may have changed, also by those of a parent, or the content of files. */
static void monitor_look(struct health *h, struct health_monitor *m, const struct object *o)
{
	struct health_monitor fresh = {.id = m->id};
	struct health_inst *in;

	health_model_monitor(h, o, &fresh);
	bool same = content_equal(&fresh, m), was_probed = m->message && !m->refused;
	bool moved = !target_equal(&fresh, m), judged = fresh.manual_resume != m->manual_resume;
	if (was_probed && !fresh.message)
		health_link_monitor_gone(h->link, m->id);
	monitor_take(m, &fresh, same);
	if (!same) {
		fault_log(m);
		health_link_monitor(h->link, m);
	}
	LIST_FOREACH(in, &m->instances, of_monitor)
	{
		if (health_through_changed(h, in) || moved || (!same && !was_probed))
			health_link_instance(h->link, in);
		if (!m->active)
			health_passive_changed(h, in);
		if (judged || !same)
			health_judge(h, in->object);
	}
}

void health_table_files(struct health *h)
{
	for (uint32_t i = 0; i < h->monitors; i++) {
		const struct object *o = h->monitor[i] && h->monitor[i]->files
						 ? model_get(h->model, h->monitor[i]->id)
						 : NULL;
		if (o)
			monitor_look(h, h->monitor[i], o);
	}
}

static void monitors_look(struct health *h)
{
	for (uint32_t i = 0; i < h->monitors; i++) {
		const struct object *o =
			h->monitor[i] ? model_get(h->model, h->monitor[i]->id) : NULL;
		if (o)
			monitor_look(h, h->monitor[i], o);
	}
}

/* --- instances ------------------------------------------------------------------------------------ */

static struct health_inst *inst_new(struct health *h, struct health_object *o, uint32_t monitor)
{
	struct health_monitor *m = monitor_use(h, monitor);
	struct health_inst *in = m ? calloc(1, sizeof(*in)) : NULL;

	if (!in) {
		if (m)
			monitor_release(h, m);
		log_error("monitor %u of object %u: no memory", monitor, o->id);
		return NULL;
	}
	in->object = o;
	in->monitor = m;
	in->said = m->active ? MON_CHECKING : MON_UP;
	in->since = health_now_ms();
	health_store_instance(h, in);
	LIST_INSERT_HEAD(&m->instances, in, of_monitor);
	health_through_changed(h, in);
	if (m->active)
		health_link_instance(h->link, in);
	else if (health_passive_start(h, in))
		log_error("monitor %s of object %u: no memory", m->name, o->id);
	return in;
}

static void inst_free(struct health *h, struct health_inst *in)
{
	health_link_instance_gone(h->link, in);
	health_through_gone(h, in);
	LIST_REMOVE(in, of_monitor);
	monitor_release(h, in->monitor);
	health_passive_free(in->passive);
	free(in->reason);
	free(in);
}

static struct health_inst *inst_take(struct health_object *o, uint32_t monitor)
{
	struct health_inst **place = &o->instances;

	while (*place && (*place)->monitor->id != monitor)
		place = &(*place)->next;
	struct health_inst *in = *place;
	if (in)
		*place = in->next;
	return in;
}

static unsigned need_of(const struct model_monitor_rule *rule)
{
	return rule->mode == RULE_MIN ? rule->min : 0;
}

static bool insts_match(const struct health_object *o, const struct model_monitor_rule *rule)
{
	const struct health_inst *in = o->instances;
	unsigned i = 0;

	for (; in && i < rule->count && in->monitor->id == rule->monitor[i]; i++)
		in = in->next;
	return !in && i == rule->count && o->need == need_of(rule);
}

static void insts_free(struct health *h, struct health_object *o)
{
	struct health_inst *in;

	while ((in = o->instances)) {
		o->instances = in->next;
		inst_free(h, in);
	}
}

/* True if there was something to do. */
static bool insts_make(
	struct health *h, struct health_object *o, const struct model_monitor_rule *rule)
{
	struct health_inst *made = NULL, **end = &made;

	if (insts_match(o, rule))
		return false;
	for (unsigned i = 0; i < rule->count; i++) {
		struct health_inst *in = inst_take(o, rule->monitor[i]);

		if (!in)
			in = inst_new(h, o, rule->monitor[i]);
		if (!in)
			continue;
		in->next = NULL;
		*end = in;
		end = &in->next;
	}
	insts_free(h, o);
	o->instances = made;
	o->need = need_of(rule);
	for (struct health_inst *in = made; in; in = in->next)
		if (!in->monitor->active)
			health_passive_changed(h, in);
	return true;
}

static void insts_moved(struct health *h, struct health_object *o)
{
	for (struct health_inst *in = o->instances; in; in = in->next) {
		health_through_changed(h, in);
		if (in->monitor->active)
			health_link_instance(h->link, in);
	}
}

/* --- objects -------------------------------------------------------------------------------------- */

static struct health_object *object_use(struct health *h, const struct object *o)
{
	struct health_object *x = health_object_get(h, o->id);

	if (x || slots_grow(&h->object, &h->objects, id_slot(o->id)))
		return x;
	x = calloc(1, sizeof(*x));
	if (!x)
		return NULL;
	x->id = o->id;
	x->kind = o->kind;
	x->fresh = true;
	LIST_INIT(&x->members);
	health_store_object(h, x);
	h->object[id_slot(o->id)] = x;
	return x;
}

static void object_forget(struct health *h, struct health_object *x)
{
	struct health_object *member;

	while ((member = LIST_FIRST(&x->members))) {
		LIST_REMOVE(member, of_node);
		member->node = ID_NONE;
	}
	if (x->node != ID_NONE)
		LIST_REMOVE(x, of_node);
	insts_free(h, x);
	free(x->rule);
	verdicts_set(h->verdicts, x->id, VERDICT_UNCHECKED, 0, NULL);
	h->object[id_slot(x->id)] = NULL;
	if (h->store && x->kind != KIND_POOL)
		health_store_changed(h->store, x->id);
	free(x);
}

static void target_set(
	struct health *h, struct health_object *x, const struct ip_addr *address, uint16_t port)
{
	if (ip_equal(&x->address, address) && x->port == port)
		return;
	x->address = *address;
	x->port = port;
	insts_moved(h, x);
}

static struct model_monitor_rule agents_of(
	const struct health *h, const struct model_monitor_rule *rule)
{
	struct model_monitor_rule out = {.mode = RULE_ALL};

	for (unsigned i = 0; i < rule->count; i++) {
		const struct object *o = model_get(h->model, rule->monitor[i]);
		if (o && o->kind == KIND_MONITOR_AGENT_CHECK)
			out.monitor[out.count++] = rule->monitor[i];
	}
	return out;
}

/* Nobody but a person ends a manual resume, also if an agent or a drain forces the server offline meanwhile. */
static void resume_keep(struct health_object *x)
{
	for (const struct health_inst *in = x->instances; in; in = in->next)
		x->resume |= health_waits(in);
}

static void resume_restore(struct health_object *x)
{
	for (struct health_inst *in = x->instances; in && x->resume; in = in->next)
		in->resume |= in->monitor->manual_resume;
	x->resume = false;
}

/* Makes instances of a node or member by its rule; nobody judges while it is forced offline. */
static void object_make(struct health *h, struct health_object *x,
	const struct model_monitor_rule *rule, bool offline)
{
	const struct model_monitor_rule agents = agents_of(h, rule);
	bool was_offline = x->offline;

	x->offline = offline;
	if (offline)
		x->fresh = true;
	if (offline && !was_offline)
		resume_keep(x);
	bool changed = insts_make(h, x, offline ? &agents : rule) || offline != was_offline;
	if (!offline)
		resume_restore(x);
	if (changed)
		health_judge(h, x);
	if (!offline)
		x->fresh = false;
}

/* Templates have no address: what name resolution makes of them is looked at. */
static const struct model_monitor_rule *rule_of(const struct health *h, const struct object *o)
{
	static const struct model_monitor_rule none;

	return model_is_template(h->model, o) ? &none : model_monitor_rule(h->model, o);
}

static bool holds_offline(const struct object *o)
{
	return holds_bits(model_holds(o)) & HOLD_STATE;
}

static void member_link(struct health *h, struct health_object *x, const struct object *node)
{
	struct health_object *parent = object_use(h, node);

	if (x->node == node->id || !parent)
		return;
	if (x->node != ID_NONE)
		LIST_REMOVE(x, of_node);
	x->node = node->id;
	LIST_INSERT_HEAD(&parent->members, x, of_node);
}

static void member_look(struct health *h, const struct object *o)
{
	const struct pool_member *member = model_pool_member(o);
	const struct object *node = model_get(h->model, member->conf.node);
	struct health_object *x = object_use(h, o);

	if (!x || !node)
		return;
	member_link(h, x, node);
	target_set(h, x, &model_node(node)->conf.address, member->conf.port);
	object_make(h, x, rule_of(h, o), holds_offline(o) || holds_offline(node));
}

static void node_look(struct health *h, const struct object *o)
{
	const struct node *node = model_node(o);
	struct health_object *x = object_use(h, o), *member;

	if (!x)
		return;
	bool was_offline = x->offline;
	target_set(h, x, &node->conf.address, 0);
	object_make(h, x, rule_of(h, o), holds_offline(o));
	if (was_offline == x->offline)
		return;
	LIST_FOREACH(member, &x->members, of_node)
	{
		const struct object *mo = model_get(h->model, member->id);
		if (mo)
			member_look(h, mo);
	}
}

/* Remembers a pool's rule. True if it is another than before. */
static bool pool_rule_set(struct health *h, const struct object *o)
{
	const struct model_monitor_rule *rule = model_monitor_rule(h->model, o);
	struct health_object *x = object_use(h, o);

	if (!x || (!x->rule && rule->count == 0) ||
		(x->rule && !memcmp(x->rule, rule, sizeof(*rule))))
		return false;
	if (!x->rule)
		x->rule = malloc(sizeof(*x->rule));
	if (x->rule)
		*x->rule = *rule;
	return true;
}

static void pool_look(struct health *h, const struct object *o)
{
	const struct object *member;

	if (!pool_rule_set(h, o))
		return;
	for (unsigned i = 0; (member = model_child_at(h->model, o, i)); i++)
		member_look(h, member);
}

static void nodes_look(struct health *h)
{
	const struct object *o;

	for (unsigned i = 0; (o = model_at(h->model, KIND_NODE, i)); i++)
		node_look(h, o);
}

/* --- changes -------------------------------------------------------------------------------------- */

void health_table_load(struct health *h)
{
	const struct object *pool, *o;

	for (uint32_t i = 0; i < h->objects; i++)
		if (h->object[i] && !model_get(h->model, h->object[i]->id))
			object_forget(h, h->object[i]);
	monitors_look(h);
	nodes_look(h);
	for (unsigned p = 0; (pool = model_at(h->model, KIND_POOL, p)); p++) {
		pool_rule_set(h, pool);
		for (unsigned i = 0; (o = model_child_at(h->model, pool, i)); i++)
			member_look(h, o);
	}
}

static void forget_deleted(struct health *h, const struct model_changes *changes)
{
	for (unsigned i = 0; i < changes->count; i++) {
		const struct model_change *c = &changes->row[i];
		struct health_object *x =
			c->what == CHANGE_DELETED ? health_object_get(h, c->id) : NULL;
		if (x)
			object_forget(h, x);
	}
}

static void look_at_kind(struct health *h, const struct model_changes *changes,
	enum model_kind kind, void (*look)(struct health *, const struct object *))
{
	for (unsigned i = 0; i < changes->count; i++) {
		const struct model_change *c = &changes->row[i];
		const struct object *o = c->kind == kind && c->what != CHANGE_DELETED
						 ? model_get(h->model, c->id)
						 : NULL;
		if (o)
			look(h, o);
	}
}

static bool any_monitor(const struct model_changes *changes)
{
	for (unsigned i = 0; i < changes->count; i++)
		if (changes->row[i].what == CHANGE_MODIFIED &&
			model_kind_is_monitor(changes->row[i].kind))
			return true;
	return false;
}

void health_table_changed(struct health *h, const struct model_changes *changes)
{
	forget_deleted(h, changes);
	if (any_monitor(changes))
		monitors_look(h);
	for (unsigned i = 0; i < changes->count; i++)
		if (changes->row[i].kind == KIND_DEFAULT_NODE_MONITOR)
			nodes_look(h);
	look_at_kind(h, changes, KIND_NODE, node_look);
	look_at_kind(h, changes, KIND_POOL, pool_look);
	look_at_kind(h, changes, KIND_POOL_MEMBER, member_look);
}

void health_table_free(struct health *h)
{
	for (uint32_t i = 0; i < h->objects; i++)
		if (h->object[i])
			object_forget(h, h->object[i]);
	free(h->object);
	free(h->monitor);
}
