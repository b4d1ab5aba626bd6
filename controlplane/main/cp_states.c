/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * States as they were told last, and an event where one is another now. Servers are looked at when something happens
 * to them; pools, virtual servers and addresses once for all that happened in a turn of the event loop.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "compile/compile.h"
#include "main/cp_states.h"
#include "store/id_set.h"

/* Of pools, virtual servers and addresses in a turn: what is told one by one; the rest is told as a number. */
#define TOLD_A_TURN 250u

_Static_assert(
	offsetof(struct told, since) == 4 + 5 + HOLD_CLASSES + 2, "compared as bytes: no padding");

struct cp_states {
	struct told *told; /* by id slot */
	unsigned slots;
	struct id_set pools, virtuals, addresses; /* to be looked at */
	unsigned changed;			  /* of them, in this turn */
	struct event *look;
	struct cp_cause cause; /* of the last that concerned them; its texts: */
	char text[300], name[64], address[64];
};

struct cp_cause cp_cause_of(const struct cp_commit *commit)
{
	return (struct cp_cause){.text = commit->what,
		.class = commit->user->class,
		.name = commit->user->name,
		.address = commit->user->address};
}

static struct told *told_of(struct cp_states *s, uint32_t id)
{
	uint32_t slot = id_slot(id);

	if (slot >= s->slots) {
		unsigned slots = 2 * slot + 64;
		struct told *more = reallocarray(s->told, slots, sizeof(*more));
		if (!more)
			return NULL;
		memset(more + s->slots, 0, (slots - s->slots) * sizeof(*more));
		s->told = more;
		s->slots = slots;
	}
	return &s->told[slot];
}

void cp_states_serving(struct cp *cp, const struct object *pool, unsigned *serving, unsigned *of)
{
	const struct object *member;

	*serving = *of = 0;
	for (unsigned i = 0; (member = model_child_at(cp->model, pool, i)); i++) {
		const struct told *told = told_of(cp->states, member->id);

		if (!told || told->id != member->id || model_is_template(cp->model, member))
			continue;
		*serving += told->serves;
		*of += 1;
	}
}

/* --- an object ------------------------------------------------------------------------------------ */

static struct told state_now(const struct cp *cp, const struct object *o, struct text *reason)
{
	struct state s = cp_state(cp, o, reason);
	struct told t = {.id = o->id,
		.availability = s.availability,
		.enabled = s.enabled,
		.monitor = s.monitor,
		.session = s.session,
		.usable = s.avail != 0,
		.serves = (s.avail & LIVE_NEW) != 0};

	if (!cp_is_server(o))
		return t;
	t.verdict = verdicts_get(cp->verdicts, o->id).verdict;
	for (unsigned i = 0; i < HOLD_CLASSES; i++)
		t.holds[i] = model_holds(o)->by[i].bits;
	return t;
}

static const char *verdict_name(uint8_t verdict)
{
	static const char *const names[VERDICTS] = {"unchecked", "checking", "checking", "up",
		"down", "up-no-new-clients", "down-wait-for-manual-resume"};

	return names[verdict];
}

static json_t *holds_json(const struct told *t)
{
	json_t *holds = json_object();

	for (unsigned i = 0; i < HOLD_CLASSES; i++)
		if (t->holds[i])
			json_object_set_new(holds, hold_class_name[i],
				json_string(
					t->holds[i] & HOLD_STATE ? "forced-offline" : "disabled"));
	return holds;
}

/* What is another than in other. */
static json_t *told_json(const struct told *t, const struct told *other)
{
	json_t *out = json_object();
	const struct {
		const char *key, *value;
		bool differs;
	} fields[] = {
		{"availabilityState", state_availability_name(t->availability),
			t->availability != other->availability},
		{"enabledState", state_enabled_name(t->enabled), t->enabled != other->enabled},
		{"monitorStatus", state_monitor_name(t->monitor), t->monitor != other->monitor},
		{"sessionStatus", state_session_name(t->session), t->session != other->session},
		{"checks", verdict_name(t->verdict), t->verdict != other->verdict},
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (fields[i].differs)
			json_object_set_new(out, fields[i].key, json_string(fields[i].value));
	if (memcmp(t->holds, other->holds, sizeof(t->holds)))
		json_object_set_new(out, "holds", holds_json(t));
	return out;
}

static void change_tell(struct cp *cp, const struct object *o, const struct told *before,
	const struct told *after, const struct text *reason, const struct cp_cause *cause)
{
	const struct object *owner = model_get(cp->model, o->owner);
	json_t *body = cp_event_body("state", model_kinds[o->kind].full, o->path,
		told_json(before, after), told_json(after, before), cause);

	if (owner)
		json_object_set_new(body, "owner", json_string(owner->path));
	json_object_set_new(
		body, "reason", ipc_text_new(reason->data ? reason->data : "", reason->len));
	cp_event(cp, o->id, CP_READ, body);
}

/* Whether those who follow events are told: what they see is another. */
static bool shows_other(const struct told *a, const struct told *b)
{
	return memcmp(a, b, offsetof(struct told, usable)) != 0;
}

/* The present monitor status is the one before, or has just begun. */
static void since_set(const struct cp *cp, struct told *now, const struct told *before)
{
	struct timespec ts;

	if (before->id != now->id) {
		now->since = verdicts_get(cp->verdicts, now->id).since;
	} else if (before->monitor == now->monitor) {
		now->since = before->since;
	} else {
		clock_gettime(CLOCK_REALTIME, &ts);
		now->since = (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
	}
}

/* A pool may carry thousands of virtual servers, and each of its servers' verdicts change them all. */
static bool may_tell(struct cp_states *s, const struct object *o)
{
	return cp_is_server(o) || s->changed++ < TOLD_A_TURN;
}

/* True if it is another than was told. */
static bool look_at(struct cp *cp, const struct object *o, const struct cp_cause *cause)
{
	struct told *told = told_of(cp->states, o->id);
	struct told before, now = state_now(cp, o, NULL);
	struct text reason = {0};

	/* What stands for servers known by a name is none. */
	if (!told || (cp_is_server(o) && model_is_template(cp->model, o)))
		return false;
	before = *told;
	since_set(cp, &now, &before);
	*told = now;
	if (!memcmp(&before, &now, offsetof(struct told, since)))
		return false;
	if (before.id == o->id && cause)
		cp_state_record(cp, o, &before, &now, cause);
	if (!shows_other(&before, &now))
		return true;
	/* One that is new tells nothing: the commit does. */
	if (before.id == o->id && cause && may_tell(cp->states, o)) {
		cp_state(cp, o, &reason);
		change_tell(cp, o, &before, &now, &reason, cause);
		text_fini(&reason);
	}
	return true;
}

/* --- what depends on it --------------------------------------------------------------------------- */

static void later(struct cp_states *s, struct id_set *set, uint32_t id)
{
	if (id != ID_NONE && id_set_add(set, id) == 0)
		event_active(s->look, EV_TIMEOUT, 0);
}

static void cause_keep(struct cp_states *s, const struct object *o, const struct cp_cause *cause)
{
	if (o)
		snprintf(s->text, sizeof(s->text), "%s: %s", o->path, cause->text);
	else
		snprintf(s->text, sizeof(s->text), "%s", cause->text);
	snprintf(s->name, sizeof(s->name), "%s", cause->name);
	snprintf(s->address, sizeof(s->address), "%s", cause->address);
	s->cause = (struct cp_cause){
		.text = s->text, .class = cause->class, .name = s->name, .address = s->address};
}

static void member_look(struct cp *cp, const struct object *o, const struct cp_cause *cause)
{
	if (!o || !look_at(cp, o, cause))
		return;
	cause_keep(cp->states, o, cause);
	later(cp->states, &cp->states->pools, o->owner);
}

static void node_look(struct cp *cp, const struct object *o, const struct cp_cause *cause)
{
	const uint32_t *member;

	if (!look_at(cp, o, cause))
		return;
	unsigned count = cp_index_members(&cp->members, cp->model, o->id, &member);
	for (unsigned i = 0; i < count; i++)
		member_look(cp, model_get(cp->model, member[i]), cause);
}

static void object_look(struct cp *cp, const struct object *o, const struct cp_cause *cause)
{
	struct cp_states *s = cp->states;

	if (o->kind == KIND_NODE)
		node_look(cp, o, cause);
	else if (o->kind == KIND_POOL_MEMBER)
		member_look(cp, o, cause);
	else if (o->kind == KIND_POOL)
		later(s, &s->pools, o->id);
	else if (o->kind == KIND_VIRTUAL)
		later(s, &s->virtuals, o->id);
	else if (o->kind == KIND_VIRTUAL_ADDRESS)
		later(s, &s->addresses, o->id);
}

static void pool_look(struct cp *cp, const struct object *o)
{
	struct cp_states *s = cp->states;
	const uint32_t *virtual;

	look_at(cp, o, &s->cause);
	/* Also if it shows the same: whether it is usable is not all that it shows. */
	unsigned count = cp_index_of_pool(&cp->of_pool, cp->model, o->id, &virtual);
	for (unsigned i = 0; i < count; i++)
		later(s, &s->virtuals, virtual[i]);
}

static void virtual_look(struct cp *cp, const struct object *o)
{
	look_at(cp, o, &cp->states->cause);
	later(cp->states, &cp->states->addresses, model_virtual(o)->conf.destination.addr);
}

static void address_look(struct cp *cp, const struct object *o)
{
	const uint32_t *virtual;

	if (!look_at(cp, o, &cp->states->cause))
		return;
	unsigned count = cp_index_virtuals(&cp->virtuals, cp->model, o->id, &virtual);
	for (unsigned i = 0; i < count; i++)
		look_at(cp, model_get(cp->model, virtual[i]), &cp->states->cause);
}

static void set_look(
	struct cp *cp, struct id_set *set, void (*look)(struct cp *cp, const struct object *o))
{
	for (unsigned i = 0; i < set->count; i++) {
		const struct object *o = model_get(cp->model, set->id[i]);

		if (o)
			look(cp, o);
	}
	id_set_clear(set);
}

static void rest_tell(struct cp *cp, unsigned rest)
{
	cp_event(cp, ID_NONE, CP_LOOK,
		cp_event_body("states", "ltm", "", json_object(),
			json_pack("{s:I}", "changed", (json_int_t)rest), &cp->states->cause));
}

/* From the ground up. */
static void on_look(evutil_socket_t fd, short what, void *ctx)
{
	struct cp *cp = ctx;
	struct cp_states *s = cp->states;

	s->changed = 0;
	set_look(cp, &s->pools, pool_look);
	set_look(cp, &s->virtuals, virtual_look);
	set_look(cp, &s->addresses, address_look);
	if (s->changed > TOLD_A_TURN)
		rest_tell(cp, s->changed - TOLD_A_TURN);
	event_del(s->look);
}

/* --- what happens --------------------------------------------------------------------------------- */

void cp_states_server(struct cp *cp, uint32_t object)
{
	const struct object *o = model_get(cp->model, object);
	/* Checks that end because of a commit: it is the commit that changes the state. */
	const struct cp_cause cause =
		cp->committing
			? cp_cause_of(cp->committing)
			: (struct cp_cause){.text = verdicts_get(cp->verdicts, object).reason,
				  .class = HOLD_MONITOR,
				  .name = "",
				  .address = ""};

	if (o)
		object_look(cp, o, &cause);
}

/* A pool that lost a member, a virtual server another pool: found by the path, for the object may be gone. */
static void owner_later(struct cp *cp, const struct model_change *row)
{
	char path[MODEL_NAME_MAX];

	snprintf(path, sizeof(path), "%.*s", (int)strcspn(row->path, " "), row->path);
	const struct object *owner =
		model_find(cp->model, model_kinds[row->kind].owner, ID_NONE, path);
	if (owner && owner->kind == KIND_POOL)
		later(cp->states, &cp->states->pools, owner->id);
}

void cp_states_commit(
	struct cp *cp, const struct cp_commit *commit, const struct model_changes *changes)
{
	const struct cp_cause cause = cp_cause_of(commit);

	cause_keep(cp->states, NULL, &cause);
	for (unsigned i = 0; i < changes->count; i++) {
		const struct model_change *row = &changes->row[i];
		const struct object *o = model_get(cp->model, row->id);

		if (o)
			object_look(cp, o, &cause);
		if (row->what != CHANGE_MODIFIED && row->kind == KIND_POOL_MEMBER &&
			!row->owner_gone)
			owner_later(cp, row);
	}
}

static void kind_each(struct cp *cp, enum model_kind kind,
	void (*look)(struct cp *cp, const struct object *o, void *ctx), void *ctx)
{
	const struct object *o, *child;

	for (unsigned i = 0; (o = model_at(cp->model, kind, i)); i++) {
		look(cp, o, ctx);
		for (unsigned k = 0; kind == KIND_POOL && (child = model_child_at(cp->model, o, k));
			k++)
			look(cp, child, ctx);
	}
}

static void record(struct cp *cp, const struct object *o, void *ctx)
{
	look_at(cp, o, NULL);
}

void cp_states_reset(struct cp *cp)
{
	static const enum model_kind kinds[] = {
		KIND_NODE, KIND_POOL, KIND_VIRTUAL, KIND_VIRTUAL_ADDRESS};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		kind_each(cp, kinds[i], record, NULL);
}

static void limit_look(struct cp *cp, const struct object *o, void *ctx)
{
	uint32_t limit = o->kind == KIND_VIRTUAL ? model_virtual(o)->conf.connection_limit
			 : cp_is_server(o)	 ? compile_connection_limit(o)
						 : 0;

	if (!limit)
		return;
	cp_limit_look(cp, o);
	if (o->kind != KIND_VIRTUAL) {
		object_look(cp, o, ctx);
	} else if (look_at(cp, o, ctx)) {
		cause_keep(cp->states, o, ctx);
		later(cp->states, &cp->states->addresses, model_virtual(o)->conf.destination.addr);
	}
}

void cp_states_second(struct cp *cp)
{
	static const enum model_kind kinds[] = {KIND_NODE, KIND_POOL, KIND_VIRTUAL};
	struct cp_cause cause = {.text = "connections and their limit",
		.class = HOLD_SYSTEM,
		.name = "",
		.address = ""};

	for (size_t i = 0; dplink_counters(cp->link) && i < sizeof(kinds) / sizeof(*kinds); i++)
		kind_each(cp, kinds[i], limit_look, &cause);
}

/* --- start and end -------------------------------------------------------------------------------- */

int cp_states_init(struct cp *cp)
{
	struct cp_states *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	cp->states = s;
	s->look = event_new(cp->base, -1, 0, on_look, cp);
	if (!s->look || id_set_init(&s->pools) || id_set_init(&s->virtuals) ||
		id_set_init(&s->addresses))
		return -ENOMEM;
	cause_keep(s, NULL,
		&(struct cp_cause){.text = "", .class = HOLD_SYSTEM, .name = "", .address = ""});
	cp_states_reset(cp);
	return 0;
}

void cp_states_fini(struct cp *cp)
{
	struct cp_states *s = cp->states;

	if (!s)
		return;
	if (s->look)
		event_free(s->look);
	id_set_fini(&s->pools);
	id_set_fini(&s->virtuals);
	id_set_fini(&s->addresses);
	free(s->told);
	free(s);
}
