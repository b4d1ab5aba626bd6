/* SPDX-License-Identifier: BSD-3-Clause */
/* tmsh show sys log: records of the journal as lines of LTM's log. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log_words.h"
#include "cli/utf8.h"
#include "rest/rest_command.h"

struct lines {
	struct text *out;
	char host[256];
};

static bool log_row(void *arg, json_t *row)
{
	struct lines *l = arg;
	char *line = log_line(row, l->host), *clean = line ? utf8_clean(line) : NULL;

	text_printf(l->out, "%s\n", clean ? clean : "");
	free(clean);
	free(line);
	return l->out->len < REST_REPLY_MAX && !l->out->failed;
}

/* The name without its domain, as LTM writes it. */
static void host_take(struct rest_call *call, char host[256])
{
	json_t *row = rest_ask_row(call, json_pack("{s:s, s:s, s:s}", "op", "list", "form", "rest",
						 "kind", "sys global-settings"));
	const char *name = rest_word(row, "hostname");

	snprintf(host, 256, "%.*s", (int)strcspn(name, "."), name);
	json_decref(row);
}

bool rest_tmsh_log(struct rest_call *call, const struct cli_command *c, struct text *out)
{
	struct lines l = {.out = out};
	char reason[300];
	json_t *request;

	if (c->flags & (CLI_FOLLOW | CLI_DETAIL)) {
		text_printf(out, "Syntax Error: follow and detail are not done here\n");
		return true;
	}
	request = log_request(c, time(NULL), reason, sizeof(reason));
	if (!request) {
		text_printf(out, "Syntax Error: %s\n", reason);
		return true;
	}
	host_take(call, l.host);
	return rest_ask(call, request, log_row, &l, NULL);
}
