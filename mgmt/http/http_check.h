/* SPDX-License-Identifier: BSD-3-Clause */
/* What is refused before any handler sees it. */
#ifndef WEIR_HTTP_HTTP_CHECK_H
#define WEIR_HTTP_HTTP_CHECK_H

#include "http/http.h"

/* How a request's body comes. */
struct http_framing {
	bool chunked;
	uint64_t length; /* 0 with chunked */
};

/* A method's enum. False: none that is served. */
bool http_check_method(const char *name, enum http_method *method);

/*
 * The headers by which two readers might disagree where a request ends or who sends it. NULL with *framing, or why
 * it is refused; the connection cannot go on then.
 */
const char *http_check_framing(const struct http_request *r, struct http_framing *framing);

/* The route of a path: the longest that holds it. NULL: none. */
const struct http_route *http_check_route(
	const struct http_route *routes, unsigned count, const struct http_request *r);

/* Whether the Content-Type is one of the route's. */
bool http_check_type(const struct http_route *route, const char *type);

/*
 * Parses the credentials and says all else by which a request is refused whatever its body: then the reply is set.
 */
void http_check(
	struct http_request *r, const struct http_route *route, const struct http_framing *framing);

#endif
