/* SPDX-License-Identifier: BSD-3-Clause */
/* create, modify, delete; transactions; load and save. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/password.h"
#include "cli/shell.h"
#include "cli/utf8.h"
#include "ipc/ipc.h"
#include "model/model.h"

static void tell(const char *what, const char *text)
{
	char *clean = text && *text ? utf8_clean(text) : NULL;

	if (clean)
		fprintf(stderr, "weirsh: %s: %s\n", what, clean);
	free(clean);
}

/* What weir-cp says beside "done", for people. */
static void tell_result(struct shell *sh, const json_t *result)
{
	const json_t *unsaved = json_object_get(result, "unsaved");
	const json_t *warnings = json_object_get(result, "warnings");
	char *note = answer_text(result, "note");

	tell("note", note);
	free(note);
	for (size_t i = 0; i < json_array_size(warnings); i++) {
		char *text = ipc_text_get(json_array_get(warnings, i), NULL);

		tell("warning", text);
		free(text);
	}
	if (json_is_integer(unsaved))
		sh->unsaved = json_integer_value(unsaved);
}

enum outcome shell_ask_change(struct shell *sh, json_t *request, json_t **result)
{
	enum outcome outcome = session_ask(&sh->session, request, NULL, NULL, result);

	if (!outcome)
		tell_result(sh, *result);
	return outcome;
}

static enum outcome ask_change(struct shell *sh, json_t *request)
{
	json_t *result;
	enum outcome outcome = shell_ask_change(sh, request, &result);

	if (outcome)
		return outcome;
	if (sh->json)
		shell_print_json(sh, result);
	json_decref(result);
	return OUTCOME_OK;
}

enum outcome edit_run(struct shell *sh, const struct cli_command *c)
{
	char password[PASSWORD_BYTES] = "";
	struct word typed;

	if (password_fill(sh, c, &typed, password))
		return OUTCOME_REFUSED;
	char *text = command_edit_text(c);
	explicit_bzero(password, sizeof(password));
	json_t *request = json_pack("{s:s, s:s, s:s}", "op", "edit", "verb", command_edit_verb(c),
		"text", text ? text : "");

	if (!text || !request) {
		free(text);
		json_decref(request);
		session_fail(&sh->session, "out of memory");
		return OUTCOME_REFUSED;
	}
	free(text);
	if (!sh->transaction)
		return ask_change(sh, request);
	json_array_append_new(sh->transaction, request);
	return OUTCOME_OK;
}

static enum outcome transaction_refuse(struct shell *sh, const char *why)
{
	session_fail(&sh->session, "cli transaction: %s", why);
	return OUTCOME_REFUSED;
}

static void transaction_end(struct shell *sh)
{
	json_decref(sh->transaction);
	sh->transaction = NULL;
}

/* Puts the command that was refused before the reason. */
static void transaction_blame(struct shell *sh)
{
	const json_t *number = json_object_get(sh->session.refusal, "request");
	const json_t *request =
		json_is_integer(number)
			? json_array_get(sh->transaction, (size_t)json_integer_value(number))
			: NULL;
	char *reason = sh->session.error;

	if (!request)
		return;
	sh->session.error = NULL;
	struct text masked = {0};
	model_mask_secrets(json_string_value(json_object_get(request, "text")), &masked);
	session_fail(&sh->session, "%s\nweirsh: in command %d of the transaction: %s %s", reason,
		(int)json_integer_value(number) + 1,
		json_string_value(json_object_get(request, "verb")),
		masked.data ? masked.data : "");
	text_fini(&masked);
	free(reason);
}

static enum outcome transaction_submit(struct shell *sh)
{
	json_t *request = json_pack("{s:s, s:O}", "op", "transaction", "requests", sh->transaction);
	enum outcome outcome = ask_change(sh, request);

	if (!outcome)
		transaction_end(sh);
	else
		transaction_blame(sh);
	return outcome;
}

static void transaction_list(struct shell *sh)
{
	for (size_t i = 0; i < json_array_size(sh->transaction); i++) {
		const json_t *request = json_array_get(sh->transaction, i);

		struct text masked = {0};

		model_mask_secrets(json_string_value(json_object_get(request, "text")), &masked);
		fprintf(sh->out, "%zu: %s %s\n", i + 1,
			json_string_value(json_object_get(request, "verb")),
			masked.data ? masked.data : "");
		text_fini(&masked);
	}
}

enum outcome transaction_run(struct shell *sh, const struct cli_command *c)
{
	if (c->verb == CLI_CREATE) {
		if (sh->transaction)
			return transaction_refuse(sh, "one is open already: submit or delete it");
		sh->transaction = json_array();
		return sh->transaction ? OUTCOME_OK : transaction_refuse(sh, "out of memory");
	}
	if (!sh->transaction)
		return transaction_refuse(sh, "none is open: create cli transaction");
	if (c->verb == CLI_SUBMIT)
		return transaction_submit(sh);
	if (c->verb == CLI_DELETE)
		transaction_end(sh);
	else if (sh->json)
		shell_print_json(sh, sh->transaction);
	else
		transaction_list(sh);
	return OUTCOME_OK;
}

/* The whole file, "-" for standard input. Its bytes, to be freed, or NULL with errno. */
static char *read_file(const char *name, size_t *length)
{
	FILE *in = strcmp(name, "-") ? fopen(name, "rb") : stdin;
	size_t room = 65536, at = 0, n = 0;
	char *text = in ? malloc(room) : NULL;

	while (text && (n = fread(text + at, 1, room - at, in)) > 0) {
		at += n;
		if (at < room)
			continue;
		char *more = room < IPC_FRAME_MAX ? realloc(text, room * 2) : NULL;
		if (!more) {
			free(text);
			errno = EFBIG;
		}
		text = more;
		room *= 2;
	}
	if (text && ferror(in)) {
		free(text);
		text = NULL;
	}
	if (in && in != stdin) {
		int saved = errno;
		fclose(in);
		errno = saved;
	}
	*length = at;
	return text;
}

/* JSON carries no NUL: what weir-cp says of one in its own file is said here. */
static bool has_nul(struct shell *sh, const char *name, const char *text, size_t length)
{
	const char *nul = memchr(text, 0, length);
	unsigned line = 1;

	if (!nul)
		return false;
	for (const char *p = text; p < nul; p++)
		line += *p == '\n';
	session_fail(&sh->session, "%s:%u: a NUL byte is never part of a value", name, line);
	return true;
}

static enum outcome config_load(struct shell *sh, const struct cli_command *c)
{
	json_t *request = json_pack("{s:s, s:b, s:b}", "op", "load", "verify",
		(c->flags & CLI_VERIFY) != 0, "merge", (c->flags & CLI_MERGE) != 0);

	if (c->flags & CLI_DEFAULT)
		json_object_set_new(request, "default", json_true());
	if (c->options) {
		const struct word *file = c->option[0].value;
		size_t length;
		char *text = read_file(file->text, &length);

		if (!text) {
			session_fail(&sh->session, "load sys config: file %s: %s", file->text,
				strerror(errno));
			json_decref(request);
			return OUTCOME_REFUSED;
		}
		if (has_nul(sh, file->text, text, length)) {
			free(text);
			json_decref(request);
			return OUTCOME_REFUSED;
		}
		shell_set_text(request, "text", text, length);
		shell_set_text(request, "file", file->text, file->length);
		free(text);
	}
	return ask_change(sh, request);
}

static enum outcome config_roll_back(struct shell *sh, const struct cli_command *c)
{
	return ask_change(sh,
		json_pack("{s:s, s:I, s:b, s:b}", "op", "rollback", "generation",
			(json_int_t)strtoll(c->name[0]->text, NULL, 10), "with-live",
			(c->flags & CLI_WITH_LIVE) != 0, "verify", (c->flags & CLI_VERIFY) != 0));
}

/* Lines by which the startup file differs from what was read. */
static void add_difference(struct shell *sh)
{
	char *lines = answer_text(sh->session.refusal, "difference");
	char *reason = sh->session.error;

	if (lines && *lines) {
		sh->session.error = NULL;
		session_fail(&sh->session, "%s\n%s\n(\"save sys config force\" overwrites it)",
			reason, lines);
		free(reason);
	}
	free(lines);
}

enum outcome config_run(struct shell *sh, const struct cli_command *c)
{
	if (sh->transaction)
		return transaction_refuse(
			sh, "load and save are no part of one: submit or delete it");
	if (c->flags & CLI_ROLLBACK)
		return config_roll_back(sh, c);
	if (c->verb == CLI_LOAD)
		return config_load(sh, c);
	enum outcome outcome = ask_change(
		sh, json_pack("{s:s, s:b}", "op", "save", "force", (c->flags & CLI_FORCE) != 0));
	if (outcome == OUTCOME_REFUSED)
		add_difference(sh);
	return outcome;
}
