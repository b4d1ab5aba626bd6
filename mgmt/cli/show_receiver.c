/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is told of events: show sys receiver, show sys alert; test of one. */
#include <stdlib.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/shell.h"
#include "model/model.h"

/* Whether a receiver's name (syslog:NAME, trap:PATH, alert:PATH) is meant by a word: whole, or without its kind. */
static bool is_meant(const char *name, const char *word)
{
	const char *own = strchr(name, ':');

	own = own ? own + 1 : name;
	return !strcmp(name, word) || !strcmp(own, word) || !strcmp(name_short(own), word);
}

static bool is_asked(const struct cli_command *c, const json_t *row)
{
	const char *name = json_string_value(json_object_get(row, "name"));

	if (!name || (c->kind == KIND_ALERT && strncmp(name, "alert:", 6)))
		return false;
	for (unsigned i = 0; i < c->names; i++) {
		if (is_meant(name, c->name[i]->text))
			return true;
	}
	return !c->names;
}

/* The receivers that a command names, or all. */
static enum outcome asked_receivers(struct shell *sh, const struct cli_command *c, json_t **asked)
{
	json_t *rows = NULL, *row;
	enum outcome outcome = shell_rows(sh, shell_show_request("sys receiver"), &rows);
	size_t i;

	*asked = json_array();
	json_array_foreach(rows, i, row)
	{
		if (is_asked(c, row))
			json_array_append(*asked, row);
	}
	json_decref(rows);
	if (outcome || json_array_size(*asked) >= c->names)
		return outcome;
	session_fail(
		&sh->session, "%s %s: there is no such receiver", c->component, c->name[0]->text);
	return OUTCOME_REFUSED;
}

static void print_rows(struct shell *sh, const json_t *rows)
{
	struct table t;

	table_init(&t, 7, 1u << 2 | 1u << 3 | 1u << 4);
	table_add(&t, "Receiver", "Kind", "Delivered", "Waiting", "Dropped", "For", "State");
	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		char *name = answer_text(row, "name"), *kind = answer_text(row, "kind");
		char *delivered = answer_text(row, "delivered"),
		     *waiting = answer_text(row, "waiting");
		char *dropped = answer_text(row, "dropped"), *error = answer_text(row, "error");
		char since[32];

		table_add(&t, name, kind, delivered, waiting, dropped,
			server_since(json_integer_value(json_object_get(row, "since")), since),
			error && *error ? error : "works");
		free(name);
		free(kind);
		free(delivered);
		free(waiting);
		free(dropped);
		free(error);
	}
	table_print(&t, 0, sh->out);
	table_fini(&t);
}

enum outcome receiver_run(struct shell *sh, const struct cli_command *c)
{
	json_t *asked;
	enum outcome outcome = asked_receivers(sh, c, &asked);

	if (!outcome && sh->json)
		shell_print_json(sh, asked);
	else if (!outcome)
		print_rows(sh, asked);
	json_decref(asked);
	return outcome;
}

static enum outcome try_receiver(struct shell *sh, const char *name)
{
	json_t *result = NULL;
	enum outcome outcome = session_ask(&sh->session,
		json_pack("{s:s, s:s}", "op", "test-receiver", "name", name), NULL, NULL, &result);
	bool ok = json_is_true(json_object_get(result, "ok"));
	char *reason = answer_text(result, "reason");

	if (!outcome && sh->json)
		shell_print_json(sh, result);
	else if (!outcome && ok)
		fprintf(sh->out, "%s has taken the message\n", name);
	if (!outcome && !ok) {
		session_fail(&sh->session, "%s: %s", name, reason);
		outcome = OUTCOME_REFUSED;
	}
	free(reason);
	json_decref(result);
	return outcome;
}

enum outcome test_receiver_run(struct shell *sh, const struct cli_command *c)
{
	json_t *asked;
	enum outcome outcome = asked_receivers(sh, c, &asked);

	if (!outcome && json_array_size(asked) > 1) {
		session_fail(&sh->session, "%s %s: more than one receiver has this name",
			c->component, c->name[0]->text);
		outcome = OUTCOME_REFUSED;
	} else if (!outcome) {
		outcome = try_receiver(
			sh, json_string_value(json_object_get(json_array_get(asked, 0), "name")));
	}
	json_decref(asked);
	return outcome;
}
