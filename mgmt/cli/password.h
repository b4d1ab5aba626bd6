/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_CLI_PASSWORD_H
#define WEIR_CLI_PASSWORD_H

#include "cli/shell.h"

#define PASSWORD_BYTES 258 /* of the longest, with line end and NUL */

/*
 * If the command, which is one of auth user, says prompt-for-password: asks for one, and puts "password" and it in
 * its place. typed and text belong to the command from then on.
 */
enum outcome password_fill(struct shell *sh, const struct cli_command *c, struct word *typed,
	char text[PASSWORD_BYTES]);

#endif
