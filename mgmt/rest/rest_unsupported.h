/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths below /mgmt/tm that LTM or one of its modules has and Weir has not, and why: clients are told. */
#ifndef WEIR_REST_REST_UNSUPPORTED_H
#define WEIR_REST_REST_UNSUPPORTED_H

#include "rest/rest_call.h"

/* Why path ("gtm/pool/x") is not supported, of the longest entry that it begins with; NULL: LTM has it not either. */
const char *rest_unsupported(const char *path);

/* Answers a change of it: 400, as clients look for no other status. */
void rest_refuse_unsupported(struct rest_call *call, const char *path, const char *reason);

#endif
