/* SPDX-License-Identifier: BSD-3-Clause */
/* Server-sent events: rows of weir-cp's "watch", each an event whose id a browser sends when it comes again. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/ipc.h"
#include "observe/observe.h"

#define FRAME_MAX (4u << 20) /* weir-cp's are about 64 KiB */
#define RETRY_MS 2000	     /* after which a browser connects again */
#define READ_SIZE 65536u

struct event_stream {
	int fd;
	char *in; /* what came from weir-cp and is no whole frame yet */
	size_t in_length, in_size;
	char *out; /* text that the client has not got yet */
	size_t out_length, out_sent, out_size;
	bool ended;
};

static void stream_free(void *ctx)
{
	struct event_stream *s = ctx;

	close(s->fd);
	free(s->in);
	free(s->out);
	free(s);
}

/* Room for more bytes behind length. */
static bool reserve(char **data, size_t *size, size_t length, size_t more)
{
	if (length + more <= *size)
		return true;
	char *grown = realloc(*data, 2 * (length + more));
	if (!grown)
		return false;
	*data = grown;
	*size = 2 * (length + more);
	return true;
}

/* --- what the client gets ------------------------------------------------------------------------- */

static bool text_add_to(struct event_stream *s, const char *text)
{
	size_t n = strlen(text);

	if (!reserve(&s->out, &s->out_size, s->out_length, n))
		return false;
	memcpy(s->out + s->out_length, text, n);
	s->out_length += n;
	return true;
}

static bool event_add_to(struct event_stream *s, const json_t *row)
{
	const char *type = json_string_value(json_object_get(row, "type"));
	char *data = json_dumps(row, JSON_COMPACT), head[80];
	bool ok = data != NULL;

	snprintf(head, sizeof(head), "id: %lld\nevent: %.30s\ndata: ",
		(long long)json_integer_value(json_object_get(row, "id")), type ? type : "");
	/* The server shows by itself that it is there. */
	if (ok && type && strcmp(type, "alive"))
		ok = text_add_to(s, head) && text_add_to(s, data) && text_add_to(s, "\n\n");
	free(data);
	return ok;
}

static void frame_take(struct event_stream *s, const char *bytes, size_t length)
{
	json_t *frame = json_loadb(bytes, length, 0, NULL), *rows = json_object_get(frame, "rows");

	for (size_t i = 0; i < json_array_size(rows); i++)
		s->ended |= !event_add_to(s, json_array_get(rows, i));
	/* The end of an answer, or no answer at all: the client comes again, and is told why if it may not. */
	if (!rows)
		s->ended = true;
	json_decref(frame);
}

/* --- what weir-cp sends --------------------------------------------------------------------------- */

static void frames_take(struct event_stream *s)
{
	size_t at = 0;
	uint32_t length;

	while (!s->ended && s->in_length - at >= sizeof(length)) {
		memcpy(&length, s->in + at, sizeof(length));
		length = ntohl(length);
		if (length > FRAME_MAX)
			s->ended = true;
		if (s->ended || s->in_length - at - sizeof(length) < length)
			break;
		frame_take(s, s->in + at + sizeof(length), length);
		at += sizeof(length) + length;
	}
	if (at)
		memmove(s->in, s->in + at, s->in_length - at);
	s->in_length -= at;
}

static void stream_read(struct event_stream *s, unsigned wait_ms)
{
	struct pollfd poll_fd = {.fd = s->fd, .events = POLLIN};

	if (poll(&poll_fd, 1, (int)wait_ms) <= 0)
		return;
	if (!reserve(&s->in, &s->in_size, s->in_length, READ_SIZE)) {
		s->ended = true;
		return;
	}
	ssize_t n = recv(s->fd, s->in + s->in_length, READ_SIZE, MSG_DONTWAIT);
	if (n > 0)
		s->in_length += (size_t)n;
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		s->ended = true;
	frames_take(s);
}

static ssize_t stream_next(void *ctx, char *buffer, size_t size, unsigned wait_ms)
{
	struct event_stream *s = ctx;

	if (s->out_sent == s->out_length) {
		s->out_sent = s->out_length = 0;
		if (!s->ended)
			stream_read(s, wait_ms);
	}
	size_t n = s->out_length - s->out_sent < size ? s->out_length - s->out_sent : size;
	memcpy(buffer, s->out + s->out_sent, n);
	s->out_sent += n;
	return n || !s->ended ? (ssize_t)n : -1;
}

/* --- the request ---------------------------------------------------------------------------------- */

/* Number of the last event that the client has; -1: it has none. False: it is no number. */
static bool last_of(struct http_request *r, json_int_t *last)
{
	const char *text = http_header(r, "Last-Event-ID");

	if (!text || !*text)
		text = http_query(r, "after");
	*last = -1;
	if (!text)
		return true;
	if (!*text || strspn(text, "0123456789") != strlen(text) || strlen(text) > 18)
		return false;
	*last = strtoll(text, NULL, 10);
	return true;
}

static bool row_ignore(void *arg, json_t *row)
{
	return true;
}

static struct event_stream *stream_open(
	struct http_request *r, const struct observe_backend *b, json_int_t last, int *rc)
{
	struct event_stream *s = calloc(1, sizeof(*s));
	json_t *request = json_pack(
		"{s:s, s:o}", "op", "watch", "as", credentials_as(&r->credentials, r->address));

	if (last >= 0)
		json_object_set_new(request, "after", json_integer(last));
	*rc = s && request ? b->connect(b->rest.ctx) : -ENOMEM;
	if (*rc >= 0) {
		s->fd = *rc;
		*rc = ipc_send(s->fd, request);
	}
	json_decref(request);
	if (*rc == 0)
		return s;
	if (s && s->fd > 0)
		close(s->fd);
	free(s);
	return NULL;
}

void observe_events(struct http_request *r, const struct observe_backend *b)
{
	struct event_stream *s;
	json_int_t last;
	json_t *error;
	char retry[40];
	int rc;

	if (!observe_is_get(r))
		return;
	if (!last_of(r, &last)) {
		http_reply_error(r, 400, "Last-Event-ID, after: must be the id of an event");
		return;
	}
	/* The stream itself can no longer say with a status that it is not allowed. */
	json_t *probe = json_pack("{s:s, s:b}", "op", "watch", "follow", 0);
	if (!observe_ask(r, b, probe, row_ignore, NULL, &error, &rc)) {
		observe_refuse(r, error, rc);
		return;
	}
	s = stream_open(r, b, last, &rc);
	if (!s) {
		observe_refuse(r, NULL, rc);
		return;
	}
	snprintf(retry, sizeof(retry), "retry: %d\n\n", RETRY_MS);
	s->ended = !text_add_to(s, retry);
	http_reply_stream(r, stream_next, stream_free, s);
}
