/* SPDX-License-Identifier: BSD-3-Clause */
/* One request on its way through the server: what libmicrohttpd calls for it. */
#ifndef WEIR_HTTP_HTTP_EXCHANGE_H
#define WEIR_HTTP_HTTP_EXCHANGE_H

#include <microhttpd.h>
#include <stdatomic.h>

#include "http/http_pool.h"
#include "http/http_server.h"

struct http_server {
	struct http_options options;
	struct http_table *table;
	struct http_pool *pool;
	struct MHD_Daemon *daemon;
	atomic_ullong requests;
	atomic_uint streams; /* whose threads run */
	atomic_bool stopping;
};

/* The request line has come; the context of what follows. */
void *http_exchange_begin(void *server, const char *target, struct MHD_Connection *connection);

/* The headers, pieces of the body, and its end. */
enum MHD_Result http_exchange_step(void *server, struct MHD_Connection *connection, const char *url,
	const char *method, const char *version, const char *data, size_t *length, void **context);

void http_exchange_end(void *server, struct MHD_Connection *connection, void **context,
	enum MHD_RequestTerminationCode code);

/* Until when (ns) something must be done that may take seconds and moves length bytes. */
uint64_t http_exchange_until(unsigned seconds, uint64_t length);

/* The reply as libmicrohttpd sends it; takes body or stream over. NULL: no memory. */
struct MHD_Response *http_response_new(
	struct http_server *s, struct http_request *r, struct MHD_Connection *connection);

#endif
