/* SPDX-License-Identifier: BSD-3-Clause */
/* What show says of nodes and members beside their traffic: what checks found, who holds them, what agents asked. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/answer.h"
#include "cli/shell.h"

const char *server_since(json_int_t ms, char out[32])
{
	long long s = (long long)time(NULL) - ms / 1000;

	out[0] = 0;
	if (!ms)
		return out;
	if (s < 60)
		snprintf(out, 32, "%lld s", s < 0 ? 0 : s);
	else if (s < 3600)
		snprintf(out, 32, "%lld min %lld s", s / 60, s % 60);
	else if (s < 86400)
		snprintf(out, 32, "%lld h %lld min", s / 3600, s / 60 % 60);
	else
		snprintf(out, 32, "%lld d %lld h", s / 86400, s / 3600 % 24);
	return out;
}

static bool is_text(const json_t *row, const char *key, const char *text)
{
	const char *value = json_string_value(json_object_get(row, key));

	return value && !strcmp(value, text);
}

/* "down for 3 min 12 s" */
static const char *monitor_text(const json_t *row, char out[80])
{
	const char *status = json_string_value(json_object_get(row, "monitorStatus"));
	char since[32];

	server_since(json_integer_value(json_object_get(row, "monitorSince")), since);
	/* That is a time of the server's own checks. */
	if (is_text(row, "monitorStatus", "forced-down") ||
		is_text(row, "monitorStatus", "address-down"))
		*since = 0;
	snprintf(out, 80, "%.40s%s%s", status ? status : "", *since ? " for " : "", since);
	return out;
}

static void add_hold(struct table *t, const json_t *hold)
{
	char *class = answer_text(hold, "class"), *session = answer_text(hold, "session");
	char *state = answer_text(hold, "state"), *reason = answer_text(hold, "reason");
	char label[40], *text = NULL;

	snprintf(label, sizeof(label), "Held by %s", class ? class : "");
	if (session && state && reason &&
		asprintf(&text, "%s, %s%s%s%s", session, state, *reason ? " (" : "", reason,
			*reason ? ")" : "") < 0)
		text = NULL;
	table_add(t, label, ":", text);
	free(class);
	free(session);
	free(state);
	free(reason);
	free(text);
}

static bool agent_asks(const json_t *row)
{
	const json_t *weight = json_object_get(row, "agentWeight");

	return (weight && json_integer_value(weight) != 100) ||
	       json_integer_value(json_object_get(row, "agentConnectionLimit"));
}

/* "weight 50 % (ratio 2 of 4), at most 20 connections" */
static const char *agent_text(const json_t *row, char out[120])
{
	json_int_t limit = json_integer_value(json_object_get(row, "agentConnectionLimit"));

	snprintf(out, 120, "weight %lld %% (ratio %lld of %lld)",
		json_integer_value(json_object_get(row, "agentWeight")),
		json_integer_value(json_object_get(row, "ratioInForce")),
		json_integer_value(json_object_get(row, "ratio")));
	if (limit)
		snprintf(out + strlen(out), 120 - strlen(out), ", at most %lld connections", limit);
	return out;
}

void server_lines(struct table *t, const json_t *row)
{
	const json_t *holds = json_object_get(row, "holds");
	char text[120], *said;

	if (!holds)
		return;
	table_add(t, "Monitor Status", ":", monitor_text(row, text));
	for (size_t i = 0; i < json_array_size(holds); i++)
		add_hold(t, json_array_get(holds, i));
	if (agent_asks(row))
		table_add(t, "Agent asks for", ":", agent_text(row, text));
	said = answer_text(row, "agentSaid");
	if (said && *said)
		table_add(t, "Agent said", ":", said);
	free(said);
}

static bool is_as_usual(const json_t *row)
{
	return is_text(row, "monitorStatus", "unchecked") && !agent_asks(row) &&
	       !json_array_size(json_object_get(row, "holds")) &&
	       is_text(row, "status.enabledState", "enabled");
}

void server_table(struct shell *sh, const json_t *members)
{
	struct table t;
	char monitor[80], agent[120];

	table_init(&t, 4, 0);
	table_add(&t, "Member", "Monitor", "Agent", "Reason");
	for (size_t i = 0; i < json_array_size(members); i++) {
		const json_t *row = json_array_get(members, i);
		char *name = answer_name(row, "name"),
		     *reason = answer_text(row, "status.statusReason");

		if (!is_as_usual(row))
			table_add(&t, name, monitor_text(row, monitor),
				agent_asks(row) ? agent_text(row, agent) : "", reason);
		free(name);
		free(reason);
	}
	if (t.rows > 1) {
		fputs("Reasons\n", sh->out);
		table_print(&t, 2, sh->out);
	}
	table_fini(&t);
}
