/* SPDX-License-Identifier: BSD-3-Clause */
/* What a request says of who sends it; whether it is true is weir-cp's to say. */
#ifndef WEIR_AUTH_CREDENTIALS_H
#define WEIR_AUTH_CREDENTIALS_H

#include <jansson.h>

/* Bytes, as weir-cp takes them (docs/local-api.md). */
#define CREDENTIALS_USER_MAX 63u
#define CREDENTIALS_PASSWORD_MAX 255u
#define CREDENTIALS_TOKEN_MAX 63u

/* NULL: not given. user and password come together; both are UTF-8. */
struct credentials {
	char *user, *password, *token;
};

/*
 * Takes a request's Authorization (Basic) and X-F5-Auth-Token headers, NULL = it has none. NULL, or why it is
 * refused: an empty or malformed one is never taken for none.
 */
const char *credentials_parse(const char *authorization, const char *token, struct credentials *c);

/* Wipes what it frees. */
void credentials_fini(struct credentials *c);

/*
 * The "as" of a request to weir-cp (docs/local-api.md): what was given, and the client's address. NULL: no memory.
 */
json_t *credentials_as(const struct credentials *c, const char *address);

#endif
