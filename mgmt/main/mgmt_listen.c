/* SPDX-License-Identifier: BSD-3-Clause */
#include "main/mgmt_listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

#define BACKLOG 128
#define ACCEPTS_MAX 64 /* of one turn */

struct mgmt_listen {
	int fd;
	struct event *event;
	struct http_server *server;
};

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static bool port_parse(const char *text, in_port_t *port)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || value == 0 || value > 65535)
		return false;
	*port = htons((uint16_t)value);
	return true;
}

static bool address_parse(const char *text, union address *address)
{
	const char *colon = strrchr(text, ':');
	char host[INET6_ADDRSTRLEN] = "";
	size_t length = colon ? (size_t)(colon - text) : 0;
	bool v6 = length > 2 && *text == '[' && colon[-1] == ']';

	*address = (union address){0};
	if (v6) {
		text++;
		length -= 2;
	}
	if (length == 0 || length >= sizeof(host))
		return false;
	memcpy(host, text, length);
	address->any.sa_family = v6 ? AF_INET6 : AF_INET;
	if (v6)
		return port_parse(colon + 1, &address->v6.sin6_port) &&
		       inet_pton(AF_INET6, host, &address->v6.sin6_addr) == 1;
	return port_parse(colon + 1, &address->v4.sin_port) &&
	       inet_pton(AF_INET, host, &address->v4.sin_addr) == 1;
}

static int socket_open(const union address *address)
{
	bool v6 = address->any.sa_family == AF_INET6;
	int on = 1, rc = 0;
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
		(v6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on))) ||
		bind(fd, &address->any, v6 ? sizeof(address->v6) : sizeof(address->v4)) ||
		listen(fd, BACKLOG))
		rc = -errno;
	if (rc)
		close(fd);
	return rc ? rc : fd;
}

struct mgmt_listen *mgmt_listen_new(const char *text)
{
	struct mgmt_listen *listener;
	union address address;

	if (!address_parse(text, &address)) {
		log_error(
			"arguments: --listen: \"%s\" is not ADDRESS:PORT or [ADDRESS]:PORT", text);
		return NULL;
	}
	int fd = socket_open(&address);
	if (fd < 0) {
		log_error("%s: cannot listen: %s", text, strerror(-fd));
		return NULL;
	}
	listener = calloc(1, sizeof(*listener));
	if (!listener)
		close(fd);
	else
		listener->fd = fd;
	return listener;
}

static bool is_passing(int error)
{
	return error == EINTR || error == ECONNABORTED || error == EPROTO;
}

static void on_accept(evutil_socket_t fd, short what, void *ctx)
{
	struct mgmt_listen *listener = ctx;

	for (int i = 0; i < ACCEPTS_MAX; i++) {
		union address from;
		socklen_t length = sizeof(from);
		int on = 1;
		int got = accept4((int)fd, &from.any, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (got < 0 && is_passing(errno))
			continue;
		if (got < 0) {
			if (errno != EAGAIN) /* out of something: mgmt_listen_resume comes soon */
				event_del(listener->event);
			return;
		}
		setsockopt(got, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		setsockopt(got, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
		http_server_add(listener->server, got, &from.any, length);
	}
}

int mgmt_listen_start(
	struct mgmt_listen *listener, struct event_base *base, struct http_server *server)
{
	listener->server = server;
	listener->event = event_new(base, listener->fd, EV_READ | EV_PERSIST, on_accept, listener);
	return listener->event && event_add(listener->event, NULL) == 0 ? 0 : -ENOMEM;
}

void mgmt_listen_resume(struct mgmt_listen *listener)
{
	event_add(listener->event, NULL);
}

void mgmt_listen_free(struct mgmt_listen *listener)
{
	if (!listener)
		return;
	if (listener->event)
		event_free(listener->event);
	close(listener->fd);
	free(listener);
}
