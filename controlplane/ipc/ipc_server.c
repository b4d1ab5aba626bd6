/* SPDX-License-Identifier: BSD-3-Clause */
#include "ipc/ipc_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"

struct ipc_request {
	struct ipc_client *client;
	json_t *body;
	json_t *rows;	  /* collected for the next part */
	size_t row_bytes; /* estimate of their size */
	const struct ipc_stream *stream;
	void *stream_ctx;
	bool waiting; /* the stream said IPC_WAIT */
	bool ended;
	void (*gone)(void *ctx);
	void *gone_ctx;
	void *kept;
	void (*release)(void *kept);
};

struct ipc_client {
	LIST_ENTRY(ipc_client) entry;
	struct ipc_server *server;
	struct bufferevent *bev;
	struct ipc_peer peer;
	struct ipc_request *request; /* in progress, NULL: ready for the next */
	bool pumping;		     /* inside client_pump: do not enter again */
	bool broken;		     /* closes when client_pump is left */
	bool closing;		     /* closes when all is written */
};

struct ipc_server {
	struct event_base *base;
	struct evconnlistener *listener;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	ipc_handler handler;
	void *ctx;
	unsigned count;
	LIST_HEAD(, ipc_client) clients;
};

static void client_pump(struct ipc_client *c);

/* --- requests ------------------------------------------------------------------------------------- */

static void request_free(struct ipc_request *r)
{
	if (r->stream)
		r->stream->free(r->stream_ctx);
	if (r->kept)
		r->release(r->kept);
	json_decref(r->body);
	json_decref(r->rows);
	free(r);
}

const json_t *ipc_request_body(const struct ipc_request *r)
{
	return r->body;
}

const struct ipc_peer *ipc_request_peer(const struct ipc_request *r)
{
	return &r->client->peer;
}

void ipc_request_keep(struct ipc_request *r, void *kept, void (*release)(void *kept))
{
	r->kept = kept;
	r->release = release;
}

void *ipc_request_kept(const struct ipc_request *r)
{
	return r->kept;
}

void ipc_request_on_gone(struct ipc_request *r, void (*gone)(void *ctx), void *ctx)
{
	r->gone = gone;
	r->gone_ctx = ctx;
}

static int dump_to(const char *bytes, size_t length, void *evbuffer)
{
	return evbuffer_add(evbuffer, bytes, length);
}

/* Sends one frame; takes over message. A message that cannot be sent breaks the connection. */
static void frame_send(struct ipc_client *c, json_t *message)
{
	struct evbuffer *frame = evbuffer_new();
	uint32_t prefix = 0;

	if (!message || !frame || json_dump_callback(message, dump_to, frame, JSON_COMPACT) ||
		evbuffer_get_length(frame) > IPC_FRAME_MAX) {
		log_error("local interface: answer: cannot be written");
		c->broken = true;
	} else {
		prefix = htonl((uint32_t)evbuffer_get_length(frame));
		bufferevent_write(c->bev, &prefix, sizeof(prefix));
		bufferevent_write_buffer(c->bev, frame);
	}
	json_decref(message);
	if (frame)
		evbuffer_free(frame);
}

static json_t *message_new(const struct ipc_request *r)
{
	const json_t *id = json_object_get(r->body, "id");
	json_t *message = json_object();

	if (id)
		json_object_set(message, "id", (json_t *)id);
	return message;
}

static void rows_flush(struct ipc_request *r)
{
	if (!r->rows)
		return;
	json_t *message = message_new(r);
	json_object_set_new(message, "rows", r->rows);
	r->rows = NULL;
	r->row_bytes = 0;
	frame_send(r->client, message);
}

static size_t row_size(const json_t *row)
{
	if (json_is_string(row))
		return json_string_length(row) + 3;
	return 40 * json_object_size(row) + 8;
}

void ipc_row(struct ipc_request *r, json_t *row)
{
	if (!r->rows)
		r->rows = json_array();
	if (!row || json_array_append_new(r->rows, row)) {
		r->client->broken = true;
		return;
	}
	r->row_bytes += row_size(row);
	if (r->row_bytes >= IPC_ROWS_BYTES)
		rows_flush(r);
}

static void request_end(struct ipc_request *r, json_t *message)
{
	r->ended = true;
	r->gone = NULL;
	rows_flush(r);
	frame_send(r->client, message);
	client_pump(r->client);
}

void ipc_reply_error(struct ipc_request *r, const struct ipc_error *e)
{
	json_t *message = message_new(r);
	json_t *error = e->more ? e->more : json_object();

	json_object_set_new(error, "code", json_integer(e->code));
	const struct {
		const char *key, *value;
		bool optional;
	} texts[] = {{"kind", e->kind, false}, {"object", e->object, false},
		{"field", e->field, false}, {"reason", e->reason, false}, {"file", e->file, true},
		{"text", e->text ? e->text : e->reason, false}};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		const char *value = texts[i].value ? texts[i].value : "";
		if (*value || !texts[i].optional)
			json_object_set_new(
				error, texts[i].key, ipc_text_new(value, strlen(value)));
	}
	if (e->line)
		json_object_set_new(error, "line", json_integer(e->line));
	json_object_set_new(message, "error", error);
	request_end(r, message);
}

void ipc_reply(struct ipc_request *r, json_t *result)
{
	if (!result) {
		ipc_reply_error(r, &(struct ipc_error){.code = 500, .reason = "no memory"});
		return;
	}
	json_t *message = message_new(r);
	json_object_set_new(message, "result", result);
	request_end(r, message);
}

void ipc_stream(struct ipc_request *r, const struct ipc_stream *stream, void *ctx)
{
	r->stream = stream;
	r->stream_ctx = ctx;
	client_pump(r->client);
}

void ipc_stream_resume(struct ipc_request *r)
{
	r->waiting = false;
	client_pump(r->client);
}

/* --- clients -------------------------------------------------------------------------------------- */

static void client_close(struct ipc_client *c)
{
	struct ipc_request *r = c->request;

	if (r) {
		if (r->gone)
			r->gone(r->gone_ctx);
		request_free(r);
	}
	LIST_REMOVE(c, entry);
	c->server->count--;
	/* libevent closes at its next turn; the peer shall know now. */
	shutdown(bufferevent_getfd(c->bev), SHUT_RDWR);
	bufferevent_free(c->bev);
	free(c);
}

/* What came is no message: says so, and ends, since the stream has lost its rhythm. */
static void client_refuse(struct ipc_client *c, int code, const char *reason)
{
	json_t *message = json_pack("{s:{s:i,s:s,s:s,s:s,s:s,s:s}}", "error", "code", code, "kind",
		"", "object", "", "field", "", "reason", reason, "text", reason);

	frame_send(c, message);
	bufferevent_disable(c->bev, EV_READ);
	c->closing = true;
}

static void request_start(struct ipc_client *c, json_t *body)
{
	struct ipc_request *r = calloc(1, sizeof(*r));

	if (!r) {
		json_decref(body);
		c->broken = true;
		return;
	}
	r->client = c;
	r->body = body;
	c->request = r;
	c->server->handler(r, c->server->ctx);
}

/* Takes the next request from the input, if a whole one is there. */
static bool request_read(struct ipc_client *c)
{
	struct evbuffer *in = bufferevent_get_input(c->bev);
	uint32_t length;

	if (c->closing || evbuffer_copyout(in, &length, sizeof(length)) < (ssize_t)sizeof(length))
		return false;
	length = ntohl(length);
	if (length > IPC_FRAME_MAX) {
		client_refuse(c, 413, "request: more than 64 MiB");
		return false;
	}
	if (evbuffer_get_length(in) < sizeof(length) + length)
		return false;
	evbuffer_drain(in, sizeof(length));
	const char *text = (const char *)evbuffer_pullup(in, length);
	json_error_t error;
	json_t *body = json_loadb(text ? text : "", length, JSON_REJECT_DUPLICATES, &error);
	evbuffer_drain(in, length);
	if (json_is_object(body)) {
		request_start(c, body);
		return true;
	}
	bool parsed = body != NULL;
	json_decref(body);
	client_refuse(c, 400, parsed ? "request: not a JSON object" : error.text);
	return false;
}

static void stream_step(struct ipc_request *r)
{
	switch (r->stream->next(r, r->stream_ctx)) {
	case IPC_WAIT:
		r->waiting = true;
		rows_flush(r);
		break;
	case IPC_MORE:
	case IPC_END:
		break;
	}
}

/* Does whatever can be done now: continues the answer, takes the next request. */
static void client_pump(struct ipc_client *c)
{
	struct evbuffer *out = bufferevent_get_output(c->bev);

	if (c->pumping)
		return;
	c->pumping = true;
	while (!c->broken) {
		struct ipc_request *r = c->request;

		if (r && r->ended) {
			c->request = NULL;
			request_free(r);
		} else if (r && r->stream && !r->waiting &&
			   evbuffer_get_length(out) < IPC_WAITING_MAX) {
			stream_step(r);
		} else if (r || evbuffer_get_length(out) >= IPC_WAITING_MAX || !request_read(c)) {
			break;
		}
	}
	c->pumping = false;
	if (c->broken || (c->closing && evbuffer_get_length(out) == 0))
		client_close(c);
}

void ipc_request_resume(
	struct ipc_request *r, void (*resume)(struct ipc_request *r, void *ctx), void *ctx)
{
	struct ipc_client *c = r->client;

	c->pumping = true;
	resume(r, ctx);
	c->pumping = false;
	client_pump(c);
}

static void on_read(struct bufferevent *bev, void *ctx)
{
	client_pump(ctx);
}

static void on_event(struct bufferevent *bev, short what, void *ctx)
{
	struct ipc_client *c = ctx;

	if (what & BEV_EVENT_TIMEOUT)
		log_notice("local interface: client %d: cut off: it reads nothing", c->peer.pid);
	client_close(c);
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *addr,
	int length, void *ctx)
{
	struct ipc_server *s = ctx;
	struct timeval stall = {.tv_sec = IPC_STALL_SECONDS};
	struct ucred cred;
	socklen_t cred_length = sizeof(cred);
	struct ipc_client *c = s->count < IPC_CLIENTS_MAX ? calloc(1, sizeof(*c)) : NULL;

	if (!c || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &cred_length) ||
		!(c->bev = bufferevent_socket_new(s->base, fd, BEV_OPT_CLOSE_ON_FREE))) {
		log_warning("local interface: client: refused: %s",
			c ? strerror(errno) : "too many or no memory");
		free(c);
		close(fd);
		return;
	}
	c->server = s;
	c->peer = (struct ipc_peer){cred.pid, cred.uid, cred.gid};
	LIST_INSERT_HEAD(&s->clients, c, entry);
	s->count++;
	bufferevent_setcb(c->bev, on_read, on_read, on_event, c);
	bufferevent_setwatermark(c->bev, EV_READ, 0, IPC_FRAME_MAX + sizeof(uint32_t));
	bufferevent_setwatermark(c->bev, EV_WRITE, IPC_WAITING_MAX / 2, 0);
	bufferevent_set_timeouts(c->bev, NULL, &stall);
	bufferevent_enable(c->bev, EV_READ | EV_WRITE);
}

/* --- server --------------------------------------------------------------------------------------- */

/* Binds and listens; a socket file that nobody answers on is a left-over and removed. */
static int socket_listen(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int rc = -1, fd;

	if (strlen(path) >= sizeof(addr.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(addr.sun_path, path);
	fd = ipc_connect(path, 1000);
	if (fd >= 0) {
		close(fd);
		errno = EADDRINUSE;
		return -1;
	}
	unlink(path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	mode_t old = umask(0177);
	rc = bind(fd, (struct sockaddr *)&addr, sizeof(addr));
	umask(old);
	if (rc || listen(fd, IPC_CLIENTS_MAX)) {
		int error = errno;
		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

struct ipc_server *ipc_server_new(
	struct event_base *base, const char *path, ipc_handler handler, void *ctx)
{
	struct ipc_server *s;
	int fd = socket_listen(path);

	if (fd < 0)
		return NULL;
	signal(SIGPIPE, SIG_IGN); /* libevent writes without MSG_NOSIGNAL */
	s = calloc(1, sizeof(*s));
	if (s) {
		*s = (struct ipc_server){.base = base, .handler = handler, .ctx = ctx};
		strcpy(s->path, path);
		s->listener = evconnlistener_new(
			base, on_accept, s, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
	}
	if (!s || !s->listener) {
		free(s);
		close(fd);
		unlink(path);
		errno = ENOMEM;
		return NULL;
	}
	return s;
}

void ipc_server_free(struct ipc_server *s)
{
	if (!s)
		return;
	evconnlistener_free(s->listener);
	while (!LIST_EMPTY(&s->clients))
		client_close(LIST_FIRST(&s->clients));
	unlink(s->path);
	free(s);
}
