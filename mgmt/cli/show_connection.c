/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * show and delete sys connection. There may be millions: a row is printed as it comes and
 * forgotten, and weir-cp sends no faster than we read.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/filter.h"
#include "cli/shell.h"
#include "cli/utf8.h"

struct printer {
	struct shell *shell;
	unsigned long long rows;
};

/* A cell and the blanks up to its column's width; a longer one pushes the rest of its line. */
static void put_cell(FILE *out, char *text, int width)
{
	char *clean = utf8_clean(text ? text : "");
	int used = clean ? (int)utf8_width(clean) : 0;

	fprintf(out, "%s%*s", clean ? clean : "", width > used ? width - used + 2 : 2, "");
	free(clean);
	free(text);
}

static void put_end(FILE *out, char *text)
{
	char *clean = utf8_clean(text ? text : "");

	fprintf(out, "%s\n", clean ? clean : "");
	free(clean);
	free(text);
}

static void print_head(FILE *out)
{
	fputs("Sys::Connections\n", out);
	fprintf(out, "%-21s  %-21s  %-21s  %-21s  %-8s  %-12s  %6s  %6s  %6s  %s\n", "cs-client",
		"cs-server", "ss-client", "ss-server", "protocol", "state", "idle", "age", "worker",
		"virtual-server");
}

static long long row_number(const json_t *row, const char *key)
{
	return json_integer_value(json_object_get(row, key));
}

static enum outcome text_row(void *arg, const json_t *row)
{
	struct printer *p = arg;
	FILE *out = p->shell->out;

	if (!p->rows++)
		print_head(out);
	put_cell(out, answer_endpoint(row, "cs-client-addr", "cs-client-port"), 21);
	put_cell(out, answer_endpoint(row, "cs-server-addr", "cs-server-port"), 21);
	put_cell(out, answer_endpoint(row, "ss-client-addr", "ss-client-port"), 21);
	put_cell(out, answer_endpoint(row, "ss-server-addr", "ss-server-port"), 21);
	put_cell(out, answer_text(row, "protocol"), 8);
	put_cell(out, answer_text(row, "state"), 12);
	fprintf(out, "%6lld  %6lld  %6lld  ", row_number(row, "idle"), row_number(row, "age"),
		row_number(row, "worker"));
	put_end(out, answer_name(row, "virtual"));
	return shell_output_state(p->shell);
}

static enum outcome line_row(void *arg, const json_t *row)
{
	struct printer *p = arg;

	json_dumpf(row, p->shell->out, JSON_COMPACT | (p->shell->terminal ? JSON_ENSURE_ASCII : 0));
	fputc('\n', p->shell->out);
	return shell_output_state(p->shell);
}

/* The command was checked when it was parsed, so every value is right here. */
static json_t *filter_json(const struct cli_command *c)
{
	json_t *filter = json_object();

	for (unsigned i = 0; i < c->options; i++) {
		const struct filter_word *f = filter_find(c->option[i].name->text);
		const struct word *value = c->option[i].value;
		char reason[160];
		uint32_t number;

		filter_check(f, value->text, &number, reason, sizeof(reason));
		if (f->type == FILTER_PORT || f->type == FILTER_SECONDS)
			json_object_set_new(filter, f->wire, json_integer(number));
		else
			shell_set_text(filter, f->wire, value->text, value->length);
	}
	return filter;
}

static enum outcome delete_connections(struct shell *sh, const struct cli_command *c)
{
	json_t *result;
	enum outcome outcome = session_ask(&sh->session,
		json_pack("{s:s, s:o}", "op", "delete-connections", "filter", filter_json(c)), NULL,
		NULL, &result);

	if (outcome)
		return outcome;
	if (sh->json)
		shell_print_json(sh, result);
	else
		fprintf(sh->out, "Connections deleted: %lld\n", row_number(result, "count"));
	json_decref(result);
	return OUTCOME_OK;
}

enum outcome connection_run(struct shell *sh, const struct cli_command *c)
{
	struct printer p = {.shell = sh};
	json_t *request;

	if (c->verb == CLI_DELETE)
		return delete_connections(sh, c);
	request = shell_show_request("sys connection");
	json_object_set_new(request, "filter", filter_json(c));
	enum outcome outcome =
		session_ask(&sh->session, request, sh->json ? line_row : text_row, &p, NULL);
	if (!outcome && !sh->json)
		fprintf(sh->out, "Total records returned: %llu\n", p.rows);
	return outcome;
}
