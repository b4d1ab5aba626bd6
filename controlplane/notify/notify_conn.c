/* SPDX-License-Identifier: BSD-3-Clause */
/* One connection to weir-cp: frames of JSON, never waited for, tried again. */
#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "ipc/ipc.h"
#include "notify/notify.h"

#define RETRY_MS 500

struct notify_conn {
	const struct notify_conn_ops *ops;
	void *ctx;
	struct event_base *base;
	struct sockaddr_un address;
	uid_t started_as;
	struct bufferevent *bev; /* NULL: not connected */
	struct event *retry;
	bool told; /* that there is no connection */
};

static void conn_drop(struct notify_conn *c, const char *why)
{
	struct timeval wait = {.tv_usec = RETRY_MS * 1000};
	bool was = c->bev;

	if (!c->told)
		log_notice("weir-cp: %s", why);
	c->told = true;
	if (c->bev)
		bufferevent_free(c->bev);
	c->bev = NULL;
	event_add(c->retry, &wait);
	if (was)
		c->ops->down(c->ctx);
}

void notify_conn_again(struct notify_conn *c)
{
	if (c->bev)
		conn_drop(c, "is asked anew");
}

bool notify_conn_send(struct notify_conn *c, json_t *message)
{
	char *text = c->bev && message ? json_dumps(message, JSON_COMPACT) : NULL;

	json_decref(message);
	if (!text)
		return false;
	size_t length = strlen(text);
	uint32_t prefix = htonl((uint32_t)length);
	bufferevent_write(c->bev, &prefix, sizeof(prefix));
	bufferevent_write(c->bev, text, length);
	free(text);
	return true;
}

/* A whole frame: 1 handled, 0 not there yet, -EPROTO. */
static int frame_read(struct notify_conn *c, struct evbuffer *in)
{
	uint32_t length;

	if (evbuffer_copyout(in, &length, sizeof(length)) < (ssize_t)sizeof(length))
		return 0;
	length = ntohl(length);
	if (length > IPC_FRAME_MAX)
		return -EPROTO;
	if (evbuffer_get_length(in) < sizeof(length) + length)
		return 0;
	evbuffer_drain(in, sizeof(length));
	char *text = (char *)evbuffer_pullup(in, length);
	json_t *message = json_loadb(text ? text : "", length, 0, NULL);
	if (text)
		explicit_bzero(text, length); /* settings have secrets */
	evbuffer_drain(in, length);
	bool object = json_is_object(message);
	if (object)
		c->ops->message(c->ctx, message);
	json_decref(message);
	return object ? 1 : -EPROTO;
}

static void on_read(struct bufferevent *bev, void *ctx)
{
	struct notify_conn *c = ctx;
	int rc;

	do
		rc = frame_read(c, bufferevent_get_input(bev));
	while (rc > 0 && c->bev == bev);
	if (rc < 0 && c->bev == bev)
		conn_drop(c, "sent what is no message");
}

static void on_event(struct bufferevent *bev, short what, void *ctx)
{
	conn_drop(ctx, "connection lost");
}

static bool peer_trusted(const struct notify_conn *c, int fd)
{
	struct ucred peer;
	socklen_t length = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
	       (peer.uid == 0 || peer.uid == geteuid() || peer.uid == c->started_as);
}

static void on_retry(evutil_socket_t unused, short what, void *ctx)
{
	struct notify_conn *c = ctx;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const char *why = NULL;

	if (fd < 0 || connect(fd, (struct sockaddr *)&c->address, sizeof(c->address)))
		why = strerror(errno);
	else if (!peer_trusted(c, fd))
		why = "another user listens on its socket";
	if (!why) {
		c->bev = bufferevent_socket_new(c->base, fd, BEV_OPT_CLOSE_ON_FREE);
		why = c->bev ? NULL : "no memory";
	}
	if (why) {
		if (fd >= 0)
			close(fd);
		conn_drop(c, why);
		return;
	}
	c->told = false;
	bufferevent_setcb(c->bev, on_read, NULL, on_event, c);
	bufferevent_enable(c->bev, EV_READ | EV_WRITE);
	c->ops->up(c->ctx);
}

struct notify_conn *notify_conn_new(struct event_base *base, const char *path, uid_t started_as,
	const struct notify_conn_ops *ops, void *ctx)
{
	struct notify_conn *c = calloc(1, sizeof(*c));
	struct timeval now = {0};

	if (!c || strlen(path) >= sizeof(c->address.sun_path)) {
		free(c);
		return NULL;
	}
	*c = (struct notify_conn){.ops = ops, .ctx = ctx, .base = base, .started_as = started_as};
	c->address.sun_family = AF_UNIX;
	strcpy(c->address.sun_path, path);
	c->retry = evtimer_new(base, on_retry, c);
	if (!c->retry || evtimer_add(c->retry, &now)) {
		notify_conn_free(c);
		return NULL;
	}
	return c;
}

void notify_conn_free(struct notify_conn *c)
{
	if (!c)
		return;
	if (c->bev)
		bufferevent_free(c->bev);
	if (c->retry)
		event_free(c->retry);
	free(c);
}
