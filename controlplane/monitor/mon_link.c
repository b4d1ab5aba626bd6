/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection to weir-cp: kept, lost, tried again; messages in and out (docs/monitor-protocol.md). */
#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "monitor/mon.h"

#define RETRY_MS 500
#define OUTPUT_MAX (128u << 20) /* bytes that may wait: who reads nothing is given up */
#define ROWS_MAX 500u		/* of statistics in a message */

struct mon_link {
	struct mon *mon;
	struct sockaddr_un address;
	uid_t started_as;
	struct bufferevent *bev; /* NULL: not connected */
	struct event *retry;
	bool told; /* that there is no connection */
};

static void link_drop(struct mon_link *l, const char *why)
{
	struct timeval wait = {.tv_usec = RETRY_MS * 1000};

	if (!l->told)
		log_notice("weir-cp: %s; probing goes on", why);
	l->told = true;
	if (l->bev)
		bufferevent_free(l->bev);
	l->bev = NULL;
	l->mon->syncing = false;
	event_add(l->retry, &wait);
}

/* --- out ---------------------------------------------------------------------------------------- */

static void frame_send(struct mon_link *l, const json_t *message)
{
	char *text = l->bev && message ? json_dumps(message, JSON_COMPACT) : NULL;

	if (!text)
		return;
	size_t length = strlen(text);
	uint32_t prefix = htonl((uint32_t)length);
	bufferevent_write(l->bev, &prefix, sizeof(prefix));
	bufferevent_write(l->bev, text, length);
	explicit_bzero(text, length);
	free(text);
}

void mon_link_send(struct mon *mon, json_t *message)
{
	struct mon_link *l = mon->link;

	if (l)
		frame_send(l, message);
	json_decref(message);
	if (l && l->bev && evbuffer_get_length(bufferevent_get_output(l->bev)) > OUTPUT_MAX)
		link_drop(l, "reads nothing");
}

static json_t *milliseconds(double ms)
{
	return ms < 0 ? json_null() : json_real((double)(int64_t)(ms * 1000) / 1000);
}

void mon_link_verdict(struct mon_instance *in)
{
	struct mon *mon = in->mon;

	if (!mon->link || !mon->link->bev || mon->syncing)
		return; /* sync-end sends all */
	mon_link_send(mon,
		json_pack("{s:s,s:I,s:I,s:s,s:s,s:o,s:I}", "type", MON_VERDICT, "object",
			(json_int_t)in->object, "monitor", (json_int_t)in->monitor->id, "verdict",
			mon_verdict_names[in->rule.verdict], "reason", in->reason ? in->reason : "",
			"response-ms", milliseconds(in->verdict_response_ms), "time",
			(json_int_t)in->verdict_time));
}

static void hello(struct mon_link *l)
{
	json_t *kinds = json_array();

	for (const struct mon_type *const *t = mon_types; *t; t++)
		json_array_append_new(kinds, json_string((*t)->name));
	mon_link_send(l->mon, json_pack("{s:s,s:i,s:o,s:i}", "type", MON_HELLO, "version",
				      MON_PROTOCOL_VERSION, "kinds", kinds, "pid", (int)getpid()));
}

static void refuse(struct mon_link *l, const json_t *message, const struct mon_fault *fault)
{
	static const char *const names[] = {"id", "object", "monitor"};
	json_t *answer = json_pack("{s:s,s:s,s:s}", "type", MON_REFUSED, "field", fault->field,
		"reason", fault->reason);

	json_object_set(answer, "message", json_object_get(message, "type"));
	for (int i = 0; i < 3; i++)
		json_object_set(answer, names[i], json_object_get(message, names[i]));
	const char *type = json_string_value(json_object_get(message, "type"));
	log_warning("%s: refused: %s: %s", type ? type : "message", fault->field, fault->reason);
	mon_link_send(l->mon, answer);
}

/* --- statistics --------------------------------------------------------------------------------- */

struct stats {
	struct mon_link *link;
	json_t *request, *rows;
	uint32_t object, monitor; /* 0: all */
	unsigned count;
	uint64_t now;
};

static void rows_flush(struct stats *s)
{
	if (!json_array_size(s->rows))
		return;
	mon_link_send(s->link->mon, json_pack("{s:s,s:O,s:O}", "type", MON_STATS, "request",
					    s->request, "rows", s->rows));
	json_array_clear(s->rows);
}

static void stats_row(struct mon_instance *in, void *ctx)
{
	struct stats *s = ctx;
	uint64_t next = in->due_ms > s->now ? in->due_ms - s->now : 0;

	if ((s->object && in->object != s->object) || (s->monitor && in->monitor->id != s->monitor))
		return;
	json_t *row = json_pack("{s:I,s:I,s:s,s:I,s:I,s:I,s:I,s:s,s:I,s:o,s:I}", "object",
		(json_int_t)in->object, "monitor", (json_int_t)in->monitor->id, "verdict",
		mon_verdict_names[in->rule.verdict], "since", (json_int_t)in->verdict_time,
		"probes", (json_int_t)in->probes_count, "successes", (json_int_t)in->good_count,
		"failures", (json_int_t)in->bad_count, "last-error",
		in->last_error ? in->last_error : "", "last-error-time", (json_int_t)in->error_time,
		"last-response-ms", milliseconds(in->response_ms), "next-probe-ms",
		(json_int_t)next);
	if (row && json_array_append_new(s->rows, row) == 0)
		s->count++;
	if (json_array_size(s->rows) >= ROWS_MAX)
		rows_flush(s);
}

static int stats_send(struct mon_link *l, const json_t *message, struct mon_fault *fault)
{
	uint64_t object, monitor;

	if (!mon_read_number(message, "object", 1, UINT32_MAX, 0, &object, fault) ||
		!mon_read_number(message, "monitor", 1, UINT32_MAX, 0, &monitor, fault))
		return -EINVAL;
	json_t *request = json_object_get(message, "request");
	struct stats s = {.link = l,
		.request = request ? json_incref(request) : json_null(),
		.rows = json_array(),
		.object = (uint32_t)object,
		.monitor = (uint32_t)monitor,
		.now = mon_now_ms()};
	mon_each_instance(l->mon, stats_row, &s);
	rows_flush(&s);
	mon_link_send(l->mon, json_pack("{s:s,s:o,s:i}", "type", MON_STATS_END, "request",
				      s.request, "count", (int)s.count));
	json_decref(s.rows);
	return 0;
}

/* --- in ----------------------------------------------------------------------------------------- */

static int on_sync_begin(struct mon_link *l, const json_t *message, struct mon_fault *fault)
{
	mon_sync_begin(l->mon);
	return 0;
}

static void state_send(struct mon_instance *in, void *ctx)
{
	mon_link_verdict(in);
	if (in->advice)
		mon_link_send(in->mon, json_incref(in->advice));
}

static int on_sync_end(struct mon_link *l, const json_t *message, struct mon_fault *fault)
{
	if (!l->mon->syncing)
		return mon_fault(fault, "type", "there was no sync-begin");
	mon_sync_end(l->mon);
	mon_each_instance(l->mon, state_send, NULL);
	return 0;
}

static int on_monitor(struct mon_link *l, const json_t *message, struct mon_fault *fault)
{
	return mon_monitor_define(l->mon, message, fault);
}

static int on_monitor_delete(struct mon_link *l, const json_t *message, struct mon_fault *fault)
{
	uint64_t id;

	if (!mon_read_number(message, "id", 1, UINT32_MAX, 0, &id, fault))
		return -EINVAL;
	struct mon_monitor *m = mon_monitor_get(l->mon, (uint32_t)id);
	if (!m)
		return mon_fault(fault, "id", "there is no such monitor");
	mon_monitor_delete(l->mon, m);
	return 0;
}

static int on_instance(struct mon_link *l, const json_t *message, struct mon_fault *fault)
{
	return mon_instance_define(l->mon, message, fault);
}

static struct mon_instance *instance_named(
	struct mon_link *l, const json_t *message, struct mon_fault *fault)
{
	uint64_t object, monitor;

	if (!mon_read_number(message, "object", 1, UINT32_MAX, 0, &object, fault) ||
		!mon_read_number(message, "monitor", 1, UINT32_MAX, 0, &monitor, fault))
		return NULL;
	struct mon_instance *in = mon_instance_get(l->mon, (uint32_t)object, (uint32_t)monitor);
	if (!in)
		mon_fault(fault, "object", "there is no such instance");
	return in;
}

static int on_instance_delete(struct mon_link *l, const json_t *message, struct mon_fault *fault)
{
	struct mon_instance *in = instance_named(l, message, fault);

	if (!in)
		return -EINVAL;
	mon_instance_delete(in);
	return 0;
}

static int on_path(struct mon_link *l, const json_t *message, struct mon_fault *fault)
{
	const json_t *open = json_object_get(message, "open");

	if (!json_is_boolean(open))
		return mon_fault(fault, "open", "must be true or false");
	mon_path_set(l->mon, json_is_true(open));
	return 0;
}

static int on_probe_now(struct mon_link *l, const json_t *message, struct mon_fault *fault)
{
	struct mon_instance *in = instance_named(l, message, fault);

	if (!in)
		return -EINVAL;
	mon_instance_probe_now(in);
	return 0;
}

static void message_handle(struct mon_link *l, const json_t *message)
{
	static const struct {
		const char *type;
		int (*handle)(struct mon_link *, const json_t *, struct mon_fault *);
	} known[] = {{MON_SYNC_BEGIN, on_sync_begin}, {MON_SYNC_END, on_sync_end},
		{MON_MONITOR, on_monitor}, {MON_MONITOR_DELETE, on_monitor_delete},
		{MON_INSTANCE, on_instance}, {MON_INSTANCE_DELETE, on_instance_delete},
		{MON_PROBE_NOW, on_probe_now}, {MON_PATH, on_path}, {MON_STATS, stats_send}};
	const char *type = json_string_value(json_object_get(message, "type"));
	struct mon_fault fault = {.field = "type", .reason = "there is no such message"};
	int rc = -EINVAL;

	for (size_t i = 0; type && i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(type, known[i].type))
			rc = known[i].handle(l, message, &fault);
	if (rc)
		refuse(l, message, &fault);
}

/* A whole frame: 1 handled, 0 not there yet, -EPROTO. */
static int frame_read(struct mon_link *l, struct evbuffer *in)
{
	uint32_t length;

	if (evbuffer_copyout(in, &length, sizeof(length)) < (ssize_t)sizeof(length))
		return 0;
	length = ntohl(length);
	if (length > MON_FRAME_MAX)
		return -EPROTO;
	if (evbuffer_get_length(in) < sizeof(length) + length)
		return 0;
	evbuffer_drain(in, sizeof(length));
	const char *text = (const char *)evbuffer_pullup(in, length);
	json_t *message = json_loadb(text ? text : "", length, JSON_REJECT_DUPLICATES, NULL);
	evbuffer_drain(in, length);
	bool object = json_is_object(message);
	if (object)
		message_handle(l, message);
	json_decref(message);
	return object ? 1 : -EPROTO;
}

static void on_read(struct bufferevent *bev, void *ctx)
{
	struct mon_link *l = ctx;
	int rc;

	/* An answer may have been one too many, and the connection be gone. */
	do
		rc = frame_read(l, bufferevent_get_input(bev));
	while (rc > 0 && l->bev == bev);
	if (rc < 0 && l->bev == bev)
		link_drop(l, "sent what is no message");
}

static void on_event(struct bufferevent *bev, short what, void *ctx)
{
	link_drop(ctx, "connection lost");
}

/* --- the connection ----------------------------------------------------------------------------- */

static bool peer_trusted(const struct mon_link *l, int fd)
{
	struct ucred peer;
	socklen_t length = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
	       (peer.uid == 0 || peer.uid == geteuid() || peer.uid == l->started_as);
}

static void link_try(struct mon_link *l)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const char *why = NULL;

	if (fd < 0 || connect(fd, (struct sockaddr *)&l->address, sizeof(l->address)))
		why = strerror(errno);
	else if (!peer_trusted(l, fd))
		why = "another user listens on its socket";
	if (!why) {
		l->bev = bufferevent_socket_new(l->mon->base, fd, BEV_OPT_CLOSE_ON_FREE);
		why = l->bev ? NULL : "no memory";
	}
	if (why) {
		if (fd >= 0)
			close(fd);
		link_drop(l, why);
		return;
	}
	log_notice("weir-cp: connected");
	l->told = false;
	bufferevent_setcb(l->bev, on_read, NULL, on_event, l);
	bufferevent_enable(l->bev, EV_READ | EV_WRITE);
	hello(l);
}

static void on_retry(evutil_socket_t fd, short what, void *ctx)
{
	link_try(ctx);
}

struct mon_link *mon_link_new(struct mon *mon, const char *path, uid_t started_as)
{
	struct mon_link *l = calloc(1, sizeof(*l));

	if (!l || strlen(path) >= sizeof(l->address.sun_path)) {
		free(l);
		return NULL;
	}
	l->mon = mon;
	l->started_as = started_as;
	l->address.sun_family = AF_UNIX;
	strcpy(l->address.sun_path, path);
	l->retry = evtimer_new(mon->base, on_retry, l);
	if (!l->retry) {
		free(l);
		return NULL;
	}
	mon->link = l;
	link_try(l);
	return l;
}

void mon_link_free(struct mon_link *l)
{
	if (!l)
		return;
	if (l->bev)
		bufferevent_free(l->bev);
	event_free(l->retry);
	l->mon->link = NULL;
	free(l);
}
