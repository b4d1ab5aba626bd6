/* SPDX-License-Identifier: BSD-3-Clause */
/* Whom a request of weir-mgmt says that it is for: its member "as". */
#ifndef WEIR_AUTH_AUTH_AS_H
#define WEIR_AUTH_AUTH_AS_H

#include <jansson.h>
#include <stdbool.h>

enum { AUTH_AS_REASON_MAX = 80 };

/* NULL where it brings nothing. They live as long as the JSON. */
struct auth_as {
	const char *user, *password, *token, *address;
};

struct auth_as_fault {
	int code; /* 400: it is malformed, 401: it names nobody */
	const char *field;
	char reason[AUTH_AS_REASON_MAX];
};

/* Any JSON, NULL too. False: refused, *fault says why. */
bool auth_as_parse(const json_t *as, struct auth_as *out, struct auth_as_fault *fault);

#endif
