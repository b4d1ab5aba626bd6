/* SPDX-License-Identifier: BSD-3-Clause */
/* ltm drain: create, list, show, delete, and the wait for 0 connections. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "cli/answer.h"
#include "cli/drain_words.h"
#include "cli/shell.h"

#define WAIT_SLICE 60u /* s of one request: weir-cp answers before we take it for dead */

static const struct word *option_of(const struct cli_command *c, const char *name, bool *there)
{
	*there = false;
	for (unsigned i = 0; i < c->options; i++)
		if (!strcmp(c->option[i].name->text, name)) {
			*there = true;
			return c->option[i].value;
		}
	return NULL;
}

static uint32_t seconds_of(const struct word *value)
{
	return value ? (uint32_t)strtoul(value->text, NULL, 10) : 0;
}

/* --- printing ------------------------------------------------------------------------------------- */

static char *subject_of(const json_t *row)
{
	char *node = answer_name(row, "node"), *pool = answer_name(row, "pool");
	char *member = answer_name(row, "member"), *out = NULL;

	if (!node || !pool || !member)
		out = NULL;
	else if (*node)
		out = asprintf(&out, "node %s", node) < 0 ? NULL : out;
	else
		out = asprintf(&out, "pool %s member %s", pool, member) < 0 ? NULL : out;
	free(node);
	free(pool);
	free(member);
	return out;
}

/* "12 s", "unknown", "30 s, when the cap resets what is left" */
static char *forecast_of(const json_t *row, bool basis)
{
	const json_t *value = json_object_get(row, "forecast");
	char *text = answer_text(row, "forecast-basis"), *out = NULL;

	if (!json_is_true(json_object_get(row, "running")) ||
		json_integer_value(json_object_get(row, "connections")) == 0)
		out = strdup("");
	else if (!json_is_integer(value))
		out = strdup(basis ? "unknown: nothing leaves" : "unknown");
	else if (asprintf(&out, "%lld s%s%s", (long long)json_integer_value(value),
			 basis && text && *text ? ", " : "", basis && text ? text : "") < 0)
		out = NULL;
	free(text);
	return out;
}

static char *connections_of(const json_t *row)
{
	if (!json_is_true(json_object_get(row, "running")))
		return strdup("");
	if (json_is_null(json_object_get(row, "connections")))
		return strdup("not known");
	return answer_text(row, "connections");
}

static char *started_of(const json_t *row)
{
	time_t at = (time_t)(json_integer_value(json_object_get(row, "started")) / 1000);
	struct tm tm;
	char text[40] = "";

	if (at && localtime_r(&at, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	return strdup(text);
}

static void print_table(struct shell *sh, const json_t *rows)
{
	struct table t;

	table_init(&t, 8, 1u | 1u << 3 | 1u << 4);
	table_add(&t, "ID", "State", "Server", "Connections", "Elapsed s", "Forecast", "Author",
		"Reason");
	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		char *cell[] = {answer_text(row, "id"), answer_text(row, "state"), subject_of(row),
			connections_of(row), answer_text(row, "elapsed"), forecast_of(row, false),
			answer_text(row, "author"), answer_text(row, "reason")};

		table_add_cells(&t, (const char *const *)cell);
		for (size_t k = 0; k < sizeof(cell) / sizeof(*cell); k++)
			free(cell[k]);
	}
	if (json_array_size(rows))
		table_print(&t, 0, sh->out);
	else
		fputs("No drains\n", sh->out);
	table_fini(&t);
}

/* Takes text over; a line that says nothing is left out. */
static void add_line(struct table *t, const char *label, char *text)
{
	if (text && *text)
		table_add(t, label, ":", text);
	free(text);
}

static void add_seconds(struct table *t, const char *label, const json_t *row, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(row, key));
	char text[40];

	snprintf(text, sizeof(text), "%lld s", (long long)value);
	if (value)
		table_add(t, label, ":", text);
}

static void add_count(struct table *t, const char *label, const json_t *row, const char *key)
{
	if (json_integer_value(json_object_get(row, key)))
		add_line(t, label, answer_text(row, key));
}

static void print_parts(struct shell *sh, const json_t *parts)
{
	struct table t;

	table_init(&t, 3, 4);
	table_add(&t, "Pool", "Member", "Connections");
	for (size_t i = 0; i < json_array_size(parts); i++)
		answer_add(&t, json_array_get(parts, i),
			(const char *const[]){"pool", "member", "connections"});
	if (json_array_size(parts)) {
		fputs("\nMembers\n", sh->out);
		table_print(&t, 2, sh->out);
	}
	table_fini(&t);
}

static void print_flows(struct shell *sh, const json_t *row)
{
	const json_t *flows = json_object_get(row, "flows");
	struct table t;

	if (!json_array_size(flows))
		return;
	fputs("\nOldest connections that hold it up\n", sh->out);
	table_init(&t, 7, 4 | 8 | 16 | 32 | 64);
	table_add(&t, "Client", "State", "Age s", "Idle s", "Timeout s", "Bits In", "Bits Out");
	for (size_t i = 0; i < json_array_size(flows); i++) {
		const json_t *flow = json_array_get(flows, i);
		char *cell[] = {answer_endpoint(flow, "cs-client-addr", "cs-client-port"),
			answer_text(flow, "state"), answer_text(flow, "age"),
			answer_text(flow, "idle"), answer_text(flow, "timeout"),
			answer_text(flow, "bits-in"), answer_text(flow, "bits-out")};

		table_add_cells(&t, (const char *const *)cell);
		for (size_t k = 0; k < sizeof(cell) / sizeof(*cell); k++)
			free(cell[k]);
	}
	table_print(&t, 2, sh->out);
	table_fini(&t);
}

static void print_one(struct shell *sh, const json_t *row)
{
	struct table t;
	char *id = answer_text(row, "id");

	fprintf(sh->out, "Ltm::Drain: %s\n", id ? id : "");
	free(id);
	table_init(&t, 3, 0);
	add_line(&t, "Server", subject_of(row));
	add_line(&t, "State", answer_text(row, "state"));
	add_line(&t, "Remark", answer_text(row, "said"));
	add_line(&t, "Connections", connections_of(row));
	add_line(&t, "Forecast", forecast_of(row, true));
	add_line(&t, "Elapsed s", answer_text(row, "elapsed"));
	add_count(&t, "Reset at the Cap", row, "reset");
	add_count(&t, "Reset as Stuck", row, "stuck");
	add_count(&t, "Reopened", row, "reopened");
	add_line(&t, "Force Offline", answer_text(row, "force-offline"));
	add_seconds(&t, "Timeout", row, "timeout");
	add_line(&t, "Cap Action", answer_text(row, "cap-action"));
	add_seconds(&t, "Stuck Time", row, "stuck-time");
	add_line(&t, "Started", started_of(row));
	add_line(&t, "Author", answer_text(row, "author"));
	add_line(&t, "Class", answer_text(row, "class"));
	add_line(&t, "Reason", answer_text(row, "reason"));
	add_line(&t, "Ended by", answer_text(row, "ended-by"));
	table_print(&t, 2, sh->out);
	table_fini(&t);
	print_parts(sh, json_object_get(row, "members"));
	print_flows(sh, row);
}

/* The words that would create it again. */
static void print_words(struct shell *sh, const json_t *row)
{
	char *id = answer_text(row, "id");

	fprintf(sh->out, "ltm drain %s {\n", id ? id : "");
	free(id);
	for (const struct drain_word *w = drain_words; w->name; w++) {
		char *text = w->verbs >> CLI_CREATE & 1 ? answer_name(row, w->name) : NULL;
		const json_t *value = json_object_get(row, w->name);
		size_t n = text ? strlen(text) : 0;
		char *quoted = malloc(4 * n + 3);

		if (w->type == DRAIN_WORD_FLAG && json_is_true(value)) {
			fprintf(sh->out, "    %s\n", w->name);
		} else if (n && quoted && w->type != DRAIN_WORD_FLAG &&
			   !(w->type == DRAIN_WORD_SECONDS && json_integer_value(value) == 0)) {
			word_quote(text, n, false, quoted, 4 * n + 3);
			fprintf(sh->out, "    %s %s\n", w->name, quoted);
		}
		free(quoted);
		free(text);
	}
	fputs("}\n", sh->out);
}

/* --- asking --------------------------------------------------------------------------------------- */

/* Waits in slices. What stands at the end is the last answer: *row, or an error. */
static enum outcome wait_for(struct shell *sh, json_int_t id, uint32_t seconds, json_t **row)
{
	uint64_t end = clock_ns() + seconds * 1000000000ull;
	enum outcome outcome;

	do {
		uint64_t now = clock_ns();
		uint64_t left = now < end ? (end - now + 999999999u) / 1000000000u : 0;

		outcome = session_ask(&sh->session,
			json_pack("{s:s, s:I, s:I}", "op", "wait-drain", "drain", id, "seconds",
				(json_int_t)(left < WAIT_SLICE ? left : WAIT_SLICE)),
			NULL, NULL, row);
	} while (outcome == OUTCOME_REFUSED && clock_ns() < end &&
		 json_integer_value(json_object_get(sh->session.refusal, "code")) == 504);
	return outcome;
}

static enum outcome create(struct shell *sh, const struct cli_command *c)
{
	json_t *request = json_pack("{s:s}", "op", "start-drain"), *result = NULL;
	bool waits = false;
	uint32_t seconds = seconds_of(option_of(c, "wait", &waits));

	for (unsigned i = 0; i < c->options; i++) {
		const struct word *name = c->option[i].name, *value = c->option[i].value;
		const struct drain_word *w = drain_word_find(CLI_CREATE, name->text);

		if (!strcmp(w->name, "wait"))
			continue;
		if (w->type == DRAIN_WORD_FLAG)
			json_object_set_new(request, w->name, json_true());
		else if (w->type == DRAIN_WORD_SECONDS)
			json_object_set_new(request, w->name, json_integer(seconds_of(value)));
		else
			shell_set_text(request, w->name, value->text, value->length);
	}
	enum outcome outcome = shell_ask_change(sh, request, &result);
	if (outcome)
		return outcome;
	json_int_t id = json_integer_value(json_object_get(result, "id"));
	if (!sh->json)
		fprintf(sh->out, "ltm drain %lld\n", (long long)id);
	else if (!waits)
		shell_print_json(sh, result);
	if (waits) {
		shell_flush(sh);
		json_decref(result);
		result = NULL;
		outcome = wait_for(sh, id, seconds, &result);
		if (!outcome && sh->json)
			shell_print_json(sh, result);
	}
	json_decref(result);
	return outcome;
}

static enum outcome delete (struct shell *sh, const struct cli_command *c) {
	json_t *result = NULL; bool enable = false;

	option_of(c, "enable", &enable);
	enum outcome outcome = shell_ask_change(sh,
		json_pack("{s:s, s:I, s:b}", "op", "end-drain", "drain",
			(json_int_t)drain_word_id(c->name[0]->text), "enable", enable),
		&result);
	if (!outcome && sh->json) shell_print_json(sh, result);
	json_decref(result);
	return outcome;
}

static json_t *show_request(const struct cli_command *c)
{
	json_t *request = shell_show_request("ltm drain");

	if (c->names)
		json_object_set_new(request, "name", json_integer(drain_word_id(c->name[0]->text)));
	return request;
}

static enum outcome look(struct shell *sh, const struct cli_command *c)
{
	json_t *rows = NULL, *row = NULL;
	bool waits = false;
	uint32_t seconds = seconds_of(option_of(c, "wait", &waits));
	enum outcome outcome = OUTCOME_OK;

	if (waits)
		outcome = wait_for(sh, drain_word_id(c->name[0]->text), seconds, &row);
	json_decref(row);
	if (!outcome)
		outcome = shell_rows(sh, show_request(c), &rows);
	if (!outcome && sh->json)
		shell_print_json(sh, rows);
	else if (!outcome && c->verb == CLI_SHOW && !c->names)
		print_table(sh, rows);
	else if (!outcome)
		for (size_t i = 0; i < json_array_size(rows); i++)
			(c->verb == CLI_SHOW ? print_one : print_words)(
				sh, json_array_get(rows, i));
	json_decref(rows);
	return outcome;
}

enum outcome drain_run(struct shell *sh, const struct cli_command *c)
{
	if (sh->transaction && (c->verb == CLI_CREATE || c->verb == CLI_DELETE)) {
		session_fail(&sh->session,
			"cli transaction: drains are no part of one: submit or delete it");
		return OUTCOME_REFUSED;
	}
	if (c->verb == CLI_CREATE)
		return create(sh, c);
	return c->verb == CLI_DELETE ? delete (sh, c) : look(sh, c);
}
