/* SPDX-License-Identifier: BSD-3-Clause */
/* What weirsh carries from command to command, and the commands. */
#ifndef WEIR_CLI_SHELL_H
#define WEIR_CLI_SHELL_H

#include <stdio.h>

#include "cli/command.h"
#include "cli/session.h"
#include "cli/table.h"

struct shell {
	struct session session;
	FILE *out;
	bool json;	     /* answers as JSON */
	bool terminal;	     /* out is one: nothing unprintable goes there */
	bool interactive;    /* somebody types */
	json_t *transaction; /* requests that wait for "submit cli transaction"; NULL = none is open
			      */
	json_int_t unsaved;  /* changes since the last save, as weir-cp said last; -1 = not known */
};

/*
 * Runs one command. Its output goes to out, sentences about it (notes, warnings) to standard error;
 * what is wrong with it is left in session.error. OUTCOME_OK also for "quit", which sets *quit.
 */
enum outcome shell_run(struct shell *sh, const struct cli_command *c, bool *quit);

/* What is written so far has to be out. OUTCOME_CLOSED: nobody reads it. */
enum outcome shell_flush(struct shell *sh);

/* OUTCOME_OK if the output still takes text; to be asked after each row. */
enum outcome shell_output_state(struct shell *sh);

/* The document, and a line end. */
void shell_print_json(struct shell *sh, const json_t *document);

/* Asks and prints the rows as one JSON array. */
enum outcome shell_print_rows(struct shell *sh, json_t *request);

/* Asks and gathers the rows: *rows gets a new array, also after an error. */
enum outcome shell_rows(struct shell *sh, json_t *request, json_t **rows);

/* A text of any bytes added to an object. */
void shell_set_text(json_t *object, const char *key, const char *bytes, size_t length);

/* {"op": "show", "what": what} */
json_t *shell_show_request(const char *what);

/*
 * Asks for a change; notes and warnings of its answer go to standard error. *result gets a reference to the
 * answer.
 */
enum outcome shell_ask_change(struct shell *sh, json_t *request, json_t **result);

/* The commands, one file each. */
enum outcome edit_run(struct shell *sh, const struct cli_command *c);
enum outcome transaction_run(struct shell *sh, const struct cli_command *c);
enum outcome config_run(struct shell *sh, const struct cli_command *c); /* load, save */
enum outcome list_run(struct shell *sh, const struct cli_command *c);
enum outcome show_run(struct shell *sh, const struct cli_command *c);	 /* of objects */
enum outcome monitor_run(struct shell *sh, const struct cli_command *c); /* show ltm monitor */
enum outcome connection_run(struct shell *sh, const struct cli_command *c);
enum outcome system_run(struct shell *sh, const struct cli_command *c); /* show sys ..., net arp */
enum outcome event_run(struct shell *sh, const struct cli_command *c);	/* show sys event */
enum outcome log_run(struct shell *sh, const struct cli_command *c);	/* show sys log */
enum outcome verify_log_run(struct shell *sh);				/* verify sys log */
enum outcome receiver_run(struct shell *sh, const struct cli_command *c); /* show sys receiver */
enum outcome test_receiver_run(struct shell *sh, const struct cli_command *c);
enum outcome history_run(struct shell *sh, const struct cli_command *c); /* show sys history */
enum outcome difference_run(struct shell *sh);				 /* show sys config diff */
/* Of a row of a node or member: lines for its block (label, ":", value); what is as usual has none. */
void server_lines(struct table *t, const json_t *row);
/* Of the members of a pool: those that are checked, held or spoken for by an agent, with the reason. */
void server_table(struct shell *sh, const json_t *members);
/* "3 min 12 s" since a time in ms since 1970; "" for 0. */
const char *server_since(json_int_t ms, char out[32]);
/* For somebody who starts to type: whom he speaks to, and what is not saved. */
void system_greet(struct shell *sh);
enum outcome drain_run(struct shell *sh, const struct cli_command *c);
enum outcome help_run(struct shell *sh, const struct cli_command *c);

#endif
