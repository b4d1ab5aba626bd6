/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HTTPS: one thread of libmicrohttpd's for all connections, a pool of threads for the handlers. It takes connections
 * that somebody else accepted, keeps them within the limits of http_table.h, and hands whole, checked requests to the
 * routes' handlers.
 */
#ifndef WEIR_HTTP_HTTP_SERVER_H
#define WEIR_HTTP_HTTP_SERVER_H

#include "http/http.h"
#include "http/http_table.h"

struct http_options {
	struct http_limits limits;
	unsigned
		head_seconds; /* from the start of a connection or request line until the last header */
	unsigned body_seconds; /* for a body, or a reply to be taken; larger ones get more */
	unsigned idle_seconds; /* between requests */
	unsigned turn_seconds; /* how long a request waits to be handled */
	bool hsts;
	const struct http_route *routes; /* must stay */
	unsigned route_count;
};

struct http_server;

/* The certificate (http_tls.h) must be there. NULL: said why. */
struct http_server *http_server_new(const struct http_options *options);

/* Takes over a connection, or closes it where it is one too many. */
void http_server_add(struct http_server *s, int fd, const struct sockaddr *addr, socklen_t length);

/* To be called a few times a second: ends whoever is late. */
void http_server_sweep(struct http_server *s);

/* No more requests from now on; those that are under way go on, streams end. */
void http_server_stop(struct http_server *s);

/* Requests that are under way, or streams. */
unsigned http_server_active(struct http_server *s);

/* Waits for handlers that are at work. */
void http_server_free(struct http_server *s);

#endif
