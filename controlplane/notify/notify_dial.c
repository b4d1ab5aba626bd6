/* SPDX-License-Identifier: BSD-3-Clause */
#include "notify/notify_dial.h"

#include <errno.h>
#include <event2/dns.h>
#include <event2/util.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct notify_dial {
	struct event *numeric; /* the address is known, or the fault: next turn */
	struct evdns_getaddrinfo_request *asked;
	struct evutil_addrinfo *address;
	char local[64];
	char fault[128]; /* why there is no address */
	int type;
	notify_dialled dialled;
	void *ctx;
};

static struct evdns_base *resolver;

void notify_dial_fini(void)
{
	if (resolver)
		evdns_base_free(resolver, 0);
	resolver = NULL;
}

void notify_dial_stop(struct notify_dial *d)
{
	if (!d)
		return;
	if (d->numeric)
		event_free(d->numeric);
	if (d->address)
		evutil_freeaddrinfo(d->address);
	/* Its answer, that it was taken back, frees the rest. */
	if (d->asked) {
		d->dialled = NULL;
		evdns_getaddrinfo_cancel(d->asked);
		return;
	}
	free(d);
}

/* 0 or -errno. */
static int bind_local(int fd, const char *local)
{
	struct sockaddr_storage address;
	int length = sizeof(address);

	if (!*local)
		return 0;
	if (evutil_parse_sockaddr_port(local, (struct sockaddr *)&address, &length))
		return -EINVAL;
	return bind(fd, (struct sockaddr *)&address, (socklen_t)length) ? -errno : 0;
}

static int dial_open(const struct notify_dial *d, const struct evutil_addrinfo *a)
{
	int fd = socket(a->ai_family, d->type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int rc = fd < 0 ? -errno : bind_local(fd, d->local);

	if (rc == 0 && connect(fd, a->ai_addr, a->ai_addrlen) && errno != EINPROGRESS)
		rc = -errno;
	if (rc && fd >= 0)
		close(fd);
	return rc ? rc : fd;
}

/* Ends d. */
static void dial_end(struct notify_dial *d, const char *fault)
{
	char reason[160];
	int fd = fault ? -1 : -EADDRNOTAVAIL;
	notify_dialled dialled = d->dialled;
	void *ctx = d->ctx;

	for (const struct evutil_addrinfo *a = d->address; !fault && a && fd < 0; a = a->ai_next)
		fd = dial_open(d, a);
	snprintf(reason, sizeof(reason), "%s", fault ? fault : fd < 0 ? strerror(-fd) : "");
	notify_dial_stop(d);
	if (dialled)
		dialled(ctx, fd < 0 ? -1 : fd, reason);
	else if (fd >= 0)
		close(fd);
}

static void on_numeric(evutil_socket_t fd, short what, void *ctx)
{
	struct notify_dial *d = ctx;

	dial_end(d, d->fault[0] ? d->fault : NULL);
}

static void on_resolved(int error, struct evutil_addrinfo *address, void *ctx)
{
	struct notify_dial *d = ctx;

	d->asked = NULL;
	if (!d->dialled) {
		if (address)
			evutil_freeaddrinfo(address);
		free(d);
		return;
	}
	d->address = address;
	if (error)
		snprintf(d->fault, sizeof(d->fault), "its name: %s", evutil_gai_strerror(error));
	/* The library may answer while it is asked: who dials does not have d yet. */
	event_active(d->numeric, EV_TIMEOUT, 0);
}

struct notify_dial *notify_dial(struct event_base *base, const char *host, uint16_t port,
	const char *local, int type, notify_dialled dialled, void *ctx)
{
	struct evutil_addrinfo hints = {
		.ai_family = AF_UNSPEC, .ai_socktype = type, .ai_flags = EVUTIL_AI_NUMERICHOST};
	struct notify_dial *d = calloc(1, sizeof(*d));
	char service[8];

	if (!d)
		return NULL;
	d->type = type;
	d->dialled = dialled;
	d->ctx = ctx;
	snprintf(d->local, sizeof(d->local), "%s", local ? local : "");
	snprintf(service, sizeof(service), "%u", port);
	d->numeric = event_new(base, -1, 0, on_numeric, d);
	if (!d->numeric) {
		free(d);
		return NULL;
	}
	if (evutil_getaddrinfo(host, service, &hints, &d->address) == 0) {
		event_active(d->numeric, EV_TIMEOUT, 0);
		return d;
	}
	if (!resolver)
		resolver = evdns_base_new(
			base, EVDNS_BASE_INITIALIZE_NAMESERVERS | EVDNS_BASE_DISABLE_WHEN_INACTIVE);
	hints.ai_flags = 0;
	if (resolver)
		d->asked = evdns_getaddrinfo(resolver, host, service, &hints, on_resolved, d);
	else
		event_active(d->numeric, EV_TIMEOUT, 0);
	return d;
}
