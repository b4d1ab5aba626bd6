/* SPDX-License-Identifier: BSD-3-Clause */
/* show sys dataplane, version, config; show net arp, ndp, interface. */
#include <stdlib.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/shell.h"

/* A table whose columns are fields of the rows. */
struct columns {
	const char *what, *none; /* none: said when there is no row */
	unsigned count, right;
	const char *head[6];
	const char *key[6];
};

static void print_columns(struct shell *sh, const struct columns *c, const json_t *rows)
{
	struct table t;

	if (sh->json) {
		shell_print_json(sh, rows);
		return;
	}
	if (!json_array_size(rows)) {
		fprintf(sh->out, "%s\n", c->none);
		return;
	}
	table_init(&t, c->count, c->right);
	table_add_cells(&t, c->head);
	for (size_t i = 0; i < json_array_size(rows); i++)
		answer_add(&t, json_array_get(rows, i), c->key);
	table_print(&t, 0, sh->out);
	table_fini(&t);
}

/* Rows of a name and a value, in JSON one object; a zero is left out of the text if drops is set.
 */
static enum outcome print_values(
	struct shell *sh, const char *what, const char *name_key, const char *value_key, bool drops)
{
	json_t *rows, *document = json_object();
	enum outcome outcome = shell_rows(sh, shell_show_request(what), &rows);
	struct table t;

	table_init(&t, 3, 2);
	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		json_t *value = json_object_get(row, value_key);
		char *name = answer_text(row, name_key), *text = answer_text(row, value_key);
		char *unit = answer_text(row, "unit");

		if (name)
			json_object_set(document, name, value);
		if (!drops || json_integer_value(value))
			table_add(&t, name, text, unit);
		free(name);
		free(text);
		free(unit);
	}
	if (!outcome && sh->json)
		shell_print_json(sh, document);
	else if (!outcome && !t.rows)
		fputs("No packet was dropped\n", sh->out);
	else if (!outcome)
		table_print(&t, 0, sh->out);
	table_fini(&t);
	json_decref(rows);
	json_decref(document);
	return outcome;
}

/* Counters down, workers across. */
static void print_workers(struct shell *sh, const json_t *rows)
{
	size_t workers = json_array_size(rows);
	const char *key;
	json_t *unused;
	struct table t;

	if (workers > TABLE_COLUMNS_MAX - 1)
		workers = TABLE_COLUMNS_MAX - 1;
	table_init(&t, (unsigned)workers + 1, ~1u);
	json_object_foreach(json_array_get(rows, 0), key, unused)
	{
		const char *cell[TABLE_COLUMNS_MAX];
		char *text[TABLE_COLUMNS_MAX];

		cell[0] = key;
		for (size_t i = 0; i < workers; i++)
			cell[i + 1] = text[i] = answer_text(json_array_get(rows, i), key);
		table_add_cells(&t, cell);
		for (size_t i = 0; i < workers; i++)
			free(text[i]);
	}
	table_print(&t, 0, sh->out);
	table_fini(&t);
}

static enum outcome show_workers(struct shell *sh)
{
	json_t *rows;

	if (sh->json)
		return shell_print_rows(sh, shell_show_request("sys worker"));
	enum outcome outcome = shell_rows(sh, shell_show_request("sys worker"), &rows);
	if (!outcome && json_array_size(rows))
		print_workers(sh, rows);
	json_decref(rows);
	return outcome;
}

/* The one row of "sys status" or "sys version": *row gets a reference. */
static enum outcome ask_row(struct shell *sh, const char *what, json_t **row)
{
	json_t *rows;
	enum outcome outcome = shell_rows(sh, shell_show_request(what), &rows);

	*row = json_incref(json_array_get(rows, 0));
	json_decref(rows);
	if (outcome || *row)
		return outcome;
	session_fail(&sh->session, "show %s: weir-cp sent nothing", what);
	return OUTCOME_DISCONNECTED;
}

static void add_value(struct table *t, const char *label, const json_t *row, const char *key)
{
	char *text = answer_text(row, key);

	if (text && *text)
		table_add(t, label, ":", text);
	free(text);
}

static void print_block(struct shell *sh, const char *title, struct table *t)
{
	fprintf(sh->out, "%s\n", title);
	table_print(t, 2, sh->out);
	table_fini(t);
}

void system_greet(struct shell *sh)
{
	json_t *row;

	if (ask_row(sh, "sys status", &row)) {
		fprintf(stderr, "weirsh: %s\n", sh->session.error);
		return;
	}
	char *version = answer_text(row, "version");
	bool connected =
		json_is_true(json_object_get(json_object_get(row, "dataplane"), "connected"));
	sh->unsaved = json_integer_value(json_object_get(row, "unsaved"));
	fprintf(stderr, "Weir %s%s; \"help\" lists the commands\n", version ? version : "",
		connected ? "" : "; the dataplane is not connected");
	free(version);
	json_decref(row);
}

static enum outcome show_dataplane(struct shell *sh)
{
	json_t *row;
	struct table t;
	enum outcome outcome = ask_row(sh, "sys status", &row);

	if (outcome)
		return outcome;
	json_t *state = json_deep_copy(json_object_get(row, "dataplane"));
	if (!state)
		state = json_object();
	json_object_set(state, "running-generation", json_object_get(row, "generation"));
	json_object_set(state, "monitoring", json_object_get(row, "monitoring"));
	if (sh->json) {
		shell_print_json(sh, state);
	} else {
		table_init(&t, 3, 0);
		add_value(&t, "Connected", state, "connected");
		add_value(&t, "Generation in Force", state, "generation");
		add_value(&t, "Running Generation", state, "running-generation");
		add_value(&t, "Workers", state, "workers");
		add_value(&t, "Monitoring", state, "monitoring");
		add_value(&t, "Refused", state, "refused");
		add_value(&t, "Kernel", row, "kernel");
		print_block(sh, "Sys::Dataplane", &t);
	}
	json_decref(state);
	json_decref(row);
	return outcome;
}

static enum outcome show_config(struct shell *sh)
{
	json_t *row;
	struct table t;
	enum outcome outcome = ask_row(sh, "sys status", &row);

	if (outcome)
		return outcome;
	sh->unsaved = json_integer_value(json_object_get(row, "unsaved"));
	if (sh->json) {
		shell_print_json(sh, row);
	} else {
		table_init(&t, 3, 0);
		add_value(&t, "Generation", row, "generation");
		add_value(&t, "Saved Generation", row, "saved");
		add_value(&t, "Changes not Saved", row, "unsaved");
		print_block(sh, "Sys::Config", &t);
	}
	json_decref(row);
	return outcome;
}

static enum outcome show_version(struct shell *sh)
{
	json_t *row;
	struct table t;
	enum outcome outcome = ask_row(sh, "sys version", &row);

	if (outcome)
		return outcome;
	if (sh->json) {
		shell_print_json(sh, row);
	} else {
		table_init(&t, 3, 0);
		add_value(&t, "Product", row, "product");
		add_value(&t, "Version", row, "version");
		add_value(&t, "Local API", row, "api");
		print_block(sh, "Sys::Version", &t);
	}
	json_decref(row);
	return outcome;
}

static enum outcome show_neighbours(struct shell *sh, const char *what)
{
	struct columns c = {.what = what,
		.none = "No neighbour is known",
		.count = 5,
		.right = 16,
		.head = {"Address", "MAC", "VLAN", "State", "Age"},
		.key = {"address", "mac", "vlan", "state", "age"}};

	json_t *rows;
	enum outcome outcome = shell_rows(sh, shell_show_request(what), &rows);

	if (!outcome)
		print_columns(sh, &c, rows);
	json_decref(rows);
	return outcome;
}

/* The rows that the command names; false if one of them is not there. */
static bool choose_interfaces(
	struct shell *sh, const struct cli_command *c, const json_t *rows, json_t *chosen)
{
	for (unsigned n = 0; n < c->names; n++) {
		size_t before = json_array_size(chosen);

		for (size_t i = 0; i < json_array_size(rows); i++) {
			json_t *row = json_array_get(rows, i);
			const char *name = json_string_value(json_object_get(row, "name"));

			if (name && !strcmp(name, c->name[n]->text))
				json_array_append(chosen, row);
		}
		if (json_array_size(chosen) > before)
			continue;
		session_fail(&sh->session, "net interface %s: weir-dp has no such port",
			c->name[n]->text);
		return false;
	}
	return true;
}

static enum outcome show_interfaces(struct shell *sh, const struct cli_command *c)
{
	static const struct columns columns = {.what = "net interface",
		.none = "No port is open",
		.count = 4,
		.head = {"Interface", "Up", "MAC", "Driver"},
		.key = {"name", "up", "mac", "driver"}};
	json_t *rows, *chosen = json_array();
	enum outcome outcome = shell_rows(sh, shell_show_request(columns.what), &rows);

	if (!outcome && !choose_interfaces(sh, c, rows, chosen))
		outcome = OUTCOME_REFUSED;
	if (!outcome)
		print_columns(sh, &columns, c->names ? chosen : rows);
	json_decref(chosen);
	json_decref(rows);
	return outcome;
}

enum outcome system_run(struct shell *sh, const struct cli_command *c)
{
	switch (c->target) {
	case TARGET_CONFIG:
		return c->flags & CLI_DIFFERENCE ? difference_run(sh) : show_config(sh);
	case TARGET_VERSION:
		return show_version(sh);
	case TARGET_HISTORY:
		return history_run(sh, c);
	case TARGET_NEIGHBOUR:
		return show_neighbours(sh, c->component);
	case TARGET_KIND:
		return show_interfaces(sh, c);
	default:
		break;
	}
	if (c->flags & CLI_DROPS)
		return print_values(sh, "sys drop", "reason", "packets", true);
	if (c->flags & CLI_MEMORY)
		return print_values(sh, "sys memory", "name", "value", false);
	return c->flags & CLI_WORKERS ? show_workers(sh) : show_dataplane(sh);
}
