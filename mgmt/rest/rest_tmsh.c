/* SPDX-License-Identifier: BSD-3-Clause */
/* tmsh for clients that know nothing else: the commands of weirsh that ask or change, as text. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "ipc/ipc.h"
#include "rest/rest_command.h"
#include "rest/rest_files.h"
#include "rest/rest_refuse.h"
#include "rest/rest_ucs.h"

/* Files hold the configuration: as much as a request to weir-cp may. */
#define LOAD_MAX (48u << 20)

/* What weir-cp refused, or that it is not there, as a line. */
static void refusal_add(struct rest_call *call, struct text *out)
{
	struct rest_target none = {0};
	struct rest_question q = {HTTP_PATCH, &none, NULL};
	struct rest_refusal refusal;

	if (!call->error) {
		text_printf(out, "The connection to mcpd has been lost, try again.\n");
		return;
	}
	rest_refusal_of(&q, call->error, &refusal);
	text_printf(out, "%s\n", refusal.message.data ? refusal.message.data : "");
	text_fini(&refusal.message);
}

/* ---- load, save ---- */

bool rest_load(struct rest_call *call, const char *user, const struct rest_load *load,
	char why[FILES_REASON_MAX])
{
	json_t *request = json_pack("{s:s, s:b, s:b, s:b}", "op", "load", "merge", load->merge,
		"verify", load->verify, "default", load->as_new);
	const char *file = load->file;
	size_t length = 0;
	char *text = NULL;

	*why = '\0';
	if (file && rest_file_read(call->rest, user, file, LOAD_MAX, &text, &length, why)) {
		json_decref(request);
		return false;
	}
	if (text) {
		json_object_set_new(request, "text", ipc_text_new(text, length));
		json_object_set_new(request, "file", json_string(basename(file)));
	}
	free(text);
	return rest_ask(call, request, NULL, NULL, NULL);
}

static void run_load(
	struct rest_call *call, const char *user, const struct cli_command *c, struct text *out)
{
	char why[FILES_REASON_MAX];
	struct rest_load load = {.merge = c->flags & CLI_MERGE,
		.verify = c->flags & CLI_VERIFY,
		.as_new = c->flags & CLI_DEFAULT};

	for (unsigned i = 0; i < c->options; i++)
		if (word_is(c->option[i].name, "file") && c->option[i].value)
			load.file = c->option[i].value->text;
	if (rest_load(call, user, &load, why)) {
		text_printf(out, "%s configuration...\n",
			c->flags & CLI_VERIFY ? "Validating" : "Loading");
		return;
	}
	if (*why)
		text_printf(out, "%s: %s\n", load.file, why);
	else
		refusal_add(call, out);
	text_printf(out, "Unexpected Error: Loading configuration process failed.\n");
}

static void run_roll_back(struct rest_call *call, const struct cli_command *c, struct text *out)
{
	json_t *request = json_pack("{s:s, s:I, s:b, s:b}", "op", "rollback", "generation",
		(json_int_t)strtoll(c->name[0]->text, NULL, 10), "with-live",
		(c->flags & CLI_WITH_LIVE) != 0, "verify", (c->flags & CLI_VERIFY) != 0);

	if (rest_ask(call, request, NULL, NULL, NULL))
		text_printf(out, "Loading configuration...\n");
	else
		refusal_add(call, out);
}

static void run_save(struct rest_call *call, const struct cli_command *c, struct text *out)
{
	bool force = c->flags & CLI_FORCE;

	if (rest_ask(call, json_pack("{s:s, s:b}", "op", "save", "force", force), NULL, NULL, NULL))
		text_printf(out, "Saving running configuration...\n");
	else
		refusal_add(call, out);
}

/* ---- list, show ---- */

struct output {
	struct text *out;
	const char *kind;
};

static bool text_row(void *arg, json_t *row)
{
	struct output *o = arg;
	char *text = ipc_text_get(row, NULL);

	if (text)
		text_printf(
			o->out, "%s%s", text, *text && text[strlen(text) - 1] == '\n' ? "" : "\n");
	free(text);
	return o->out->len < REST_REPLY_MAX && !o->out->failed;
}

/* A row of "show" as one block. */
static bool show_row(void *arg, json_t *row)
{
	const char *name = json_string_value(json_object_get(row, "name"));
	struct output *o = arg;
	const char *key;
	json_t *value;

	text_printf(o->out, "%s %s {\n", o->kind, name ? name : "");
	json_object_foreach(row, key, value)
	{
		if (json_is_string(value))
			text_printf(o->out, "    %s %s\n", key, json_string_value(value));
		else if (json_is_integer(value))
			text_printf(
				o->out, "    %s %lld\n", key, (long long)json_integer_value(value));
	}
	text_printf(o->out, "}\n");
	return o->out->len < REST_REPLY_MAX && !o->out->failed;
}

static json_t *rows_request(const struct cli_command *c, const char *name)
{
	const char *component = *c->component ? c->component : NULL;

	if (c->verb == CLI_SHOW && c->target == TARGET_HISTORY && name)
		return json_pack("{s:s, s:s, s:I}", "op", "show", "what", component, "generation",
			(json_int_t)strtoll(name, NULL, 10));
	if (c->verb == CLI_SHOW && c->flags & CLI_DIFFERENCE)
		component = "sys config difference";
	if (c->verb == CLI_SHOW)
		return json_pack(
			"{s:s, s:s*, s:s*}", "op", "show", "what", component, "name", name);
	return json_pack("{s:s, s:s, s:b, s:s*, s:s*}", "op", "list", "form", "conf", "all",
		(c->flags & CLI_ALL_PROPERTIES) != 0, "kind", component, "name", name);
}

static void run_rows(struct rest_call *call, const struct cli_command *c, struct text *out)
{
	struct output o = {out, c->component};
	rest_row *row = c->verb == CLI_SHOW ? show_row : text_row;
	unsigned count = c->names ? c->names : 1;

	for (unsigned i = 0; i < count; i++) {
		const char *name = c->names ? c->name[i]->text : NULL;

		if (!rest_ask(call, rows_request(c, name), row, &o, NULL)) {
			refusal_add(call, out);
			return;
		}
	}
}

/* ---- changes ---- */

static void run_edit(struct rest_call *call, const struct cli_command *c, struct text *out)
{
	char *text = command_edit_text(c);

	if (!rest_ask(call,
		    json_pack("{s:s, s:s, s:s*}", "op", "edit", "verb", cli_verb_name(c->verb),
			    "text", text),
		    NULL, NULL, NULL))
		refusal_add(call, out);
	free(text);
}

static void run(
	struct rest_call *call, const char *user, const struct cli_command *c, struct text *out)
{
	switch (c->verb) {
	case CLI_EMPTY:
		return;
	case CLI_SAVE:
		run_save(call, c, out);
		return;
	case CLI_LOAD:
		if (c->flags & CLI_ROLLBACK)
			run_roll_back(call, c, out);
		else
			run_load(call, user, c, out);
		return;
	case CLI_LIST:
	case CLI_SHOW:
		if (c->target != TARGET_LOG)
			run_rows(call, c, out);
		else if (!rest_tmsh_log(call, c, out))
			refusal_add(call, out);
		return;
	default:
		if (command_is_edit(c))
			run_edit(call, c, out);
		else
			text_printf(
				out, "Syntax Error: %s is not done here\n", cli_verb_name(c->verb));
	}
}

static void put_state(struct rest_call *call, struct text *out)
{
	text_printf(out,
		"-------------------------------------------------------\n"
		"Sys::mcpd State:\n"
		"-------------------------------------------------------\n"
		"Running Phase                  running\n"
		"Last Configuration Load Status %s\n"
		"End Platform ID Received       true\n",
		call->rest->load_failed ? "base-config-load-failed" : "full-config-load-succeed");
}

/* What weirsh has no words for, or other answers, but programs send. True: done. */
static bool run_known(struct rest_call *call, const char *command, struct text *out)
{
	if (!strncmp(command, "show sys mcp-state", strlen("show sys mcp-state")))
		put_state(call, out);
	else if (!strcmp(command, "show sys version"))
		text_printf(out,
			"Sys::Version\nMain Package\n  Product     BIG-IP\n  Version     %s\n",
			call->rest->version);
	else if (!rest_ucs_tmsh(call, command, out) && strncmp(command, "cd /", 4) &&
		 strncmp(command, "modify cli preference ", strlen("modify cli preference ")))
		return false;
	return true;
}

static void run_one(struct rest_call *call, const char *user, const char *command, struct text *out)
{
	struct words_error error;
	struct cli_command c;
	int rc;

	if (run_known(call, command, out))
		return;
	/* tmsh takes words that say all partitions, which weirsh always means */
	const char *all = strstr(command, " partitions all");
	size_t length = !strncmp(command, "save sys config", strlen("save sys config")) && all
				? (size_t)(all - command)
				: strlen(command);
	rc = command_parse(command, length, &c, &error);
	if (rc == 0)
		run(call, user, &c, out);
	else if (rc == -EINVAL)
		text_printf(out, "Syntax Error: %s\n", error.reason);
	else
		text_printf(out, "no memory\n");
	command_fini(&c);
}

/* ---- arguments ---- */

/* What a shell would make of the word. Where quotes within stand bare, as some clients send them, the outer go. */
static char *unquoted(char *word)
{
	char quote = *word, *to = word, *from = word + 1;
	size_t n = strlen(word);

	if (n < 2 || (quote != '"' && quote != '\'') || word[n - 1] != quote)
		return word;
	word[n - 1] = '\0';
	if (quote == '\'' || strstr(from, " \"") || *from == '"')
		return from;
	for (; *from; from++) {
		if (*from == '\\' && (from[1] == '"' || from[1] == '\\'))
			from++;
		*to++ = *from;
	}
	*to = '\0';
	return word;
}

/* Where a command ends: a semicolon in quotes or braces belongs to it. */
static char *command_end(char *text)
{
	unsigned depth = 0;
	bool quoted = false;

	for (; *text; text++) {
		if (*text == '\\' && text[1])
			text++;
		else if (*text == '"')
			quoted = !quoted;
		else if (!quoted && *text == '{')
			depth++;
		else if (!quoted && *text == '}' && depth)
			depth--;
		else if (!quoted && !depth && *text == ';')
			break;
	}
	return text;
}

/* -c "a; b", or a */
void rest_tmsh(struct rest_call *call, const char *user, char *arguments, struct text *out)
{
	char *text = arguments + strspn(arguments, " ");
	size_t n = strlen(text);
	bool last = false;

	while (n > 0 && text[n - 1] == ' ')
		text[--n] = '\0';
	if (strncmp(text, "-c ", 3) && strncmp(text, "-q -c ", 6)) {
		run_one(call, user, text, out);
		return;
	}
	text = strstr(text, "-c ") + 3;
	text = unquoted(text + strspn(text, " "));
	while (!last) {
		char *end = command_end(text);

		last = !*end;
		*end = '\0';
		run_one(call, user, text + strspn(text, " "), out);
		text = end + 1;
	}
}
