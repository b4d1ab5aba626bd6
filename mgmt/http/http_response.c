/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/clock.h"
#include "http/http_exchange.h"

#define STREAM_BLOCK 4096u
#define STREAM_STACK 262144u
#define STREAM_WAIT_MS 500u
#define STREAM_QUIET_NS                                                                            \
	(15 * 1000000000ull) /* then a comment is sent, which shows whether the client is there */

/* A thread of its own asks for what comes; the connection is suspended while there is nothing. */
struct stream {
	struct http_server *server;
	struct MHD_Connection *connection;
	struct http_place *place; /* of the connection, until it is gone */
	http_stream_next *next;
	void (*free)(void *ctx);
	void *ctx;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t taken;
	char block[STREAM_BLOCK];
	size_t length;	/* of block: not taken yet */
	bool suspended; /* it waits for us */
	bool ended;	/* nothing more comes */
	bool gone;	/* the connection is */
};

static void stream_destroy(struct stream *stream)
{
	if (stream->free)
		stream->free(stream->ctx);
	pthread_cond_destroy(&stream->taken);
	pthread_mutex_destroy(&stream->lock);
	free(stream);
}

/* For libmicrohttpd: what there is, or the connection waits. */
static ssize_t stream_read(void *cls, uint64_t position, char *buffer, size_t size)
{
	struct stream *stream = cls;
	ssize_t n = 0;

	pthread_mutex_lock(&stream->lock);
	if (stream->length > 0) {
		n = (ssize_t)(stream->length < size ? stream->length : size);
		memcpy(buffer, stream->block, (size_t)n);
		stream->length -= (size_t)n;
		memmove(stream->block, stream->block + n, stream->length);
		pthread_cond_signal(&stream->taken);
	} else if (stream->ended) {
		n = MHD_CONTENT_READER_END_OF_STREAM;
	} else {
		stream->suspended = true;
		MHD_suspend_connection(stream->connection);
	}
	pthread_mutex_unlock(&stream->lock);
	return n;
}

static void stream_wake(struct stream *stream)
{
	if (stream->suspended && !stream->gone)
		MHD_resume_connection(stream->connection);
	stream->suspended = false;
}

static bool is_over(const struct stream *stream)
{
	return stream->gone || atomic_load(&stream->server->stopping);
}

/* A client that takes nothing keeps its place from others no longer: the next sweep ends its connection. */
static void stream_cut(struct stream *stream)
{
	http_table_state(stream->server->table, stream->place, HTTP_STATE_REPLY, 1);
}

/* Waits until the block before was taken. False: nobody will take it. */
static bool stream_put(struct stream *stream, const char *block, size_t length)
{
	uint64_t late_ns = http_exchange_until(stream->server->options.body_seconds, 0);

	pthread_mutex_lock(&stream->lock);
	while (stream->length > 0 && !is_over(stream)) {
		struct timespec until;

		if (clock_ns() > late_ns)
			stream_cut(stream);
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec++;
		pthread_cond_timedwait(&stream->taken, &stream->lock, &until);
	}
	bool over = is_over(stream);
	if (!over && length > 0) {
		memcpy(stream->block, block, length);
		stream->length = length;
		stream_wake(stream);
	}
	pthread_mutex_unlock(&stream->lock);
	return !over;
}

/* Whichever of thread and connection is last takes the stream along. */
static void stream_leave(struct stream *stream, bool *mine, const bool *others)
{
	struct http_server *s = stream->server;
	bool thread = mine == &stream->ended;

	pthread_mutex_lock(&stream->lock);
	*mine = true;
	bool last = *others;
	if (thread)
		stream_wake(stream);
	else
		pthread_cond_signal(&stream->taken);
	pthread_mutex_unlock(&stream->lock);
	if (last)
		stream_destroy(stream);
	if (thread)
		atomic_fetch_sub(&s->streams, 1);
}

static void stream_gone(void *cls)
{
	struct stream *stream = cls;

	stream_leave(stream, &stream->gone, &stream->ended);
}

static void *stream_work(void *ctx)
{
	static const char comment[] = ": \n\n";
	struct stream *stream = ctx;
	uint64_t sent_ns = clock_ns();
	char block[STREAM_BLOCK];

	for (;;) {
		ssize_t n = stream->next(stream->ctx, block, sizeof(block), STREAM_WAIT_MS);

		if (n == 0 && clock_ns() - sent_ns >= STREAM_QUIET_NS) {
			n = sizeof(comment) - 1;
			memcpy(block, comment, (size_t)n);
		}
		if (n > 0)
			sent_ns = clock_ns();
		if (n < 0 || !stream_put(stream, block, (size_t)n))
			break;
	}
	stream_leave(stream, &stream->ended, &stream->gone);
	return NULL;
}

static bool thread_start(struct stream *stream)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STREAM_STACK);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	int rc = pthread_create(&thread, &attributes, stream_work, stream);
	pthread_attr_destroy(&attributes);
	return rc == 0;
}

/* The reply's stream is counted already. */
static struct MHD_Response *stream_new(
	struct http_server *s, struct http_reply *reply, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct stream *stream = calloc(1, sizeof(*stream));

	if (!stream) {
		atomic_fetch_sub(&s->streams, 1);
		return NULL;
	}
	stream->server = s;
	stream->connection = connection;
	stream->place = info->socket_context;
	stream->next = reply->next;
	stream->free = reply->stream_free;
	stream->ctx = reply->stream_ctx;
	reply->stream_free = NULL;
	pthread_mutex_init(&stream->lock, NULL);
	pthread_cond_init(&stream->taken, NULL);
	struct MHD_Response *response = MHD_create_response_from_callback(
		MHD_SIZE_UNKNOWN, STREAM_BLOCK, stream_read, stream, stream_gone);
	if (response && thread_start(stream))
		return response;
	stream->ended = true;
	atomic_fetch_sub(&s->streams, 1);
	if (response)
		MHD_destroy_response(response);
	else
		stream_destroy(stream);
	return NULL;
}

static bool has_header(const struct http_reply *reply, const char *name)
{
	for (unsigned i = 0; i < reply->header_count; i++)
		if (!strcasecmp(reply->headers[i].name, name))
			return true;
	return false;
}

/* What every reply says, where its handler says nothing else. */
static void headers_add(
	const struct http_server *s, const struct http_reply *reply, struct MHD_Response *response)
{
	static const struct http_pair always[] = {{"Cache-Control", "no-store"},
		{"X-Content-Type-Options", "nosniff"}, {"X-Frame-Options", "DENY"},
		{"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
		{"Referrer-Policy", "no-referrer"}};

	for (size_t i = 0; i < sizeof(always) / sizeof(*always); i++)
		if (!has_header(reply, always[i].name))
			MHD_add_response_header(response, always[i].name, always[i].value);
	for (unsigned i = 0; i < reply->header_count; i++)
		MHD_add_response_header(response, reply->headers[i].name, reply->headers[i].value);
	if (reply->type)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply->type);
	if (s->options.hsts)
		MHD_add_response_header(response, "Strict-Transport-Security", "max-age=31536000");
}

/* Takes a place for a stream. */
static bool stream_may(struct http_server *s, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	if (atomic_fetch_add(&s->streams, 1) < HTTP_STREAMS_MAX &&
		http_table_stream(s->table, info->socket_context))
		return true;
	atomic_fetch_sub(&s->streams, 1);
	return false;
}

struct MHD_Response *http_response_new(
	struct http_server *s, struct http_request *r, struct MHD_Connection *connection)
{
	struct http_reply *reply = &r->reply;
	struct MHD_Response *response;

	if (reply->next && !stream_may(s, connection))
		http_reply_busy(r);
	if (reply->next) {
		response = stream_new(s, reply, connection);
	} else if (reply->file > 0) {
		response = MHD_create_response_from_fd_at_offset64(
			reply->length, reply->file, reply->file_from);
		if (response)
			reply->file = 0;
	} else {
		response = MHD_create_response_from_buffer(
			reply->length, reply->body, MHD_RESPMEM_MUST_FREE);
		if (response)
			reply->body = NULL;
	}
	if (response)
		headers_add(s, reply, response);
	return response;
}
