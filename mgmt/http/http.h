/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One request of a management client and the reply to it. Handlers read the one and fill the other; they know
 * nothing of sockets, TLS or threads. A handler runs in its connection's thread and may block on weir-cp.
 */
#ifndef WEIR_HTTP_HTTP_H
#define WEIR_HTTP_HTTP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "auth/credentials.h"

#define HTTP_TARGET_MAX 16384u /* bytes of path and query as they came */
#define HTTP_SEGMENTS_MAX 32u
#define HTTP_QUERY_MAX 64u    /* name=value pairs */
#define HTTP_HEADERS_MAX 100u /* of a request */
#define HTTP_REPLY_HEADERS_MAX 8u
#define HTTP_BODY_MAX (1u << 20)   /* bytes, where a route says nothing else */
#define HTTP_UPLOAD_MAX (8u << 20) /* bytes of one request that carries a piece of a file */
#define HTTP_ADDRESS_MAX 64u
#define HTTP_STREAMS_MAX 32u /* at once; of one address, limits say */

enum http_method {
	HTTP_GET, /* HEAD too: the server leaves the body away */
	HTTP_POST,
	HTTP_PUT,
	HTTP_PATCH,
	HTTP_DELETE,
};

struct http_pair {
	const char *name, *value; /* never NULL */
};

/*
 * Bytes of a reply that does not end: writes up to size bytes, waits wait_ms at most for them. Their number,
 * 0: none in that time, negative: the stream has ended.
 */
typedef ssize_t http_stream_next(void *ctx, char *buffer, size_t size, unsigned wait_ms);

struct http_reply {
	unsigned status; /* 0: nothing said yet */
	const char *type;
	char *body;
	size_t length;
	struct http_pair headers[HTTP_REPLY_HEADERS_MAX]; /* both parts owned */
	unsigned header_count;
	int file;		/* NULL body: its length bytes stand in this file; 0: none */
	uint64_t file_from;	/* where in it */
	http_stream_next *next; /* NULL: a reply with body */
	void (*stream_free)(void *ctx);
	void *stream_ctx;
};

/* Everything is UTF-8 without control characters but the body and header values, which are any bytes but NUL. */
struct http_request {
	uint64_t number; /* since start, from 1: clients' restOperationId */
	enum http_method method;
	/*
	 * The path, normalised once before anything looks at it: percent-decoded once, without trailing or
	 * doubled '/'; a %2F within a segment has become '~'. "/" has no segments.
	 */
	const char *path;
	const char *segments[HTTP_SEGMENTS_MAX];
	unsigned segment_count;
	struct http_pair
		query[HTTP_QUERY_MAX]; /* decoded, in the order they came; a name may come twice */
	unsigned query_count;
	struct http_pair headers[HTTP_HEADERS_MAX];
	unsigned header_count;
	const char *body; /* NUL-terminated behind its length, never NULL */
	size_t body_length;
	char address[HTTP_ADDRESS_MAX]; /* the client's, from its socket alone */
	struct credentials credentials;
	struct http_reply reply;
	char *space; /* holds path, segments and query */
};

/* Sets path, segments and query from what stands in the request line. NULL, or why it is refused. */
const char *http_request_target(struct http_request *r, const char *target);

/* Frees what the functions here allocated: not headers and body, which the server holds. */
void http_request_fini(struct http_request *r);

/* Value of the first query argument or header (any case) of that name; NULL: there is none. */
const char *http_query(const struct http_request *r, const char *name);
const char *http_header(const struct http_request *r, const char *name);

/*
 * The reply; the last one said counts. body is malloc'd and taken over (NULL with length 0: none). type is a
 * literal, NULL for none.
 */
void http_reply(
	struct http_request *r, unsigned status, const char *type, char *body, size_t length);

/*
 * The same from a place in a file, a descriptor above 0 that is taken over. It is read as the client takes it, so
 * that a slow one holds no memory.
 */
void http_reply_file(struct http_request *r, unsigned status, const char *type, int fd,
	uint64_t from, size_t length);

/* The same with a JSON body as LTM's clients expect it; the reference is taken. NULL: no memory, 500. */
void http_reply_json(struct http_request *r, unsigned status, json_t *body);

/* An error of the framework's form: {"code", "message", "referer", "restOperationId", "kind"}. */
void http_reply_error(struct http_request *r, unsigned status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* 401, saying so as LTM does, with a challenge for clients that wait for one. why NULL: no credentials came. */
void http_reply_unauthorised(struct http_request *r, const char *why);

/* 503 as while a BIG-IP restarts; clients then come again. For when weir-cp is not there. */
void http_reply_restarting(struct http_request *r);

/* 503 with Retry-After: too much at once. */
void http_reply_busy(struct http_request *r);

/* Adds a header to the reply; copied. */
void http_reply_header(struct http_request *r, const char *name, const char *value);

/*
 * A reply of server-sent events that goes on until next says its end, the client leaves or the server stops;
 * stream_free is then called (also if there are HTTP_STREAMS_MAX already and the client gets 503). When nothing
 * comes for a while the server sends a comment by itself.
 */
void http_reply_stream(
	struct http_request *r, http_stream_next *next, void (*stream_free)(void *ctx), void *ctx);

/*
 * Who handles a path: it and all below it, by whole segments; the longest wins. A body must be of one of
 * types. Without open, requests that bring no credentials never reach the handler.
 */
struct http_route {
	const char *path; /* "/mgmt", "/" */
	void (*handle)(struct http_request *r, void *ctx);
	void *ctx;
	const char *types[3];
	size_t body_max;
	bool open;
	/* NULL, or called before a body is read, so that strangers send none: false if it has replied. */
	bool (*admit)(struct http_request *r, void *ctx);
};

#endif
