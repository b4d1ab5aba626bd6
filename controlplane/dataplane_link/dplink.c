/* SPDX-License-Identifier: BSD-3-Clause */
#include "dataplane_link/dplink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "dataplane_link/dplink_internal.h"

#define TURN_MESSAGES 64 /* taken from the socket before others get their turn */

/* --- down ----------------------------------------------------------------------------------------- */

static void query_done(struct dplink_query *q, int status, const struct msg_result *result)
{
	if (q->ops)
		q->ops->done(q->ctx, status, result);
	free(q);
}

static void queries_drop(struct dplink_queries *queries)
{
	struct dplink_query *q;

	while ((q = TAILQ_FIRST(queries))) {
		TAILQ_REMOVE(queries, q, entry);
		query_done(q, -ENOTCONN, NULL);
	}
}

static void link_close(struct dplink *l)
{
	bool was_ready = l->ready;

	if (l->fd < 0)
		return;
	event_del(l->read);
	event_del(l->write);
	close(l->fd);
	l->fd = -1;
	l->ready = l->broken = false;
	counters_unmap(&l->counters);
	memset(&l->counters, 0, sizeof(l->counters));
	l->next_event = 0;
	l->events_lost = 0;
	queries_drop(&l->unanswered);
	queries_drop(&l->unsent);
	dplink_sync_lost(l);
	if (was_ready) {
		log_warning("dataplane: connection: lost");
		l->ops->lost(l->ctx);
	}
}

static void link_break(struct dplink *l, const char *why)
{
	if (!l->broken && !l->complained)
		log_warning("dataplane: connection: given up: %s", why);
	l->broken = l->complained = true;
	event_active(l->work, EV_TIMEOUT, 0);
}

/* --- out ------------------------------------------------------------------------------------------ */

int dplink_send(struct dplink *l, struct msg_header *message, int fd, struct dplink_query *q)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec io = {message, message->length};
	struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1};

	message->seq = q->seq = ++l->seq;
	q->type = message->type;
	q->sent_ns = clock_ns();
	if (fd >= 0) {
		m.msg_control = control.space;
		m.msg_controllen = sizeof(control.space);
		control.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)),
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	}
	if (sendmsg(l->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		if (errno == EAGAIN || errno == EINTR) {
			event_add(l->write, NULL);
			return -EAGAIN;
		}
		int rc = -errno;
		link_break(l, strerror(errno));
		return rc;
	}
	TAILQ_INSERT_TAIL(&l->unanswered, q, entry);
	return 0;
}

void dplink_pump(struct dplink *l)
{
	struct dplink_query *q;

	if (!l->ready || l->broken || dplink_sync_pump(l))
		return;
	while ((q = TAILQ_FIRST(&l->unsent))) {
		TAILQ_REMOVE(&l->unsent, q, entry);
		if (dplink_send(l, q->message, -1, q)) {
			TAILQ_INSERT_HEAD(&l->unsent, q, entry);
			return;
		}
	}
}

struct dplink_query *dplink_query(struct dplink *l, const struct msg_header *request,
	const struct dplink_query_ops *ops, void *ctx)
{
	struct dplink_query *q;

	if (!l->ready || l->broken) {
		errno = ENOTCONN;
		return NULL;
	}
	q = calloc(1, sizeof(*q) + request->length);
	if (!q)
		return NULL;
	q->ops = ops;
	q->ctx = ctx;
	memcpy(q->message, request, request->length);
	TAILQ_INSERT_TAIL(&l->unsent, q, entry);
	dplink_pump(l);
	return q;
}

void dplink_query_cancel(struct dplink_query *q)
{
	q->ops = NULL;
}

/* --- in ------------------------------------------------------------------------------------------- */

static struct dplink_query *query_find(struct dplink *l, uint64_t seq)
{
	struct dplink_query *q;

	TAILQ_FOREACH(q, &l->unanswered, entry)
	if (q->seq == seq)
		return q;
	return NULL;
}

/* Whether the message has the length that its kind and count ask for. */
static bool message_is_whole(const struct msg_header *m, size_t length)
{
	const struct msg_scan_rows *scan = (const void *)m;
	const struct msg_neighbour_rows *neighbours = (const void *)m;
	const struct msg_events *events = (const void *)m;

	if (length < sizeof(*m) || m->length != length)
		return false;
	switch (m->type) {
	case MSG_HELLO:
		return length == sizeof(struct msg_hello);
	case MSG_RESULT:
		return length == sizeof(struct msg_result);
	case MSG_MEMORY_INFO:
		return length == sizeof(struct msg_memory_info);
	case MSG_SCAN_ROWS:
		return length >= sizeof(*scan) &&
		       length == sizeof(*scan) + (size_t)scan->count * sizeof(scan->row[0]);
	case MSG_NEIGHBOUR_ROWS:
		return length >= sizeof(*neighbours) &&
		       length == sizeof(*neighbours) +
					 (size_t)neighbours->count * sizeof(neighbours->row[0]);
	case MSG_EVENTS:
		return length >= sizeof(*events) &&
		       length == sizeof(*events) + (size_t)events->count * sizeof(events->row[0]);
	default:
		return false;
	}
}

static void hello_take(struct dplink *l, const struct msg_hello *hello, int fd)
{
	if (l->ready || hello->version != MSG_VERSION || hello->ports > MSG_PORTS_MAX) {
		link_break(l, "its greeting is of another version");
		return;
	}
	int rc = counters_map(fd, &l->counters);
	if (rc) {
		link_break(l, "its counters cannot be read");
		return;
	}
	l->hello = *hello;
	l->ready = true;
	l->complained = false;
	log_notice("dataplane: connected: %u workers, generation %llu in force", hello->workers,
		(unsigned long long)hello->generation);
	l->ops->connected(l->ctx, hello);
	dplink_pump(l);
}

/* Keeps the greeting's port states true. */
static void port_take(struct dplink *l, const struct event_row *row)
{
	if (row->object >= l->hello.ports)
		return;
	struct msg_port *port = &l->hello.port[row->object];
	if (port->up == (row->detail != 0))
		return;
	port->up = row->detail != 0;
	log_notice("dataplane: port %.*s: link is %s", (int)sizeof(port->name), port->name,
		port->up ? "up" : "down");
}

static void events_take(struct dplink *l, const struct msg_events *m)
{
	if (l->next_event && m->first > l->next_event)
		l->events_lost += m->first - l->next_event;
	for (uint32_t i = 0; i < m->count; i++) {
		if (m->row[i].type == EVENT_LINK) {
			port_take(l, &m->row[i]);
			continue;
		}
		l->ops->event(l->ctx, &m->row[i], l->events_lost);
		l->events_lost = 0;
	}
	l->next_event = m->first + m->count;
}

static void result_take(struct dplink *l, struct dplink_query *q, struct msg_result *result)
{
	result->reason[sizeof(result->reason) - 1] = 0;
	TAILQ_REMOVE(&l->unanswered, q, entry);
	dplink_sync_result(l, q, result);
	query_done(q, result->status, result);
	dplink_pump(l);
}

static void message_take(struct dplink *l, struct msg_header *m, size_t length, int fd)
{
	struct dplink_query *q;

	if (!message_is_whole(m, length)) {
		link_break(l, "it sent a message of wrong length");
		return;
	}
	if (m->type == MSG_HELLO) {
		hello_take(l, (struct msg_hello *)m, fd);
		return;
	}
	if (!l->ready) {
		link_break(l, "it did not greet");
		return;
	}
	if (m->type == MSG_EVENTS) {
		events_take(l, (struct msg_events *)m);
		return;
	}
	q = query_find(l, m->seq);
	if (!q)
		link_break(l, "it answered what nobody asked");
	else if (m->type == MSG_RESULT)
		result_take(l, q, (struct msg_result *)m);
	else if (q->ops)
		q->ops->rows(q->ctx, m);
}

/* One message. False: nothing there, or the connection is over. */
static bool message_receive(struct dplink *l)
{
	static union {
		struct msg_header head;
		char bytes[MSG_LENGTH_MAX];
	} message;
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec io = {&message, sizeof(message)};
	struct msghdr m = {.msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = control.space,
		.msg_controllen = sizeof(control.space)};
	int fd = -1;

	ssize_t n = recvmsg(l->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		/* Not worth a line of its own: link_close says that it is lost. */
		l->broken = true;
		event_active(l->work, EV_TIMEOUT, 0);
		return false;
	}
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
		c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	message_take(l, &message.head, (size_t)n, fd);
	if (fd >= 0)
		close(fd);
	return !l->broken;
}

static void on_readable(evutil_socket_t fd, short what, void *ctx)
{
	struct dplink *l = ctx;

	for (int i = 0; i < TURN_MESSAGES && message_receive(l); i++)
		;
}

static void on_writable(evutil_socket_t fd, short what, void *ctx)
{
	dplink_pump(ctx);
}

/* --- up ------------------------------------------------------------------------------------------- */

static void link_connect(struct dplink *l)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return;
	strncpy(addr.sun_path, l->path, sizeof(addr.sun_path) - 1);
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		close(fd);
		return;
	}
	l->fd = fd;
	l->connected_ns = clock_ns();
	event_assign(l->read, l->base, fd, EV_READ | EV_PERSIST, on_readable, l);
	event_assign(l->write, l->base, fd, EV_WRITE, on_writable, l);
	event_add(l->read, NULL);
}

/* A dataplane that accepts and then says nothing is as good as none. */
static void check_silence(struct dplink *l, uint64_t now)
{
	const struct dplink_query *q = TAILQ_FIRST(&l->unanswered);
	uint64_t since = !l->ready ? l->connected_ns : q ? q->sent_ns : now;

	if (now - since > DPLINK_SILENCE_SECONDS * 1000000000ull)
		link_break(l, "it does not answer");
}

static void on_timer(evutil_socket_t fd, short what, void *ctx)
{
	struct dplink *l = ctx;
	uint64_t now = clock_ns();

	dplink_sync_expire(l, now);
	if (l->fd >= 0)
		check_silence(l, now);
	else
		link_connect(l);
}

static void on_work(evutil_socket_t fd, short what, void *ctx)
{
	struct dplink *l = ctx;

	if (l->broken)
		link_close(l);
	else
		dplink_pump(l);
}

struct dplink *dplink_new(
	struct event_base *base, const char *path, const struct dplink_ops *ops, void *ctx)
{
	struct timeval period = {.tv_usec = DPLINK_RETRY_MS * 1000};
	struct dplink *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	*l = (struct dplink){.base = base, .ops = ops, .ctx = ctx, .fd = -1, .path = strdup(path)};
	TAILQ_INIT(&l->unsent);
	TAILQ_INIT(&l->unanswered);
	l->read = event_new(base, -1, 0, on_readable, l);
	l->write = event_new(base, -1, 0, on_writable, l);
	l->work = event_new(base, -1, 0, on_work, l);
	l->timer = event_new(base, -1, EV_PERSIST, on_timer, l);
	if (dplink_sync_init(&l->sync) || !l->path || !l->read || !l->write || !l->work ||
		!l->timer || event_add(l->timer, &period)) {
		dplink_free(l);
		return NULL;
	}
	link_connect(l);
	return l;
}

void dplink_free(struct dplink *l)
{
	if (!l)
		return;
	link_close(l);
	struct event *events[] = {l->read, l->write, l->work, l->timer};
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		if (events[i])
			event_free(events[i]);
	dplink_sync_fini(&l->sync);
	free(l->path);
	free(l);
}

const struct msg_hello *dplink_hello(const struct dplink *l)
{
	return l->ready && !l->broken ? &l->hello : NULL;
}

const struct counters *dplink_counters(const struct dplink *l)
{
	return l->ready && !l->broken ? &l->counters : NULL;
}
