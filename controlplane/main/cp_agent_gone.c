/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server whose agent-check was taken out of its rule: nobody would ever take back what its agent had said. So its
 * own hold, weight and limit go with the monitor. What others hold stays, a drain of the agent's class too.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "health/health_agent.h"
#include "main/cp.h"
#include "store/id_set.h"

#define TOLD_MAX 100u /* servers that have a record each */

struct cp_agent_gone {
	struct id_set servers; /* that wait to be looked at */
	struct event *turn;
};

static const struct cp_user agent_user = {
	.name = "agent", .role = ROLE_OPERATOR, .class = HOLD_AGENT};

static const char *said_of(const struct cp *cp, const struct object *o)
{
	return model_string(cp->model, o->kind == KIND_NODE
					       ? model_node(o)->live.agent_said
					       : model_pool_member(o)->live.agent_said);
}

/* Whether the one whose words it is remembered by ("/Common/agent: drain") is still in its rule. */
static bool is_asked(const struct cp *cp, const struct object *o)
{
	const struct model_monitor_rule *rule = model_monitor_rule(cp->model, o);
	const char *said = said_of(cp, o);

	for (unsigned i = 0; i < rule->count; i++) {
		const struct object *monitor = model_get(cp->model, rule->monitor[i]);
		size_t n = monitor ? strnlen(monitor->path, CP_AGENT_NAME_MAX) : 0;

		if (n && !strncmp(said, monitor->path, n) && said[n] == ':')
			return true;
	}
	return false;
}

static bool is_forsaken(const struct cp *cp, const struct object *o)
{
	return *said_of(cp, o) && !is_asked(cp, o);
}

/* --- taking back ---------------------------------------------------------------------------------- */

static int take_back(struct cp *cp, const struct object *o, struct model_error *err)
{
	const struct hold *hold = &model_holds(o)->by[HOLD_AGENT];
	const char *reason = model_string(cp->model, hold->reason);
	int rc = 0;

	if (hold->bits && health_agent_holds(reason))
		rc = model_hold(cp->model, o->id, HOLD_AGENT, 0, "", err);
	if (rc == 0)
		rc = model_set_int(cp->model, o->id, "agent-weight", 100, err);
	if (rc == 0)
		rc = model_set_int(cp->model, o->id, "agent-connection-limit", 0, err);
	return rc ? rc : model_set_text(cp->model, o->id, NULL, "agent-said", "", err);
}

static int take_back_all(struct cp *cp, void *ctx, struct model_error *err)
{
	const struct cp_agent_gone *g = ctx;
	int rc = 0;

	for (unsigned i = 0; i < g->servers.count && rc == 0; i++) {
		const struct object *o = model_get(cp->model, g->servers.id[i]);

		if (o && is_forsaken(cp, o))
			rc = take_back(cp, o, err);
	}
	return rc;
}

/* all: the sentence for those that are too many to be told one by one. */
static void taken_back_tell(struct cp *cp, const struct model_changes *changes, const char *all)
{
	char text[700];

	for (unsigned i = 0; i < changes->count && i < TOLD_MAX; i++) {
		snprintf(text, sizeof(text),
			"%s: what its agent did is taken back: it is asked no more",
			changes->row[i].path);
		cp_journal_note(cp, MESSAGE_AGENT_SAID, model_get(cp->model, changes->row[i].id),
			&agent_user, text);
	}
	if (changes->count > TOLD_MAX)
		cp_journal_note(cp, MESSAGE_AGENT_SAID, NULL, &agent_user, all);
}

static void on_turn(evutil_socket_t fd, short what, void *ctx)
{
	struct cp *cp = ctx;
	struct cp_agent_gone *g = cp->agent_gone;
	const struct cp_commit commit = {.user = &agent_user,
		.what = "agents that are asked no more",
		.change = take_back_all,
		.ctx = g};
	struct model_changes changes;
	struct model_error err;
	char text[2048];

	if (cp_commit(cp, &commit, &changes, &err)) {
		log_error("%s: %s", commit.what, model_error_text(&err, text, sizeof(text)));
	} else {
		snprintf(text, sizeof(text),
			"what the agents of %u servers did is taken back: they are asked no more",
			changes.count);
		taken_back_tell(cp, &changes, text);
		model_changes_fini(&changes);
	}
	id_set_clear(&g->servers);
}

/* --- looking -------------------------------------------------------------------------------------- */

static void look(struct cp *cp, const struct object *o)
{
	struct cp_agent_gone *g = cp->agent_gone;

	if (!is_forsaken(cp, o))
		return;
	if (id_set_add(&g->servers, o->id))
		log_error("agent of %s: no memory: what it did stays", o->path);
	else
		event_add(g->turn, &(struct timeval){0});
}

static void look_at_pool(struct cp *cp, const struct object *pool)
{
	const struct object *o;

	for (unsigned i = 0; (o = model_child_at(cp->model, pool, i)); i++)
		look(cp, o);
}

static void look_at_nodes(struct cp *cp)
{
	const struct object *o;

	for (unsigned i = 0; (o = model_at(cp->model, KIND_NODE, i)); i++)
		look(cp, o);
}

void cp_agent_gone_changed(struct cp *cp, struct model_changes *changes)
{
	const struct id_set *servers = &cp->agent_gone->servers;
	unsigned before = servers->count;
	size_t len = strlen(changes->note);

	for (unsigned i = 0; changes->config && i < changes->count; i++) {
		const struct object *o = model_get(cp->model, changes->row[i].id);

		if (!o || changes->row[i].what == CHANGE_DELETED)
			continue;
		if (cp_is_server(o))
			look(cp, o);
		else if (o->kind == KIND_POOL)
			look_at_pool(cp, o);
		else if (o->kind == KIND_DEFAULT_NODE_MONITOR)
			look_at_nodes(cp);
	}
	if (servers->count > before)
		snprintf(changes->note + len, sizeof(changes->note) - len,
			"%swhat the agents of %u servers did is taken back: they are asked no more",
			len ? "; " : "", servers->count - before);
}

/* What a stop of weir-cp left undone. */
static void look_at_all(struct cp *cp)
{
	const struct object *pool;

	look_at_nodes(cp);
	for (unsigned i = 0; (pool = model_at(cp->model, KIND_POOL, i)); i++)
		look_at_pool(cp, pool);
}

int cp_agent_gone_init(struct cp *cp)
{
	struct cp_agent_gone *g = cp->agent_gone = calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	g->turn = evtimer_new(cp->base, on_turn, cp);
	if (!g->turn || id_set_init(&g->servers))
		return -ENOMEM;
	look_at_all(cp);
	return 0;
}

void cp_agent_gone_fini(struct cp *cp)
{
	struct cp_agent_gone *g = cp->agent_gone;

	if (!g)
		return;
	if (g->turn)
		event_free(g->turn);
	id_set_fini(&g->servers);
	free(g);
}
