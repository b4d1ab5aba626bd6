/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections to weir-cp, kept for the next request; any number of threads at once. */
#ifndef WEIR_MAIN_MGMT_CP_H
#define WEIR_MAIN_MGMT_CP_H

#include <jansson.h>
#include <stdbool.h>

struct mgmt_cp;

/* run_dir holds weir-cp's socket; it need not be there yet. NULL: no memory, or the path is too long. */
struct mgmt_cp *mgmt_cp_new(const char *run_dir);
void mgmt_cp_free(struct mgmt_cp *cp);

/* Ends the requests that wait for an answer, and those that come. */
void mgmt_cp_stop(struct mgmt_cp *cp);

/*
 * Sends one request (the reference is taken) and reads the answer: rows to row (may be NULL; false: no more are
 * wanted), then *result or *error, one of which is set. Or -errno and neither: -ECONNREFUSED and -ENOENT where
 * weir-cp is not there, else the connection was lost, or *row* said false (0).
 */
int mgmt_cp_ask(void *cp, json_t *request, bool (*row)(void *arg, json_t *row), void *arg,
	json_t **result, json_t **error);

/* A connection of the caller's own, to be closed, or -errno. mgmt_cp_stop does not end it. */
int mgmt_cp_connect(void *cp);

#endif
