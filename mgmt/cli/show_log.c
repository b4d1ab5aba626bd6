/* SPDX-License-Identifier: BSD-3-Clause */
/* show sys log: records of the journal as lines of LTM's log; verify sys log. */
#include <stdlib.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/log_words.h"
#include "cli/shell.h"
#include "cli/utf8.h"

struct reader {
	struct shell *shell;
	char host[256];
	bool follow, detail;
	json_int_t last; /* number that was told */
};

static void host_take(struct shell *sh, char host[256])
{
	json_t *rows = NULL;
	enum outcome outcome = shell_rows(sh,
		json_pack("{s:s, s:s, s:s}", "op", "list", "kind", "sys global-settings", "form",
			"rest"),
		&rows);

	log_host(outcome ? NULL
			 : json_string_value(json_object_get(json_array_get(rows, 0), "hostname")),
		host);
	json_decref(rows);
}

/* All members that the line does not have. */
static void print_detail(FILE *out, const json_t *row)
{
	static const char *const in_line[] = {"time", "id", "level", "text", "seq", NULL};
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)row, key, value)
	{
		const char *const *known = in_line;
		char *text, *clean;

		while (*known && strcmp(*known, key))
			known++;
		if (*known)
			continue;
		text = answer_text(row, key);
		clean = text ? utf8_clean(text) : NULL;
		fprintf(out, "    %s: %s\n", key, clean ? clean : "");
		free(clean);
		free(text);
	}
}

static enum outcome log_row(void *arg, const json_t *row)
{
	struct reader *r = arg;
	struct shell *sh = r->shell;
	char *line, *clean;

	r->last = json_integer_value(json_object_get(row, "seq"));
	if (sh->json) {
		json_dumpf(row, sh->out, JSON_COMPACT | (sh->terminal ? JSON_ENSURE_ASCII : 0));
		fputc('\n', sh->out);
	} else {
		line = log_line(row, r->host);
		clean = line ? utf8_clean(line) : NULL;
		fprintf(sh->out, "%s\n", clean ? clean : "");
		free(clean);
		free(line);
		if (r->detail)
			print_detail(sh->out, row);
	}
	return r->follow ? shell_flush(sh) : shell_output_state(sh);
}

/* Goes on where the answer ended, until somebody ends it. */
static enum outcome follow(struct shell *sh, struct reader *r, const json_t *request)
{
	enum outcome outcome;

	do {
		json_t *next = json_deep_copy(request), *result = NULL;
		json_object_del(next, "limit");
		json_object_set_new(next, "follow", json_true());
		json_object_set_new(next, "after", json_integer(r->last));
		outcome = session_ask(&sh->session, next, log_row, r, &result);
		json_decref(result);
	} while (!outcome);
	return outcome;
}

enum outcome log_run(struct shell *sh, const struct cli_command *c)
{
	struct reader r = {.shell = sh, .detail = c->flags & CLI_DETAIL};
	char reason[300];
	json_t *request = log_request(c, time(NULL), reason, sizeof(reason)), *result = NULL;
	enum outcome outcome;

	if (!request) {
		session_fail(&sh->session, "%s", reason);
		return OUTCOME_USAGE;
	}
	if (!sh->json)
		host_take(sh, r.host);
	outcome = session_ask(&sh->session, json_deep_copy(request), log_row, &r, &result);
	if (!outcome && (c->flags & CLI_FOLLOW)) {
		r.last = json_integer_value(json_object_get(result, "last"));
		r.follow = true;
		outcome = shell_flush(sh);
		if (!outcome)
			outcome = follow(sh, &r, request);
	}
	json_decref(result);
	json_decref(request);
	return outcome;
}

enum outcome verify_log_run(struct shell *sh)
{
	json_t *result = NULL;
	enum outcome outcome = session_ask(
		&sh->session, json_pack("{s:s}", "op", "verify-log"), NULL, NULL, &result);
	char *records, *first, *last, *reason, *seq;

	if (outcome)
		return outcome;
	records = answer_text(result, "records");
	first = answer_text(result, "first");
	last = answer_text(result, "last");
	reason = answer_text(result, "reason");
	seq = answer_text(result, "seq");
	bool intact = json_is_true(json_object_get(result, "intact"));
	if (sh->json)
		shell_print_json(sh, result);
	else if (intact)
		fprintf(sh->out, "%s records, %s to %s, are as they were written\n", records, first,
			last);
	if (!intact) {
		session_fail(&sh->session, "the journal is damaged at record %s: %s", seq, reason);
		outcome = OUTCOME_REFUSED;
	}
	free(records);
	free(first);
	free(last);
	free(reason);
	free(seq);
	json_decref(result);
	return outcome;
}
