/* SPDX-License-Identifier: BSD-3-Clause */
/* show sys event: what happened, and with "follow" what happens, a line each as it comes. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/answer.h"
#include "cli/shell.h"
#include "cli/utf8.h"

struct follower {
	struct shell *shell;
	bool follow;
	json_int_t last; /* id that was printed; -1: none */
};

static void print_time(FILE *out, json_int_t ms)
{
	time_t when = (time_t)(ms / 1000);
	struct tm tm;
	char text[32] = "";

	if (localtime_r(&when, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	fprintf(out, "%s.%03d ", text, (int)(ms % 1000));
}

static void print_text(FILE *out, const char *format, const char *text)
{
	char *clean = text && *text ? utf8_clean(text) : NULL;

	if (clean)
		fprintf(out, format, clean);
	free(clean);
}

static void print_member(FILE *out, const char *format, const json_t *row, const char *key)
{
	char *text = answer_name(row, key);

	print_text(out, format, text);
	free(text);
}

/* "monitorStatus up -> down, ..." */
static void print_changes(FILE *out, const json_t *row)
{
	json_t *before = json_object_get(row, "old"), *after = json_object_get(row, "new");
	const char *key, *comma = "";
	json_t *unused;

	json_object_foreach(after, key, unused)
	{
		char *was = answer_text(before, key), *is = answer_text(after, key);

		fprintf(out, "%s ", comma);
		print_text(out, "%s ", key);
		print_text(out, "%s -> ", was);
		print_text(out, "%s", is);
		comma = ",";
		free(was);
		free(is);
	}
}

static void print_event(FILE *out, const json_t *row)
{
	const json_t *actor = json_object_get(row, "actor");

	print_time(out, json_integer_value(json_object_get(row, "time")));
	print_member(out, "%s", row, "kind");
	print_member(out, " %s", row, "owner");
	print_member(out, " %s", row, "object");
	print_member(out, " (%s)", row, "subject");
	fputc(':', out);
	print_changes(out, row);
	print_member(out, "; %s", row, "cause");
	print_member(out, " [%s", actor, "class");
	print_member(out, " %s", actor, "name");
	print_member(out, " from %s", actor, "address");
	fputs("]\n", out);
}

static void print_gap(FILE *out, const json_t *row)
{
	char *lost = answer_text(row, "lost");

	print_time(out, json_integer_value(json_object_get(row, "time")));
	fprintf(out, "%s events are no longer known\n", lost && *lost ? lost : "Earlier");
	free(lost);
}

static enum outcome event_row(void *arg, const json_t *row)
{
	struct follower *f = arg;
	const char *type = json_string_value(json_object_get(row, "type"));
	FILE *out = f->shell->out;

	f->last = json_integer_value(json_object_get(row, "id"));
	if (!type || !strcmp(type, "alive"))
		return OUTCOME_OK;
	if (f->shell->json) {
		json_dumpf(row, out, JSON_COMPACT | (f->shell->terminal ? JSON_ENSURE_ASCII : 0));
		fputc('\n', out);
	} else if (!strcmp(type, "gap")) {
		print_gap(out, row);
	} else {
		print_event(out, row);
	}
	return f->follow ? shell_flush(f->shell) : shell_output_state(f->shell);
}

enum outcome event_run(struct shell *sh, const struct cli_command *c)
{
	struct follower f = {.shell = sh, .follow = c->flags & CLI_FOLLOW};
	enum outcome outcome;

	if (c->names)
		f.last = strtoll(c->name[0]->text, NULL, 10);
	else if (f.follow)
		f.last = -1;
	/* An answer ends after a while; it goes on where that one ended. */
	do {
		json_t *request = json_pack("{s:s, s:b}", "op", "watch", "follow", f.follow);
		if (f.last >= 0 && request)
			json_object_set_new(request, "after", json_integer(f.last));
		outcome = session_ask(&sh->session, request, event_row, &f, NULL);
	} while (!outcome && f.follow);
	return outcome;
}
