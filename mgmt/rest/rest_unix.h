/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_REST_REST_UNIX_H
#define WEIR_REST_REST_UNIX_H

#include "rest/rest_call.h"

/*
 * Runs "unix-ls" and its like for a user; what went wrong stands in the output. False: it is none of them. done is
 * false if it is answered, with an error.
 */
bool rest_unix(struct rest_call *call, const char *user, const char *name, const char *line,
	struct text *out, bool *done);

#endif
