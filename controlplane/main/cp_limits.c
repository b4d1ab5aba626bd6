/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limits that were reached: told once, and again when they have not been reached for some seconds, since a server at
 * its limit is just below it all the time.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/ids.h"
#include "compile/compile.h"
#include "main/cp.h"

#define QUIET_SECONDS 5u

struct limit {
	uint32_t object; /* the slot's */
	uint8_t left
		[2]; /* s until it is told that it is left, 0: it is not reached; limit, ports */
};

struct cp_limits {
	struct limit *of; /* by id slot */
	unsigned slots;
};

static struct limit *limit_of(struct cp_limits *l, uint32_t object)
{
	uint32_t slot = id_slot(object);

	if (slot >= l->slots) {
		unsigned slots = 2 * slot + 64;
		struct limit *more = reallocarray(l->of, slots, sizeof(*more));

		if (!more)
			return NULL;
		memset(more + l->slots, 0, (slots - l->slots) * sizeof(*more));
		l->of = more;
		l->slots = slots;
	}
	return &l->of[slot];
}

void cp_limit_reached(struct cp *cp, uint32_t object, enum event_message message)
{
	if (!cp->limits)
		cp->limits = calloc(1, sizeof(*cp->limits));
	struct limit *l = cp->limits ? limit_of(cp->limits, object) : NULL;
	if (!l)
		return;
	if (l->object != object)
		*l = (struct limit){.object = object};
	l->left[message == MESSAGE_PORT_EXHAUSTION] = QUIET_SECONDS + 1;
}

void cp_limit_event(struct cp *cp, const struct event_row *row)
{
	enum event_message message =
		row->type == EVENT_LIMIT_REACHED ? MESSAGE_LIMIT_REACHED : MESSAGE_PORT_EXHAUSTION;
	const struct object *o = model_get(cp->model, row->object);
	const struct object *owner = o ? model_get(cp->model, o->owner) : NULL;

	/* One that is known to be reached is told when it ends. */
	if (!o || !journal_is_bad(&cp->journal, message, model_kinds[o->kind].full,
			  owner ? owner->path : NULL, o->path))
		journal_event(&cp->journal, cp->model, row);
	cp_limit_reached(cp, row->object, message);
}

static bool is_at_limit(const struct cp *cp, const struct object *o)
{
	const struct counters *c = dplink_counters(cp->link);
	uint32_t limit = o->kind == KIND_VIRTUAL ? model_virtual(o)->conf.connection_limit
						 : compile_connection_limit(o);

	return c && limit && drain_connections(c, o->id) >= limit;
}

/* Servers at their limit are passed over by the dataplane without a word: it is seen here. */
void cp_limit_look(struct cp *cp, const struct object *o)
{
	const struct event_row row = {
		.type = EVENT_LIMIT_REACHED, .object = o->id, .time = clock_ns()};

	if (is_at_limit(cp, o))
		cp_limit_event(cp, &row);
}

static void left_tell(struct cp *cp, const struct object *o, enum event_message message)
{
	const struct object *owner = model_get(cp->model, o->owner);
	bool limit = message == MESSAGE_LIMIT_REACHED;
	char text[800];

	snprintf(text, sizeof(text), "%s%s%s: %s", owner ? owner->path : "", owner ? " " : "",
		o->path, limit ? "is below its connection limit" : "has source ports again");
	struct event_record r = {.message = limit ? MESSAGE_LIMIT_LEFT : MESSAGE_PORTS_LEFT,
		.kind = model_kinds[o->kind].full,
		.object = o->path,
		.owner = owner ? owner->path : NULL,
		.text = text};
	journal_tell(&cp->journal, &r, &(struct journal_ask){.turn = JOURNAL_GOOD});
}

/* What is at its limit now was looked at before. */
void cp_limits_second(struct cp *cp)
{
	static const enum event_message messages[] = {
		MESSAGE_LIMIT_REACHED, MESSAGE_PORT_EXHAUSTION};
	struct cp_limits *l = cp->limits;

	for (unsigned i = 0; l && i < l->slots; i++) {
		const struct object *o = model_get(cp->model, l->of[i].object);

		for (unsigned k = 0; o && k < 2; k++)
			if (l->of[i].left[k] && --l->of[i].left[k] == 0)
				left_tell(cp, o, messages[k]);
	}
}

void cp_limits_fini(struct cp *cp)
{
	if (cp->limits)
		free(cp->limits->of);
	free(cp->limits);
	cp->limits = NULL;
}
