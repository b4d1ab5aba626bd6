/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * show ltm monitor: each monitor, and what it found of each server that it looks at. There may be tens of thousands: a
 * server is printed as it comes.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/answer.h"
#include "cli/shell.h"

struct printer {
	struct shell *shell;
	const json_t *monitor; /* its row, printed before its first server */
	bool titled;
};

static json_int_t number(const json_t *row, const char *key)
{
	return json_integer_value(json_object_get(row, key));
}

static bool has(const json_t *row, const char *key)
{
	return json_object_get(row, key) != NULL;
}

/* Takes text over; a line that says nothing is left out. */
static void add_line(struct table *t, const char *label, char *text)
{
	if (text && *text)
		table_add(t, label, ":", text);
	free(text);
}

static void add_format(struct table *t, const char *label, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void add_format(struct table *t, const char *label, const char *format, ...)
{
	char text[300];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	table_add(t, label, ":", text);
}

/* --- a monitor ------------------------------------------------------------------------------------ */

static void add_timers(struct table *t, const json_t *row)
{
	char *interval = answer_text(row, "interval"), *up = answer_text(row, "upInterval");
	char *timeout = answer_text(row, "timeout"), *failures = answer_text(row, "failures");

	if (interval && *interval && up)
		add_format(t, "Interval", "%s s%s%s%s", interval,
			strcmp(up, "0") ? ", while up " : "", strcmp(up, "0") ? up : "",
			strcmp(up, "0") ? " s" : "");
	if (timeout && *timeout)
		add_format(t, "Timeout", "%s s", timeout);
	if (failures && *failures && strcmp(failures, "0"))
		add_format(t, "Failures", "%s in a row", failures);
	free(interval);
	free(up);
	free(timeout);
	free(failures);
}

static void print_title(struct printer *p)
{
	static const char rule[] =
		"----------------------------------------------------------------\n";
	const json_t *row = p->monitor;
	char *kind = answer_text(row, "kind"), *name = answer_name(row, "name"), *title = NULL;
	FILE *out = p->shell->out;
	struct table t;

	p->titled = true;
	if (kind && name && asprintf(&title, "%s  %s", kind + strlen("ltm monitor "), name) < 0)
		title = NULL;
	table_init(&t, 2, 0);
	table_add(&t, "Ltm::Monitor:", title);
	fputs(rule, out);
	table_print(&t, 0, out);
	fputs(rule, out);
	table_fini(&t);
	table_init(&t, 3, 0);
	add_line(&t, "Destination", answer_text(row, "destination"));
	add_timers(&t, row);
	if (has(row, "detectSilent"))
		add_format(&t, "Noticed within",
			"%lld s if silent, %lld s if refusing, %lld s if answering wrongly",
			number(row, "detectSilent"), number(row, "detectRefusing"),
			number(row, "detectWrong"));
	add_format(&t, "Servers", "%lld (%lld up, %lld down)", number(row, "instances"),
		number(row, "instancesUp"), number(row, "instancesDown"));
	table_print(&t, 2, out);
	table_fini(&t);
	fputc('\n', out);
	free(kind);
	free(name);
	free(title);
}

/* --- a server ------------------------------------------------------------------------------------- */

static const char *status_text(const json_t *row)
{
	const char *status = json_string_value(json_object_get(row, "status"));

	if (status && !strcmp(status, "down-wait-for-manual-resume"))
		return "waits for manual resume";
	if (status && !strcmp(status, "up-no-new-clients"))
		return "up, no new clients";
	return status ? status : "";
}

static void add_probes(struct table *t, const json_t *row)
{
	json_int_t next = number(row, "nextProbeMs");

	if (!has(row, "probes"))
		return;
	if (has(row, "lastResponseMs"))
		add_format(t, "Last Response", "%.1f ms",
			json_number_value(json_object_get(row, "lastResponseMs")));
	add_format(t, "Probes", "%lld (%lld good, %lld failed), next in %.1f s",
		number(row, "probes"), number(row, "successes"), number(row, "failures"),
		next > 0 ? (double)next / 1000 : 0.0);
}

static void add_error(struct table *t, const json_t *row)
{
	char *error = answer_text(row, "lastError"), since[32];

	server_since(number(row, "lastErrorTime"), since);
	if (error && *error)
		add_format(t, "Last Error", "%.250s%s%s%s", error, *since ? ", " : "", since,
			*since ? " ago" : "");
	free(error);
}

static void print_server(struct shell *sh, const json_t *row)
{
	char *owner = answer_name(row, "owner"), *name = answer_name(row, "name"), *title = NULL;
	char since[32];
	struct table t;

	if (owner && name && asprintf(&title, "%s%s%s", *owner ? owner : "node", " ", name) < 0)
		title = NULL;
	table_init(&t, 1, 0);
	table_add(&t, title);
	table_print(&t, 2, sh->out);
	table_fini(&t);
	server_since(number(row, "since"), since);
	table_init(&t, 3, 0);
	add_format(&t, "State", "%s%s%s", status_text(row), *since ? " for " : "", since);
	add_line(&t, "Reason", answer_text(row, "reason"));
	add_probes(&t, row);
	add_error(&t, row);
	table_print(&t, 4, sh->out);
	table_fini(&t);
	fputc('\n', sh->out);
	free(owner);
	free(name);
	free(title);
}

static enum outcome server_row(void *arg, const json_t *row)
{
	struct printer *p = arg;

	if (!p->titled)
		print_title(p);
	print_server(p->shell, row);
	return shell_output_state(p->shell);
}

/* --- which ---------------------------------------------------------------------------------------- */

static json_t *servers_request(const struct cli_command *c)
{
	json_t *request = shell_show_request("ltm monitor instances");

	if (c->kind >= 0)
		json_object_set_new(request, "kind", json_string(c->component));
	for (unsigned i = 0; i < c->options; i++)
		shell_set_text(request, c->option[i].name->text, c->option[i].value->text,
			c->option[i].value->length);
	return request;
}

static enum outcome show_servers(struct printer *p, const struct cli_command *c)
{
	json_t *request = servers_request(c), *result;

	json_object_set(request, "name", json_object_get(p->monitor, "name"));
	enum outcome outcome = session_ask(&p->shell->session, request, server_row, p, &result);
	if (outcome)
		return outcome;
	char *missing = answer_text(result, "missing");
	if (p->titled && missing && *missing)
		fprintf(p->shell->out, "  No statistics of probes: %s\n\n", missing);
	free(missing);
	json_decref(result);
	return OUTCOME_OK;
}

/* Monitors that nobody uses are shown if they are asked for by name. */
static enum outcome show_monitors(
	struct shell *sh, const struct cli_command *c, const struct word *name)
{
	json_t *request = shell_show_request(c->component), *rows;
	enum outcome outcome;
	bool any = false;

	if (name)
		shell_set_text(request, "name", name->text, name->length);
	outcome = shell_rows(sh, request, &rows);
	for (size_t i = 0; !outcome && i < json_array_size(rows); i++) {
		struct printer p = {.shell = sh, .monitor = json_array_get(rows, i)};

		if (name && !c->options)
			print_title(&p);
		if (number(p.monitor, "instances"))
			outcome = show_servers(&p, c);
		any = any || p.titled;
	}
	if (!outcome && !any)
		fputs("No monitor looks at such a server\n", sh->out);
	json_decref(rows);
	return outcome;
}

static enum outcome print_json(
	struct shell *sh, const struct cli_command *c, const struct word *name)
{
	json_t *request = servers_request(c);

	if (name)
		shell_set_text(request, "name", name->text, name->length);
	return shell_print_rows(sh, request);
}

enum outcome monitor_run(struct shell *sh, const struct cli_command *c)
{
	enum outcome (*show)(struct shell *, const struct cli_command *, const struct word *) =
		sh->json ? print_json : show_monitors;
	enum outcome outcome = OUTCOME_OK;

	if (!c->names)
		return show(sh, c, NULL);
	for (unsigned i = 0; i < c->names && !outcome; i++)
		outcome = show(sh, c, c->name[i]);
	return outcome;
}
