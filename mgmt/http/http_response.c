/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "http/http_exchange.h"

#define STREAM_BLOCK 4096u
#define STREAM_WAIT_MS 500u
#define STREAM_QUIET_NS                                                                            \
	(15 * 1000000000ull) /* then a comment is sent, which shows whether the client is there */

struct stream {
	struct http_server *server;
	http_stream_next *next;
	void (*free)(void *ctx);
	void *ctx;
	uint64_t sent_ns;
};

static ssize_t stream_read(void *cls, uint64_t position, char *buffer, size_t size)
{
	static const char comment[] = ": \n\n";
	struct stream *stream = cls;

	while (!atomic_load(&stream->server->stopping)) {
		ssize_t n = stream->next(stream->ctx, buffer, size, STREAM_WAIT_MS);

		if (n < 0)
			break;
		if (n == 0 && clock_ns() - stream->sent_ns >= STREAM_QUIET_NS) {
			n = sizeof(comment) - 1;
			memcpy(buffer, comment, (size_t)n);
		}
		if (n > 0) {
			stream->sent_ns = clock_ns();
			return n;
		}
	}
	return MHD_CONTENT_READER_END_OF_STREAM;
}

static void stream_free(void *cls)
{
	struct stream *stream = cls;

	if (stream->free)
		stream->free(stream->ctx);
	atomic_fetch_sub(&stream->server->streams, 1);
	free(stream);
}

static struct MHD_Response *stream_new(struct http_server *s, struct http_reply *reply)
{
	struct stream *stream = malloc(sizeof(*stream));

	if (!stream)
		return NULL;
	*stream = (struct stream){.server = s,
		.next = reply->next,
		.free = reply->stream_free,
		.ctx = reply->stream_ctx,
		.sent_ns = clock_ns()};
	reply->stream_free = NULL;
	struct MHD_Response *response = MHD_create_response_from_callback(
		MHD_SIZE_UNKNOWN, STREAM_BLOCK, stream_read, stream, stream_free);
	if (!response)
		stream_free(stream);
	return response;
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

struct MHD_Response *http_response_new(struct http_server *s, struct http_request *r)
{
	struct http_reply *reply = &r->reply;
	struct MHD_Response *response;

	if (reply->next && atomic_fetch_add(&s->streams, 1) >= HTTP_STREAMS_MAX) {
		atomic_fetch_sub(&s->streams, 1);
		http_reply_busy(r);
	}
	if (reply->next) {
		response = stream_new(s, reply);
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
