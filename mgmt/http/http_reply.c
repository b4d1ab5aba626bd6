/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "http/http.h"

static const char type_json[] = "application/json; charset=UTF-8";

static void content_set(
	struct http_request *r, unsigned status, const char *type, char *body, size_t length)
{
	struct http_reply *reply = &r->reply;

	free(reply->body);
	if (reply->file > 0)
		close(reply->file);
	reply->file = 0;
	if (reply->stream_free)
		reply->stream_free(reply->stream_ctx);
	reply->next = NULL;
	reply->stream_free = NULL;
	reply->status = status;
	reply->type = type;
	reply->body = body;
	reply->length = length;
}

void http_reply(
	struct http_request *r, unsigned status, const char *type, char *body, size_t length)
{
	content_set(r, status, type, body, length);
}

void http_reply_file(struct http_request *r, unsigned status, const char *type, int fd,
	uint64_t from, size_t length)
{
	content_set(r, status, type, NULL, length);
	r->reply.file = fd;
	r->reply.file_from = from;
}

void http_reply_json(struct http_request *r, unsigned status, json_t *body)
{
	char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;

	json_decref(body);
	if (text)
		content_set(r, status, type_json, text, strlen(text));
	else
		content_set(r, 500, NULL, NULL, 0);
}

void http_reply_error(struct http_request *r, unsigned status, const char *format, ...)
{
	char *message;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&message, format, ap) < 0)
		message = NULL;
	va_end(ap);
	http_reply_json(r, status,
		message ? json_pack("{s:i, s:s, s:s, s:I, s:s}", "code", (int)status, "message",
				  message, "referer", r->address, "restOperationId",
				  (json_int_t)r->number, "kind", ":resterrorresponse")
			: NULL);
	free(message);
}

void http_reply_unauthorised(struct http_request *r, const char *why)
{
	/* A browser would ask for a password of its own accord and send it from then on. */
	if (!http_header(r, "Sec-Fetch-Site"))
		http_reply_header(r, "WWW-Authenticate", "Basic realm=\"BIG-IP\"");
	if (why)
		http_reply_error(r, 401, "Authorization failed: %s", why);
	else
		http_reply_error(r, 401,
			"Authorization failed: no user authentication header or token detected. "
			"Uri:%s Referrer:%s Sender:%s",
			r->path ? r->path : "", r->address, r->address);
}

void http_reply_restarting(struct http_request *r)
{
	static const char page[] = "<html><head><title>Unavailable</title></head>"
				   "<body>Configuration Utility restarting...</body></html>\n";
	char *body = strdup(page);

	http_reply_header(r, "Retry-After", "5");
	content_set(r, 503, "text/html; charset=UTF-8", body, body ? strlen(body) : 0);
}

void http_reply_busy(struct http_request *r)
{
	http_reply_header(r, "Retry-After", "1");
	http_reply_error(r, 503, "There are too many requests at once.");
}

void http_reply_header(struct http_request *r, const char *name, const char *value)
{
	struct http_reply *reply = &r->reply;

	if (reply->header_count == HTTP_REPLY_HEADERS_MAX)
		return;
	struct http_pair pair = {.name = strdup(name), .value = strdup(value)};
	if (pair.name && pair.value) {
		reply->headers[reply->header_count++] = pair;
	} else {
		free((char *)pair.name);
		free((char *)pair.value);
	}
}

void http_reply_stream(
	struct http_request *r, http_stream_next *next, void (*stream_free)(void *ctx), void *ctx)
{
	content_set(r, 200, "text/event-stream", NULL, 0);
	r->reply.next = next;
	r->reply.stream_free = stream_free;
	r->reply.stream_ctx = ctx;
}
