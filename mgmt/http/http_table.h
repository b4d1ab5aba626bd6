/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connections of the server: how many there are in all and of one address, until when each must have done
 * what it does, what their bodies take, how many requests are being handled. Callable from any thread; time is a
 * parameter.
 */
#ifndef WEIR_HTTP_HTTP_TABLE_H
#define WEIR_HTTP_HTTP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* A host may have many addresses of one IPv6 network; /64 counts as one address everywhere here. */
struct http_limits {
	unsigned connections, connections_each; /* each: of one address */
	unsigned handled, handled_each;		/* requests at once */
	size_t bodies, bodies_each;		/* bytes */
	unsigned streams_each;			/* at once */
};

enum http_state {
	HTTP_STATE_HEAD, /* TLS handshake, request line, headers */
	HTTP_STATE_BODY, /* until its handler has replied */
	HTTP_STATE_REPLY,
	HTTP_STATE_IDLE, /* between requests */
	HTTP_STATE_ENDED,
};

struct http_table;
struct http_place;

struct http_table *http_table_new(const struct http_limits *limits);
void http_table_free(struct http_table *t);

/*
 * A place for a connection, until when (ns) its first request must have come. With all places taken the
 * connection gives way that waits longest for its client, of the address that has most. NULL: refused.
 */
struct http_place *http_table_add(
	struct http_table *t, int fd, const struct sockaddr *addr, uint64_t until_ns);

/* The place of a descriptor that is in the table, or NULL. */
struct http_place *http_table_find(struct http_table *t, int fd);

/* Before the descriptor is closed. */
void http_table_remove(struct http_table *t, struct http_place *place);

/* What a connection does, until when at most (ns; 0: no limit). A connection that ended stays so. */
void http_table_state(
	struct http_table *t, struct http_place *place, enum http_state state, uint64_t until_ns);

/* Ends the connections that are late: shuts their sockets down. */
void http_table_sweep(struct http_table *t, uint64_t now_ns);

/* Room for a body's bytes: the connection holds that many from now on. False: too much in all. */
bool http_table_hold(struct http_table *t, struct http_place *place, size_t bytes);

/* Takes a request's turn to be handled. False: there are too many. */
bool http_table_enter(struct http_table *t, struct http_place *place);
void http_table_leave(struct http_table *t, struct http_place *place);

/* The connection's reply is a stream until it is idle. False: its address has too many. */
bool http_table_stream(struct http_table *t, struct http_place *place);

/* From now on whoever waits for a client is ended. */
void http_table_stop(struct http_table *t);

/* Connections that are neither idle nor ended. */
unsigned http_table_active(struct http_table *t);

#endif
