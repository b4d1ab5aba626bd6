/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transactions: changes that clients send one by one, kept until they commit them, then one request to weir-cp.
 * They belong to a user, live for 120 s after their last use, and are bounded in number and size.
 */
#ifndef WEIR_REST_REST_TRANSACTION_H
#define WEIR_REST_REST_TRANSACTION_H

#include "rest/rest_call.h"

#define REST_TRANSACTION_SECONDS 120u
#define REST_TRANSACTIONS_MAX 128u	    /* in all */
#define REST_TRANSACTIONS_EACH 16u	    /* of a user */
#define REST_COMMANDS_MAX 32768u	    /* of a transaction */
#define REST_TRANSACTION_MAX (24u << 20)    /* bytes of its commands */
#define REST_TRANSACTIONS_BYTES (64u << 20) /* of all */

struct rest_transactions *rest_transactions_new(void); /* NULL: no memory */
void rest_transactions_free(struct rest_transactions *t);

/* Each answers the request. */
void rest_transaction(struct rest_call *call); /* below /mgmt/tm/transaction */
void rest_transaction_queue(struct rest_call *call, const char *id); /* a change for one */

#endif
