/* SPDX-License-Identifier: BSD-3-Clause */
/* show sys history, one commit of it, and what is not saved. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/answer.h"
#include "cli/shell.h"
#include "cli/utf8.h"

/* Local time of a count of seconds, as text with fraction. */
static const char *time_text(const json_t *row, char out[32])
{
	char *seconds = answer_text(row, "time");
	time_t when = seconds ? (time_t)strtoll(seconds, NULL, 10) : 0;
	struct tm tm;

	out[0] = 0;
	if (localtime_r(&when, &tm))
		strftime(out, 32, "%Y-%m-%d %H:%M:%S", &tm);
	free(seconds);
	return out;
}

/* "admin", "bob from 192.0.2.7" */
static char *author_text(const json_t *row)
{
	char *author = answer_text(row, "author"), *address = answer_text(row, "address");
	char *out = NULL;

	if (author && address && *address && asprintf(&out, "%s from %s", author, address) < 0)
		out = NULL;
	free(address);
	if (!out)
		return author;
	free(author);
	return out;
}

static void print_commits(struct shell *sh, const json_t *rows)
{
	struct table t;

	table_init(&t, 5, 9);
	table_add(&t, "Generation", "Time", "Author", "Changes", "What");
	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		char *generation = answer_text(row, "generation"), *author = author_text(row);
		char *changes = answer_text(row, "changes"), *what = answer_text(row, "what");
		char when[32];

		table_add(&t, generation, time_text(row, when), author, changes, what);
		free(generation);
		free(author);
		free(changes);
		free(what);
	}
	table_print(&t, 0, sh->out);
	table_fini(&t);
}

/* Line by line: nothing unprintable goes to a terminal. */
static void print_difference(struct shell *sh, const json_t *row)
{
	char *text = answer_text(row, "difference"), *at = text, *line;

	while (at && (line = strsep(&at, "\n"))) {
		char *clean = utf8_clean(line);

		if (clean && (at || *line))
			fprintf(sh->out, "%s\n", clean);
		free(clean);
	}
	free(text);
}

static void print_commit(struct shell *sh, const json_t *row)
{
	char *generation = answer_text(row, "generation"), *author = author_text(row);
	char *what = answer_text(row, "what"), when[32];
	struct table t;

	fprintf(sh->out, "Sys::History: %s\n", generation ? generation : "");
	table_init(&t, 3, 0);
	if (json_object_get(row, "author")) {
		table_add(&t, "Time", ":", time_text(row, when));
		table_add(&t, "Author", ":", author);
		table_add(&t, "What", ":", what);
	}
	table_print(&t, 2, sh->out);
	table_fini(&t);
	print_difference(sh, row);
	free(generation);
	free(author);
	free(what);
}

enum outcome history_run(struct shell *sh, const struct cli_command *c)
{
	json_t *request = shell_show_request("sys history"), *rows;

	if (c->names && request)
		json_object_set_new(request, "generation",
			json_integer((json_int_t)strtoll(c->name[0]->text, NULL, 10)));
	if (sh->json)
		return shell_print_rows(sh, request);
	enum outcome outcome = shell_rows(sh, request, &rows);
	if (!outcome && c->names)
		print_commit(sh, json_array_get(rows, 0));
	else if (!outcome)
		print_commits(sh, rows);
	json_decref(rows);
	return outcome;
}

enum outcome difference_run(struct shell *sh)
{
	json_t *rows;

	if (sh->json)
		return shell_print_rows(sh, shell_show_request("sys config difference"));
	enum outcome outcome = shell_rows(sh, shell_show_request("sys config difference"), &rows);
	const json_t *row = json_array_get(rows, 0);
	if (!outcome && !json_string_length(json_object_get(row, "difference")))
		fputs("Nothing differs from what was saved\n", sh->out);
	else if (!outcome)
		print_difference(sh, row);
	json_decref(rows);
	return outcome;
}
