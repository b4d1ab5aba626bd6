/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/shell.h"
#include "model/model.h"

#include <errno.h>
#include <string.h>

#include "ipc/ipc.h"

enum outcome shell_output_state(struct shell *sh)
{
	int status = errno;

	if (!ferror(sh->out))
		return OUTCOME_OK;
	clearerr(sh->out);
	if (status == EPIPE)
		return OUTCOME_CLOSED;
	if (status == EINTR) {
		session_fail(&sh->session, "interrupted");
		return OUTCOME_INTERRUPTED;
	}
	session_fail(&sh->session, "standard output: %s", strerror(status));
	return OUTCOME_REFUSED;
}

enum outcome shell_flush(struct shell *sh)
{
	enum outcome outcome = shell_output_state(sh);

	if (!outcome && fflush(sh->out))
		outcome = shell_output_state(sh);
	return outcome;
}

static size_t json_flags(const struct shell *sh)
{
	return JSON_ENCODE_ANY | JSON_COMPACT | (sh->terminal ? JSON_ENSURE_ASCII : 0);
}

void shell_print_json(struct shell *sh, const json_t *document)
{
	json_dumpf(document, sh->out, (json_flags(sh) & ~(size_t)JSON_COMPACT) | JSON_INDENT(2));
	fputc('\n', sh->out);
}

struct row_printer {
	struct shell *shell;
	unsigned long rows;
};

static enum outcome print_row(void *arg, const json_t *row)
{
	struct row_printer *p = arg;

	fputs(p->rows++ ? ",\n" : "[\n", p->shell->out);
	json_dumpf(row, p->shell->out, json_flags(p->shell));
	return shell_output_state(p->shell);
}

enum outcome shell_print_rows(struct shell *sh, json_t *request)
{
	struct row_printer printer = {.shell = sh};
	enum outcome outcome = session_ask(&sh->session, request, print_row, &printer, NULL);

	if (!outcome)
		fputs(printer.rows ? "\n]\n" : "[]\n", sh->out);
	return outcome;
}

static enum outcome gather_row(void *arg, const json_t *row)
{
	return json_array_append(arg, (json_t *)row) ? OUTCOME_REFUSED : OUTCOME_OK;
}

enum outcome shell_rows(struct shell *sh, json_t *request, json_t **rows)
{
	*rows = json_array();
	return session_ask(&sh->session, request, gather_row, *rows, NULL);
}

void shell_set_text(json_t *object, const char *key, const char *bytes, size_t length)
{
	json_object_set_new(object, key, ipc_text_new(bytes, length));
}

json_t *shell_show_request(const char *what)
{
	return json_pack("{s:s, s:s}", "op", "show", "what", what);
}

static enum outcome run_show(struct shell *sh, const struct cli_command *c)
{
	if (command_is_monitors(c))
		return monitor_run(sh, c);
	switch (c->target) {
	case TARGET_KIND:
		return c->kind == KIND_ALERT ? receiver_run(sh, c) : show_run(sh, c);
	case TARGET_RECEIVER:
		return receiver_run(sh, c);
	case TARGET_CONNECTION:
		return connection_run(sh, c);
	case TARGET_EVENT:
		return event_run(sh, c);
	case TARGET_LOG:
		return log_run(sh, c);
	default:
		return system_run(sh, c);
	}
}

enum outcome shell_run(struct shell *sh, const struct cli_command *c, bool *quit)
{
	if (c->target == TARGET_TRANSACTION)
		return transaction_run(sh, c);
	if (c->target == TARGET_DRAIN)
		return drain_run(sh, c);
	switch (c->verb) {
	case CLI_CREATE:
	case CLI_MODIFY:
	case CLI_PUBLISH:
		return edit_run(sh, c);
	case CLI_DELETE:
		return c->target == TARGET_CONNECTION ? connection_run(sh, c) : edit_run(sh, c);
	case CLI_LOAD:
	case CLI_SAVE:
		return config_run(sh, c);
	case CLI_LIST:
		return list_run(sh, c);
	case CLI_SHOW:
		return run_show(sh, c);
	case CLI_TEST:
		return test_receiver_run(sh, c);
	case CLI_VERIFY_VERB:
		return verify_log_run(sh);
	case CLI_HELP:
		return help_run(sh, c);
	case CLI_RESET_STATS:
		session_fail(&sh->session, "reset-stats is not supported yet: counters grow from "
					   "the dataplane's start");
		return OUTCOME_REFUSED;
	case CLI_QUIT:
		*quit = true;
		return OUTCOME_OK;
	default:
		return OUTCOME_OK;
	}
}
