/* SPDX-License-Identifier: BSD-3-Clause */
#include "http/http_exchange.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "http/http_check.h"

#define BODY_FIRST 4096u	    /* bytes */
#define RATE_MIN 16384u		    /* bytes/s: what a body or reply gets more time for */
#define DISCARD_MAX HTTP_UPLOAD_MAX /* bytes of a body nobody wants, before the connection is cut */

enum stage {
	STAGE_HEAD,
	STAGE_ADMITTED, /* its head was checked by its route, too */
	STAGE_BODY,
	STAGE_HANDLED,
};

struct exchange {
	struct http_job job; /* first: a job is its exchange */
	enum stage stage;
	struct http_server *server;
	struct MHD_Connection *connection;
	struct http_request r;
	const struct http_route *route;
	char *target;
	const char *target_end; /* in the library's buffer: its version stands right behind */
	char *body;
	size_t size, length; /* of body */
	size_t discarded;
	uint64_t started_ns, body_ns;
	struct http_framing framing;
};

uint64_t http_exchange_until(unsigned seconds, uint64_t length)
{
	return clock_ns() + (seconds + length / RATE_MIN) * 1000000000u;
}

/* A body has its seconds, and more only as it comes. */
static void body_time(struct exchange *e)
{
	uint64_t seconds = e->server->options.body_seconds + e->length / RATE_MIN;

	http_table_state(e->server->table, e->job.place, HTTP_STATE_BODY,
		e->body_ns + seconds * 1000000000u);
}

static struct http_place *place_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info->socket_context;
}

static void state(struct exchange *e, enum http_state what, unsigned seconds, uint64_t length)
{
	http_table_state(
		e->server->table, e->job.place, what, http_exchange_until(seconds, length));
}

void *http_exchange_begin(void *server, const char *target, struct MHD_Connection *connection)
{
	struct http_server *s = server;
	struct exchange *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->server = s;
	e->connection = connection;
	e->job.place = place_of(connection);
	e->started_ns = clock_ns();
	e->target = strdup(target);
	e->target_end = target + strlen(target) + 1;
	e->r.body = "";
	e->r.number = atomic_fetch_add(&s->requests, 1) + 1;
	state(e, HTTP_STATE_HEAD, s->options.head_seconds, 0);
	return e;
}

static void address_set(struct http_request *r, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *addr = info ? info->client_addr : NULL;
	const struct in6_addr *v6 = &((const struct sockaddr_in6 *)addr)->sin6_addr;

	if (!addr)
		return;
	if (addr->sa_family == AF_INET)
		inet_ntop(AF_INET, &((const struct sockaddr_in *)addr)->sin_addr, r->address,
			sizeof(r->address));
	else if (IN6_IS_ADDR_V4MAPPED(v6))
		inet_ntop(AF_INET, v6->s6_addr + 12, r->address, sizeof(r->address));
	else
		inet_ntop(AF_INET6, v6, r->address, sizeof(r->address));
}

struct header_walk {
	struct http_request *r;
	const char *why;
};

/* RFC 9110, section 5.6.2: what another reader might take for another header is none. */
static bool is_token(const char *name, size_t length)
{
	static const char letters[] = "!#$%&'*+-.^_`|~0123456789"
				      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	return length > 0 && strspn(name, letters) == length;
}

static enum MHD_Result header_take(void *cls, enum MHD_ValueKind kind, const char *name,
	size_t name_length, const char *value, size_t value_length)
{
	struct header_walk *walk = cls;
	struct http_request *r = walk->r;

	if (r->header_count == HTTP_HEADERS_MAX)
		walk->why = "it has too many headers";
	else if (!is_token(name, name_length) || !value || strlen(value) != value_length)
		walk->why = "a header is malformed";
	if (walk->why)
		return MHD_NO;
	r->headers[r->header_count++] = (struct http_pair){.name = name, .value = value};
	return MHD_YES;
}

/* What makes the rest of the connection unreadable, too. */
static const char *head_check(struct exchange *e, struct MHD_Connection *connection,
	const char *version, struct http_framing *framing)
{
	struct header_walk walk = {.r = &e->r};

	if (version != e->target_end)
		return "a NUL is in its first line";
	MHD_get_connection_values_n(connection, MHD_HEADER_KIND, header_take, &walk);
	if (walk.why)
		return walk.why;
	if (strcmp(version, MHD_HTTP_VERSION_1_1) && strcmp(version, MHD_HTTP_VERSION_1_0))
		return "its version is not HTTP/1.1";
	return http_check_framing(&e->r, framing);
}

static void request_check(
	struct exchange *e, const char *method, const struct http_framing *framing)
{
	struct http_request *r = &e->r;
	const char *why = e->target ? http_request_target(r, e->target) : "no memory";

	if (why) {
		http_reply_error(r, 400, "The path is refused: %s.", why);
		return;
	}
	if (!http_check_method(method, &r->method)) {
		http_reply_header(r, "Allow", "GET, HEAD, POST, PUT, PATCH, DELETE");
		http_reply_error(r, 405, "The method is not served.");
		return;
	}
	e->route = http_check_route(e->server->options.routes, e->server->options.route_count, r);
	if (e->route)
		http_check(r, e->route, framing);
	else
		http_reply_error(r, 404, "Public URI path not registered: %s", r->path);
}

static enum MHD_Result send_reply(struct exchange *e, struct MHD_Connection *connection)
{
	struct http_request *r = &e->r;
	unsigned status = r->reply.status;

	if (!status) {
		http_reply_error(r, 500, "The request was not answered.");
		status = 500;
	}
	if (r->reply.next)
		http_table_state(e->server->table, e->job.place, HTTP_STATE_REPLY, 0);
	else
		state(e, HTTP_STATE_REPLY, e->server->options.body_seconds, r->reply.length);
	log_debug("%s: %s: %u in %llu ms", r->address, r->path ? r->path : "?", status,
		(unsigned long long)((clock_ns() - e->started_ns) / 1000000u));
	struct MHD_Response *response = http_response_new(e->server, r, connection);
	if (!response)
		return MHD_NO;
	enum MHD_Result sent = MHD_queue_response(connection, r->reply.status, response);
	MHD_destroy_response(response);
	return sent;
}

/*
 * A body that nobody will read: one of moderate size is let pass, so that the client gets to read why; not if it
 * waits for our word before it sends.
 */
static bool must_cut(const struct exchange *e, const struct http_framing *framing)
{
	return e->r.reply.status &&
	       (framing->length > DISCARD_MAX || http_header(&e->r, "Expect") != NULL);
}

static void run(struct http_job *job, bool turn)
{
	struct exchange *e = (struct exchange *)job;

	if (!turn)
		http_reply_busy(&e->r);
	else if (e->stage == STAGE_HEAD)
		e->route->admit(&e->r, e->route->ctx);
	else
		e->route->handle(&e->r, e->route->ctx);
}

static void done(struct http_job *job)
{
	struct exchange *e = (struct exchange *)job;

	e->stage = e->stage == STAGE_HEAD ? STAGE_ADMITTED : STAGE_HANDLED;
	MHD_resume_connection(e->connection);
}

/* A thread of the pool goes on with it; then libmicrohttpd calls again where it has called now. */
static enum MHD_Result hand_over(struct exchange *e)
{
	http_table_state(e->server->table, e->job.place, HTTP_STATE_BODY, 0);
	e->job.run = run;
	e->job.done = done;
	e->job.until_ns = http_exchange_until(e->server->options.turn_seconds, 0);
	MHD_suspend_connection(e->connection);
	http_pool_put(e->server->pool, &e->job);
	return MHD_YES;
}

static enum MHD_Result admitted_step(struct exchange *e)
{
	if (must_cut(e, &e->framing)) {
		http_reply_header(&e->r, "Connection", "close");
		return send_reply(e, e->connection);
	}
	e->stage = STAGE_BODY;
	e->body_ns = clock_ns();
	body_time(e);
	return MHD_YES;
}

static enum MHD_Result head_step(struct exchange *e, const char *method, const char *version)
{
	const char *why = head_check(e, e->connection, version, &e->framing);

	address_set(&e->r, e->connection);
	if (why) {
		http_reply_error(&e->r, 400, "The request is refused: %s.", why);
		http_reply_header(&e->r, "Connection", "close");
		return send_reply(e, e->connection);
	}
	request_check(e, method, &e->framing);
	if (!e->r.reply.status && e->route->admit && (e->framing.chunked || e->framing.length))
		return hand_over(e);
	return admitted_step(e);
}

static bool body_grow(struct exchange *e, size_t need)
{
	size_t size = e->size ? e->size : BODY_FIRST;

	while (size < need)
		size *= 2;
	if (size > e->route->body_max + 1)
		size = e->route->body_max + 1;
	if (size == e->size)
		return true;
	if (!http_table_hold(e->server->table, e->job.place, size)) {
		http_reply_busy(&e->r);
		return false;
	}
	char *grown = realloc(e->body, size);
	if (!grown) {
		http_reply_busy(&e->r);
		return false;
	}
	e->body = grown;
	e->size = size;
	return true;
}

static enum MHD_Result body_step(struct exchange *e, const char *data, size_t length)
{
	if (!e->r.reply.status && length > e->route->body_max - e->length)
		http_reply_error(
			&e->r, 413, "The body is longer than %zu bytes.", e->route->body_max);
	if (!e->r.reply.status && body_grow(e, e->length + length + 1)) {
		memcpy(e->body + e->length, data, length);
		e->length += length;
		e->body[e->length] = '\0';
		body_time(e);
		return MHD_YES;
	}
	e->discarded += length;
	return e->discarded > DISCARD_MAX ? MHD_NO : MHD_YES;
}

static enum MHD_Result body_end(struct exchange *e)
{
	if (e->length) {
		e->r.body = e->body;
		e->r.body_length = e->length;
	}
	return e->r.reply.status ? send_reply(e, e->connection) : hand_over(e);
}

enum MHD_Result http_exchange_step(void *server, struct MHD_Connection *connection, const char *url,
	const char *method, const char *version, const char *data, size_t *length, void **context)
{
	struct exchange *e = *context;
	enum MHD_Result taken;

	if (!e)
		return MHD_NO;
	switch (e->stage) {
	case STAGE_HEAD:
		return head_step(e, method, version);
	case STAGE_ADMITTED:
		return admitted_step(e);
	case STAGE_HANDLED:
		return send_reply(e, connection);
	case STAGE_BODY:
		break;
	}
	if (!*length)
		return body_end(e);
	taken = body_step(e, data, *length);
	*length = 0;
	return taken;
}

void http_exchange_end(void *server, struct MHD_Connection *connection, void **context,
	enum MHD_RequestTerminationCode code)
{
	struct http_server *s = server;
	struct exchange *e = *context;

	*context = NULL;
	if (!e)
		return;
	http_table_hold(s->table, e->job.place, 0);
	state(e, HTTP_STATE_IDLE, s->options.idle_seconds, 0);
	http_request_fini(&e->r);
	if (e->body)
		explicit_bzero(e->body, e->length);
	free(e->body);
	free(e->target);
	free(e);
}
