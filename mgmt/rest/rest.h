/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * iControl REST onto weir-cp's local interface (docs/rest-api.md): every path below /mgmt/tm and what clients
 * read of /mgmt/shared. It holds no configuration and decides nothing but how things are written.
 */
#ifndef WEIR_REST_REST_H
#define WEIR_REST_REST_H

#include <jansson.h>
#include <stdbool.h>

#include "http/http.h"

#define REST_VERSION_DEFAULT "15.1.0" /* of LTM, that clients are told */

/* False: no more rows are wanted. The row is the caller's. */
typedef bool rest_row(void *arg, json_t *row);

/* How weir-cp is asked; a handler's own, or of one thread at a time. */
struct rest_backend {
	/*
	 * Sends one request (the reference is taken) and reads the answer: rows to row (may be NULL), then
	 * *result, or *error if it was refused. 0 in both cases; or -errno: -ECONNREFUSED and -ENOENT weir-cp
	 * is not there, else the connection was lost.
	 */
	int (*ask)(void *ctx, json_t *request, rest_row *row, void *arg, json_t **result,
		json_t **error);
	void *ctx;
};

struct rest_settings {
	const char *version;	/* that clients are told */
	bool check_generation;	/* an older generation sent with PATCH or PUT is refused */
	const char *upload_dir; /* of files that clients send; NULL: none are taken */
};

/* "15.1.0": three numbers. */
bool rest_version_ok(const char *version);

/* What all requests share: settings (copied), transactions. NULL: no memory. */
struct rest *rest_new(const struct rest_settings *settings);
void rest_free(struct rest *rest);

/*
 * Whether weir-cp knows the client, asked before the body is read. False: it does not, or is not there, and the
 * request is answered.
 */
bool rest_admit(struct http_request *r, struct rest *rest, const struct rest_backend *backend);

/* Answers a request; any number of threads at once. */
void rest_handle(struct http_request *r, struct rest *rest, const struct rest_backend *backend);

#endif
