/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ratios as records: the first change of a server at once, what the same actor does to it within the next 10 s as
 * one. An agent that pushes every second must not fill the journal.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "main/cp.h"

#define WINDOW_SECONDS 10u
#define EACH_MAX 100u /* of one commit are told one by one; more are told as a number */
#define VALUES 4

struct pending {
	TAILQ_ENTRY(pending) order; /* by the end of the window */
	LIST_ENTRY(pending) same;   /* of one object */
	uint32_t object;
	uint8_t value, class;
	uint32_t before, after, count;
	uint32_t second; /* when the window began */
	char name[64], address[64];
};

struct live {
	uint32_t id;
	uint32_t value[VALUES];
	LIST_HEAD(, pending) pending;
};

struct cp_live {
	struct live **live; /* by id slot */
	unsigned slots;
	TAILQ_HEAD(, pending) order;
};

static const struct {
	enum event_message message;
	const char *word;
} kinds[VALUES] = {
	{MESSAGE_RATIO_CHANGED, "ratio"},
	{MESSAGE_DYNAMIC_RATIO_CHANGED, "dynamic ratio"},
	{MESSAGE_AGENT_WEIGHT_CHANGED, "agent's weight"},
	{MESSAGE_AGENT_LIMIT_CHANGED, "agent's connection limit"},
};

static bool values_of(const struct object *o, uint32_t out[VALUES])
{
	const struct pool_member *p = model_pool_member(o);
	const struct node *n = model_node(o);

	if (!p && !n)
		return false;
	out[0] = p ? p->live.ratio : n->live.ratio;
	out[1] = p ? p->live.dynamic_ratio : n->live.dynamic_ratio;
	out[2] = p ? p->live.agent_weight : n->live.agent_weight;
	out[3] = p ? p->live.agent_connection_limit : n->live.agent_connection_limit;
	return true;
}

static struct live *live_of(struct cp_live *l, uint32_t id)
{
	uint32_t slot = id_slot(id);

	if (slot >= l->slots) {
		unsigned slots = 2 * slot + 64;
		struct live **more = reallocarray(l->live, slots, sizeof(struct live *));

		if (!more)
			return NULL;
		memset(more + l->slots, 0, (slots - l->slots) * sizeof(struct live *));
		l->live = more;
		l->slots = slots;
	}
	if (!l->live[slot])
		l->live[slot] = calloc(1, sizeof(struct live));
	return l->live[slot];
}

static void pending_free(struct cp_live *l, struct pending *p)
{
	TAILQ_REMOVE(&l->order, p, order);
	LIST_REMOVE(p, same);
	free(p);
}

/* --- records -------------------------------------------------------------------------------------- */

static void tell(struct cp *cp, const struct pending *p)
{
	const struct object *o = model_get(cp->model, p->object);
	const struct object *owner = o ? model_get(cp->model, o->owner) : NULL;
	char text[800];

	if (!o)
		return;
	snprintf(text, sizeof(text), "%s%s %s%s: %s is %" PRIu32 ", was %" PRIu32,
		owner ? "Pool " : "Node", owner ? owner->path : "", owner ? "member " : "", o->path,
		kinds[p->value].word, p->after, p->before);
	journal_write(
		&cp->journal, &(struct event_record){.message = kinds[p->value].message,
				      .kind = model_kinds[o->kind].full,
				      .object = o->path,
				      .owner = owner ? owner->path : NULL,
				      .actor = {hold_class_name[p->class], p->name, p->address},
				      .before = event_number(p->before),
				      .after = event_number(p->after),
				      .count = p->count,
				      .text = text});
}

static struct pending *pending_of(const struct live *v, unsigned value, const struct cp_user *user)
{
	struct pending *p;

	LIST_FOREACH(p, &v->pending, same)
	if (p->value == value && p->class == user->class && !strcmp(p->name, user->name) &&
		!strcmp(p->address, user->address))
		return p;
	return NULL;
}

/* One value of an object changed. */
static void value_changed(
	struct cp *cp, struct live *v, unsigned value, uint32_t after, const struct cp_user *user)
{
	struct pending *p = pending_of(v, value, user), now = {.object = v->id,
								.value = (uint8_t)value,
								.class = (uint8_t)user->class,
								.before = v->value[value],
								.after = after,
								.count = 1,
								.second = clock_second()};

	if (p) {
		if (!p->count)
			p->before = v->value[value];
		p->after = after;
		p->count++;
		return;
	}
	snprintf(now.name, sizeof(now.name), "%s", user->name);
	snprintf(now.address, sizeof(now.address), "%s", user->address);
	tell(cp, &now);
	p = malloc(sizeof(*p));
	if (!p)
		return;
	*p = now;
	p->count = 0;
	TAILQ_INSERT_TAIL(&cp->live->order, p, order);
	LIST_INSERT_HEAD(&v->pending, p, same);
}

/* True: something changed that was not told for itself. */
static bool object_look(
	struct cp *cp, const struct object *o, const struct cp_user *user, bool tells)
{
	struct live *v = live_of(cp->live, o->id);
	uint32_t now[VALUES];
	bool held_back = false;

	if (!v || !values_of(o, now))
		return false;
	for (unsigned i = 0; i < VALUES && v->id == o->id && user; i++) {
		if (v->value[i] == now[i])
			continue;
		if (tells)
			value_changed(cp, v, i, now[i], user);
		held_back |= !tells;
	}
	while (v->id != o->id && !LIST_EMPTY(&v->pending))
		pending_free(cp->live, LIST_FIRST(&v->pending));
	v->id = o->id;
	memcpy(v->value, now, sizeof(now));
	return held_back;
}

static void many_tell(struct cp *cp, const struct cp_commit *commit, unsigned count)
{
	char text[400];

	if (!count)
		return;
	snprintf(text, sizeof(text), "ratios of %u more servers changed: %s", count, commit->what);
	journal_write(&cp->journal, &(struct event_record){.message = MESSAGE_RATIOS_MANY,
					    .actor = cp_journal_actor(commit->user),
					    .count = count,
					    .cause = commit->what,
					    .text = text});
}

void cp_live_commit(
	struct cp *cp, const struct cp_commit *commit, const struct model_changes *changes)
{
	unsigned many = 0, seen = 0;

	for (unsigned i = 0; i < changes->count; i++) {
		const struct model_change *row = &changes->row[i];
		const struct object *o =
			row->what == CHANGE_DELETED ? NULL : model_get(cp->model, row->id);

		if (!o || (o->kind != KIND_NODE && o->kind != KIND_POOL_MEMBER))
			continue;
		many += object_look(cp, o, commit->user, seen++ < EACH_MAX);
	}
	many_tell(cp, commit, many);
}

void cp_live_second(struct cp *cp, bool all)
{
	struct pending *p;
	uint32_t now = clock_second();

	while (cp->live && (p = TAILQ_FIRST(&cp->live->order)) &&
		(all || now - p->second >= WINDOW_SECONDS)) {
		if (p->count)
			tell(cp, p);
		if (!p->count || all) {
			pending_free(cp->live, p);
			continue;
		}
		/* Who goes on has the next window. */
		p->count = 0;
		p->second = now;
		TAILQ_REMOVE(&cp->live->order, p, order);
		TAILQ_INSERT_TAIL(&cp->live->order, p, order);
	}
}

void cp_live_reset(struct cp *cp)
{
	const struct object *o, *child;

	for (unsigned i = 0; (o = model_at(cp->model, KIND_NODE, i)); i++)
		object_look(cp, o, NULL, false);
	for (unsigned i = 0; (o = model_at(cp->model, KIND_POOL, i)); i++)
		for (unsigned k = 0; (child = model_child_at(cp->model, o, k)); k++)
			object_look(cp, child, NULL, false);
}

int cp_live_init(struct cp *cp)
{
	cp->live = calloc(1, sizeof(*cp->live));
	if (!cp->live)
		return -ENOMEM;
	TAILQ_INIT(&cp->live->order);
	cp_live_reset(cp);
	return 0;
}

void cp_live_fini(struct cp *cp)
{
	struct cp_live *l = cp->live;

	if (!l)
		return;
	cp_live_second(cp, true);
	for (unsigned i = 0; i < l->slots; i++)
		free(l->live[i]);
	free(l->live);
	free(l);
	cp->live = NULL;
}
