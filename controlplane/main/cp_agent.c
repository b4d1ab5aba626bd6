/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the agents of servers say (agent-check): a weight, a limit, a hold. All of it is live state: no commit, kept
 * over restarts. A line is acted on once: agent-said keeps it, so that one which comes again, after a restart of
 * weir-mon or weir-cp, does not undo what an operator did meanwhile.
 *
 * Many agents that change their minds all the time are taken one after the other, a few in each slice of time;
 * what waits of one server is merged.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "health/health_agent.h"
#include "main/cp.h"

#define LINES_AT_ONCE 20
#define SLICE_MS 20 /* 1,000 lines a second */
#define SAID_MAX 512

struct line {
	uint32_t object, monitor;
	struct health_agent said; /* of all lines that were merged */
	char description[128];
	char text[SAID_MAX];		/* the last of them, for agent-said */
	char note[HOLD_REASON_MAX + 1]; /* what became of the hold, for the journal */
};

struct cp_agent {
	struct line *line; /* ring of what waits */
	unsigned first, count, size;
	uint64_t *waiting; /* bit per id slot: of the object a line is in the ring */
	struct event *turn;
};

static const struct cp_user agent_user = {
	.name = "agent", .role = ROLE_OPERATOR, .class = HOLD_AGENT};

/* --- one server ----------------------------------------------------------------------------------- */

static const char *said_of(const struct cp *cp, const struct object *o)
{
	return model_string(cp->model, o->kind == KIND_NODE
					       ? model_node(o)->live.agent_said
					       : model_pool_member(o)->live.agent_said);
}

static void name_of(const struct cp *cp, const struct object *o, char *out, size_t size)
{
	const struct object *owner = model_get(cp->model, o->owner);

	snprintf(out, size, "%s%s%s", owner ? owner->path : "", owner ? " " : "", o->path);
}

static int hold_change(struct cp *cp, struct line *l, struct model_error *err)
{
	const struct object *o = model_get(cp->model, l->object);
	const struct hold *hold = &model_holds(o)->by[HOLD_AGENT];
	struct health_agent_hold next;

	if (!health_agent_hold(hold->bits, model_string(cp->model, hold->reason), &l->said, &next))
		return 0;
	snprintf(l->note, sizeof(l->note), "%s",
		next.bits ? next.reason : "its agent takes back its hold");
	return model_hold(cp->model, o->id, HOLD_AGENT, next.bits, next.reason, err);
}

static int line_change(struct cp *cp, void *ctx, struct model_error *err)
{
	struct line *l = ctx;
	int rc = hold_change(cp, l, err);

	if (rc == 0 && l->said.weight >= 0)
		rc = model_set_int(
			cp->model, l->object, "agent-weight", (uint32_t)l->said.weight, err);
	if (rc == 0 && l->said.maxconn >= 0)
		rc = model_set_int(cp->model, l->object, "agent-connection-limit",
			(uint32_t)l->said.maxconn, err);
	return rc ? rc : model_set_text(cp->model, l->object, NULL, "agent-said", l->text, err);
}

static bool is_asked(const struct cp *cp, const struct object *o, uint32_t monitor)
{
	const struct model_monitor_rule *rule = model_monitor_rule(cp->model, o);
	unsigned i = 0;

	while (i < rule->count && rule->monitor[i] != monitor)
		i++;
	return i < rule->count;
}

static void line_apply(struct cp *cp, struct line *l)
{
	const struct object *o = model_get(cp->model, l->object);
	char name[2 * MODEL_NAME_MAX], what[2 * MODEL_NAME_MAX + 16], text[2048];
	struct model_changes changes;
	struct model_error err;

	if (!o || !is_asked(cp, o, l->monitor))
		return; /* deleted, or taken out of its rule, while the line waited */
	name_of(cp, o, name, sizeof(name));
	snprintf(what, sizeof(what), "agent of %s", name);
	struct cp_commit commit = {
		.user = &agent_user, .what = what, .change = line_change, .ctx = l};
	if (cp_commit(cp, &commit, &changes, &err)) {
		log_error("%s: %s", what, model_error_text(&err, text, sizeof(text)));
		return;
	}
	model_changes_fini(&changes);
}

/* --- what waits ----------------------------------------------------------------------------------- */

static struct line *line_at(const struct cp_agent *a, unsigned i)
{
	return &a->line[(a->first + i) % a->size];
}

static bool ring_grow(struct cp_agent *a)
{
	unsigned size = a->size ? 2 * a->size : 64;
	struct line *more = calloc(size, sizeof(*more));

	if (!more)
		return false;
	for (unsigned i = 0; i < a->count; i++) {
		more[i] = *line_at(a, i);
		more[i].said.description = more[i].description;
	}
	free(a->line);
	a->line = more;
	a->first = 0;
	a->size = size;
	return true;
}

static struct line *line_waiting(const struct cp_agent *a, uint32_t object, uint32_t monitor)
{
	if (!(a->waiting[id_slot(object) / 64] >> id_slot(object) % 64 & 1))
		return NULL;
	for (unsigned i = 0; i < a->count; i++)
		if (line_at(a, i)->object == object && line_at(a, i)->monitor == monitor)
			return line_at(a, i);
	return NULL;
}

static struct line *line_new(struct cp_agent *a, uint32_t object, uint32_t monitor)
{
	struct line *l;

	if (a->count == a->size && !ring_grow(a))
		return NULL;
	l = line_at(a, a->count++);
	a->waiting[id_slot(object) / 64] |= 1ull << id_slot(object) % 64;
	*l = (struct line){.object = object,
		.monitor = monitor,
		.said = {.weight = -1, .maxconn = -1, .admin = "", .state = ""}};
	return l;
}

static void line_take(struct cp_agent *a, struct line *out)
{
	*out = *line_at(a, 0);
	out->said.description = out->description;
	a->first = (a->first + 1) % a->size;
	a->count--;
	/* Another of its monitors may still have one. */
	for (unsigned i = 0; i < a->count; i++)
		if (line_at(a, i)->object == out->object)
			return;
	a->waiting[id_slot(out->object) / 64] &= ~(1ull << id_slot(out->object) % 64);
}

static void on_turn(evutil_socket_t fd, short what, void *ctx)
{
	static const struct timeval slice = {.tv_usec = SLICE_MS * 1000};
	struct cp *cp = ctx;
	struct cp_agent *a = cp->agent;

	for (int i = 0; i < LINES_AT_ONCE && a->count; i++) {
		struct line l;

		line_take(a, &l);
		line_apply(cp, &l);
	}
	if (a->count)
		event_add(a->turn, &slice);
}

/* The words of the line outlive it only if they are ours. */
static const char *own_word(const char *word)
{
	static const char *const words[] = {
		"ready", "drain", "maint", "up", "down", "stopped", "failed"};

	for (size_t i = 0; word && i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(words[i], word))
			return words[i];
	return "";
}

static struct health_agent own_line(const struct health_agent *line)
{
	return (struct health_agent){
		.weight = line->weight > 256 ? 256 : line->weight,
		.maxconn = line->maxconn > UINT32_MAX ? UINT32_MAX : line->maxconn,
		.admin = own_word(line->admin),
		.state = own_word(line->state),
		.description = line->description ? line->description : "",
	};
}

/* "/Common/agent: drain 50%": another monitor's words are other words. */
static void said_text(
	const struct cp *cp, uint32_t monitor, const struct health_agent *line, char out[SAID_MAX])
{
	const struct object *m = model_get(cp->model, monitor);
	char words[300];

	health_agent_text(line, words, sizeof(words));
	snprintf(out, SAID_MAX, "%.*s: %s", CP_AGENT_NAME_MAX, m ? m->path : "", words);
}

void cp_agent_line(
	struct cp *cp, uint32_t object, uint32_t monitor, const struct health_agent *line)
{
	static const struct timeval now = {0};
	const struct object *o = model_get(cp->model, object);
	struct health_agent heard = own_line(line);
	struct line *l = line_waiting(cp->agent, object, monitor);
	char text[SAID_MAX];

	if (!o || (o->kind != KIND_NODE && o->kind != KIND_POOL_MEMBER))
		return;
	said_text(cp, monitor, &heard, text);
	if (!l && !strcmp(text, said_of(cp, o)))
		return;
	if (!l)
		l = line_new(cp->agent, object, monitor);
	if (!l) {
		log_error("agent of %s: no memory: not acted on: %s", o->path, text);
		return;
	}
	health_agent_merge(&l->said, &heard);
	snprintf(l->description, sizeof(l->description), "%s", heard.description);
	snprintf(l->text, sizeof(l->text), "%s", text);
	if (!event_pending(cp->agent->turn, EV_TIMEOUT, NULL))
		event_add(cp->agent->turn, &now);
}

int cp_agent_init(struct cp *cp)
{
	struct cp_agent *a = cp->agent = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->waiting = calloc(ID_SLOTS_MAX / 64, sizeof(*a->waiting));
	a->turn = evtimer_new(cp->base, on_turn, cp);
	return a->waiting && a->turn ? 0 : -ENOMEM;
}

void cp_agent_fini(struct cp *cp)
{
	struct cp_agent *a = cp->agent;

	if (!a)
		return;
	if (a->turn)
		event_free(a->turn);
	free(a->waiting);
	free(a->line);
	free(a);
}
