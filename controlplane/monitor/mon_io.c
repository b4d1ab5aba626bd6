/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "monitor/mon.h"

#define BATCH 256 /* then timers and weir-cp have their turn; the rest is still ready */

struct mon_io {
	int fd;
	struct event *readable;
	bool draining;
	TAILQ_HEAD(, mon_probe) dead;
};

static void dead_free(struct mon_io *io)
{
	struct mon_probe *p;

	while ((p = TAILQ_FIRST(&io->dead))) {
		TAILQ_REMOVE(&io->dead, p, entry);
		free(p);
	}
}

static void on_readable(evutil_socket_t fd, short what, void *ctx)
{
	struct epoll_event events[BATCH];
	struct mon_io *io = ctx;
	int n = epoll_wait(io->fd, events, BATCH, 0);

	io->draining = true;
	for (int i = 0; i < n; i++) {
		struct mon_probe *p = events[i].data.ptr;

		if (!p->dead)
			mon_stream_ready(p);
	}
	io->draining = false;
	dead_free(io);
}

struct mon_io *mon_io_new(struct event_base *base)
{
	struct mon_io *io = calloc(1, sizeof(*io));

	if (!io)
		return NULL;
	TAILQ_INIT(&io->dead);
	io->fd = epoll_create1(EPOLL_CLOEXEC);
	io->readable =
		io->fd < 0 ? NULL : event_new(base, io->fd, EV_READ | EV_PERSIST, on_readable, io);
	if (!io->readable || event_add(io->readable, NULL)) {
		mon_io_free(io);
		return NULL;
	}
	return io;
}

void mon_io_free(struct mon_io *io)
{
	if (!io)
		return;
	dead_free(io);
	if (io->readable)
		event_free(io->readable);
	if (io->fd >= 0)
		close(io->fd);
	free(io);
}

static int control(struct mon_io *io, int operation, struct mon_probe *p)
{
	struct epoll_event event = {
		.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = p};

	return epoll_ctl(io->fd, operation, p->fd, &event) ? -errno : 0;
}

int mon_io_add(struct mon_io *io, struct mon_probe *p)
{
	return control(io, EPOLL_CTL_ADD, p);
}

void mon_io_again(struct mon_io *io, struct mon_probe *p)
{
	control(io, EPOLL_CTL_MOD, p);
}

void mon_io_bury(struct mon_io *io, struct mon_probe *p)
{
	p->dead = true;
	if (io->draining)
		TAILQ_INSERT_TAIL(&io->dead, p, entry);
	else
		free(p);
}
