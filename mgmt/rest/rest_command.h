/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands that clients run. Nothing is ever started for one: they are answered from a closed table, and tmsh's
 * words go to weir-cp as those of weirsh do.
 */
#ifndef WEIR_REST_REST_COMMAND_H
#define WEIR_REST_REST_COMMAND_H

#include "rest/rest_call.h"

void rest_config(struct rest_call *call); /* sys/config: save, load */
void rest_util(struct rest_call *call);	  /* util/... */
void rest_crypto(struct rest_call *call); /* sys/crypto/{cert,key}: install */

/* The output of a tmsh command of a user; what went wrong stands in it. */
void rest_tmsh(struct rest_call *call, const char *user, const char *command, struct text *out);

/* Loads a configuration, or a file of the user's; what weir-cp says is left in the call. */
bool rest_load(struct rest_call *call, const char *user, const char *file, bool merge, bool verify,
	const char **why);

#endif
