/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands that clients run. Nothing is ever started for one: they are answered from a closed table, and tmsh's
 * words go to weir-cp as those of weirsh do.
 */
#ifndef WEIR_REST_REST_COMMAND_H
#define WEIR_REST_REST_COMMAND_H

#include "files/files.h"
#include "rest/rest_call.h"

void rest_config(struct rest_call *call); /* sys/config: save, load */
void rest_util(struct rest_call *call);	  /* util/... */
void rest_crypto(struct rest_call *call); /* sys/crypto/{cert,key}: install */

/* The output of tmsh with these arguments, which it spoils; what went wrong stands in it. */
void rest_tmsh(struct rest_call *call, const char *user, char *arguments, struct text *out);

/* "show sys log" of it. False: refused, what weir-cp says is left in the call. */
struct cli_command;
bool rest_tmsh_log(struct rest_call *call, const struct cli_command *c, struct text *out);

struct rest_load {
	const char *file; /* of the user's; NULL: the startup configuration */
	bool merge, verify;
	bool as_new; /* that of a new machine */
};

/* Loads a configuration; what weir-cp says is left in the call, else why not. */
bool rest_load(struct rest_call *call, const char *user, const struct rest_load *load,
	char why[FILES_REASON_MAX]);

/* Repeats what was asked, with the result if there is one. */
void rest_reply_echo(struct rest_call *call, const char *kind, const struct text *result);

/* False: another method than POST, or no body; answered. */
bool rest_takes_post(struct rest_call *call);

/* Whether who ("whoami" says) is one, of all partitions. False: answered, with the reason. */
bool rest_admit_administrator(struct rest_call *call, const json_t *who, const char *why);

#endif
