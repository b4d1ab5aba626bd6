/* SPDX-License-Identifier: BSD-3-Clause */
#include "main/control.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/event.h"
#include "lb/lb.h"
#include "port/tap.h"

#define WAKE_MS 250 /* longest sleep: links and missing taps are looked at now and then */
#define CHECK_NS 250000000u
#define EVENT_ROWS 256u
#define PACKETS_A_TURN 16 /* requests served before taps and events get their turn */

enum source { SOURCE_LISTENER, SOURCE_PEER, SOURCE_SIGNAL, SOURCE_WORKERS, SOURCE_TAPS };

static int watch(struct control *c, int fd, enum source source, uint32_t events)
{
	struct epoll_event e = {.events = events, .data.u32 = source};

	return epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

static int open_listener(struct control *c, const struct identity *owner)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	c->listener = fd;
	memcpy(addr.sun_path, c->path, sizeof(addr.sun_path));
	unlink(c->path); /* of a run that was killed */
	mode_t mask = umask(0177);
	int err = bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 ? -errno : 0;
	umask(mask);
	if (err)
		return err;
	if (owner->uid != geteuid() && chown(c->path, owner->uid, owner->gid) < 0)
		return -errno;
	return listen(fd, 4) < 0 ? -errno : 0;
}

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int control_init(struct control *c, struct dataplane *dp, const struct identity *owner)
{
	const char *dir = dp->options.run_dir;

	*c = (struct control){.dp = dp, .listener = -1};
	c->scans = (struct scans){.workers = dp->workers, .count = dp->count};
	peer_init(&c->peer);
	c->epoll = epoll_create1(EPOLL_CLOEXEC);
	c->signals = open_signals();
	int err = c->epoll < 0 || c->signals < 0 ? -errno : 0;
	if (err == 0 &&
		snprintf(c->path, sizeof(c->path), "%s/dp.sock", dir) >= (int)sizeof(c->path))
		err = -ENAMETOOLONG;
	if (err == 0)
		err = open_listener(c, owner);
	if (err == 0)
		err = watch(c, c->listener, SOURCE_LISTENER, EPOLLIN);
	if (err == 0)
		err = watch(c, c->signals, SOURCE_SIGNAL, EPOLLIN);
	if (err == 0)
		err = watch(c, dp->wake_fd, SOURCE_WORKERS, EPOLLIN);
	if (err == 0)
		err = watch(c, tap_poll_fd(), SOURCE_TAPS, EPOLLIN);
	if (err) {
		log_error("control socket %s/dp.sock: %s", dir, strerror(-err));
		control_fini(c);
	}
	return err;
}

void control_fini(struct control *c)
{
	peer_detach(&c->peer);
	if (c->listener >= 0) {
		close(c->listener);
		unlink(c->path);
	}
	if (c->signals >= 0)
		close(c->signals);
	if (c->epoll >= 0)
		close(c->epoll);
}

static void drop_peer(struct control *c, int err)
{
	log_debug("control socket: connection ended: %s", strerror(-err));
	peer_detach(&c->peer);
	scans_cancel(&c->scans);
}

/* EPOLLOUT only while something waits, EPOLLIN only while nothing does: a peer that does not read is not
 * listened to either. */
static void watch_peer(struct control *c)
{
	struct epoll_event e = {
		.events = peer_waiting(&c->peer) ? EPOLLOUT : EPOLLIN,
		.data.u32 = SOURCE_PEER,
	};

	if (c->peer.fd >= 0)
		epoll_ctl(c->epoll, EPOLL_CTL_MOD, c->peer.fd, &e);
}

static void accept_peer(struct control *c)
{
	int fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	scans_cancel(&c->scans);
	peer_attach(&c->peer, fd);
	int err = watch(c, fd, SOURCE_PEER, EPOLLIN);
	if (err == 0)
		err = request_hello(c);
	if (err)
		drop_peer(c, err);
}

static void serve_peer(struct control *c)
{
	static struct peer_packet packet; /* one control thread */
	int err = peer_flush(&c->peer);

	for (int i = 0; err == 0 && i < PACKETS_A_TURN && !peer_waiting(&c->peer); i++) {
		err = peer_receive(&c->peer, &packet);
		if (err <= 0)
			break;
		err = request_serve(c, &packet);
		if (packet.fd >= 0)
			close(packet.fd);
	}
	if (err < 0)
		drop_peer(c, err);
}

/* Rows that cannot be sent at once leave a gap in the numbers: weir-cp then reads the state itself. */
static void send_events(struct control *c, struct msg_events *m)
{
	size_t length = sizeof(*m) + m->count * sizeof(m->row[0]);

	m->header = (struct msg_header){MSG_EVENTS, (uint32_t)length, 0};
	m->first = c->event_number;
	c->event_number += m->count;
	if (peer_waiting(&c->peer) || c->peer.fd < 0) {
		c->event_gap = true;
		return;
	}
	c->event_gap = false;
	int err = peer_send(&c->peer, m, length, -1);
	if (err)
		drop_peer(c, err);
}

/* While the peer does not read, rows stay in their rings: those that still have to be told are kept. */
static void pass_events(struct control *c)
{
	static struct {
		struct msg_events m;
		struct event_row row[EVENT_ROWS];
	} message; /* one control thread */
	uint64_t lost;

	for (unsigned i = 0; i < c->dp->count; i++) {
		do {
			if (c->peer.fd >= 0 && peer_waiting(&c->peer))
				return;
			message.m.count = event_ring_take(
				c->dp->workers[i]->events, message.row, EVENT_ROWS, &lost);
			c->event_number += lost;
			c->event_gap |= lost > 0;
			if (message.m.count)
				send_events(c, &message.m);
		} while (message.m.count);
	}
	/* Lost rows with nothing behind them: an empty message shows the gap. */
	if (c->event_gap && c->peer.fd >= 0 && !peer_waiting(&c->peer)) {
		message.m.count = 0;
		send_events(c, &message.m);
	}
}

/* All ports at once: what is told last counts. Who connects anew learns them from MSG_HELLO. */
static void pass_links(struct control *c)
{
	static struct {
		struct msg_events m;
		struct event_row row[PORTS_MAX];
	} message; /* one control thread */

	if (!c->links_changed || c->peer.fd < 0 || peer_waiting(&c->peer))
		return;
	c->links_changed = false;
	message.m.count = port_count();
	for (unsigned i = 0; i < port_count(); i++)
		message.row[i] = (struct event_row){.type = EVENT_LINK,
			.object = i,
			.detail = port_at(i)->up,
			.time = clock_ns()};
	send_events(c, &message.m);
}

static void clear_wake(struct control *c)
{
	uint64_t count;

	if (read(c->dp->wake_fd, &count, sizeof(count)) < 0)
		return; /* nothing to clear */
}

/* True: more to do at once. */
static bool upkeep(struct control *c)
{
	const struct view *v = view_holder_get(c->dp->holder);
	uint64_t now = clock_ns();

	bool more = tap_service();
	pass_events(c);
	pass_links(c);
	int err = scans_run(&c->scans, &c->peer, v ? v->snap->generation : 0);
	if (err)
		drop_peer(c, err);
	watch_peer(c);
	if (now - c->checked >= CHECK_NS) {
		c->checked = now;
		c->links_changed |= port_link_refresh();
		tap_retry();
		if (v != NULL)
			lb_tick(v->lb, clock_second());
		request_refresh(c);
	}
	return more;
}

void control_run(struct control *c)
{
	struct epoll_event event[8];
	bool more = false;

	for (;;) {
		int n = epoll_wait(c->epoll, event, RTE_DIM(event), more ? 0 : WAKE_MS);
		for (int i = 0; i < n; i++) {
			switch (event[i].data.u32) {
			case SOURCE_SIGNAL:
				return;
			case SOURCE_LISTENER:
				accept_peer(c);
				break;
			case SOURCE_WORKERS:
				clear_wake(c);
				break;
			case SOURCE_PEER:
				if (c->peer.fd >= 0)
					serve_peer(c);
				break;
			}
		}
		more = upkeep(c);
	}
}
