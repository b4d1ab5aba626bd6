/* SPDX-License-Identifier: BSD-3-Clause */
/* Who may come in, as clients ask below /mgmt/shared: each answers the request. */
#ifndef WEIR_REST_REST_LOGIN_H
#define WEIR_REST_REST_LOGIN_H

#include "rest/rest_call.h"

void rest_login(struct rest_call *call);  /* authn/login */
void rest_tokens(struct rest_call *call); /* authz/tokens[/TOKEN] */
void rest_users(struct rest_call *call);  /* authz/users[/NAME] */

#endif
