/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limits that were reached: told once, and again when they have not been reached for some seconds, since a server at
 * its limit is just below it all the time.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "compile/compile.h"
#include "main/cp.h"

#define QUIET_SECONDS 5u
#define LIMITS_MAX 4096u

struct cp_limits {
	struct limit {
		uint32_t object;
		enum event_message message;
		unsigned quiet; /* s */
	} limit[LIMITS_MAX];
	unsigned count;
};

void cp_limit_reached(struct cp *cp, uint32_t object, enum event_message message)
{
	struct cp_limits *l = cp->limits;

	if (!l)
		l = cp->limits = calloc(1, sizeof(*l));
	for (unsigned i = 0; l && i < l->count; i++)
		if (l->limit[i].object == object && l->limit[i].message == message) {
			l->limit[i].quiet = 0;
			return;
		}
	if (l && l->count < LIMITS_MAX)
		l->limit[l->count++] = (struct limit){object, message, 0};
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

void cp_limits_second(struct cp *cp)
{
	struct cp_limits *l = cp->limits;
	unsigned kept = 0;

	for (unsigned i = 0; l && i < l->count; i++) {
		struct limit *x = &l->limit[i];
		const struct object *o = model_get(cp->model, x->object);

		if (!o)
			continue;
		x->quiet = x->message == MESSAGE_LIMIT_REACHED && is_at_limit(cp, o) ? 0
										     : x->quiet + 1;
		if (x->quiet <= QUIET_SECONDS)
			l->limit[kept++] = *x;
		else
			left_tell(cp, o, x->message);
	}
	if (l)
		l->count = kept;
}

void cp_limits_fini(struct cp *cp)
{
	free(cp->limits);
	cp->limits = NULL;
}
