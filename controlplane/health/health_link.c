/* SPDX-License-Identifier: BSD-3-Clause */
/* weir-cp's side of mon.sock: who may connect, frames, and keeping weir-mon equal to our table. */
#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "health/health_internal.h"
#include "kernel/kernel.h"

#define OUTPUT_MAX (64u << 20)	 /* bytes that may wait beside a sync */
#define OUTPUT_PART (256u << 10) /* of a sync at a time */
#define SILENCE_SECONDS 5	 /* a peer that takes nothing for so long is given up */

enum link_state {
	LINK_NONE,
	LINK_GREETING, /* connected, has not said hello */
	LINK_SYNCING,  /* objects below next are told */
	LINK_READY,
};

struct health_link {
	struct health *h;
	struct evconnlistener *listener;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	uid_t mon_uid;
	struct bufferevent *bev; /* NULL: nobody is connected */
	enum link_state state;
	uint32_t next; /* slot of the next object to be told */
	json_t *kinds; /* of hello */
};

bool health_link_connected(const struct health_link *l)
{
	return l->state == LINK_READY;
}

static void link_drop(struct health_link *l, const char *why)
{
	bool was_ready = l->state == LINK_READY;

	if (!l->bev)
		return;
	log_notice("weir-mon: %s", why);
	/* libevent closes at its next turn; the peer shall know now. */
	shutdown(bufferevent_getfd(l->bev), SHUT_RDWR);
	bufferevent_free(l->bev);
	l->bev = NULL;
	l->state = LINK_NONE;
	json_decref(l->kinds);
	l->kinds = NULL;
	health_stats_lost(l->h);
	if (was_ready)
		l->h->ops.connected(l->h->ctx, false);
}

/* --- out ------------------------------------------------------------------------------------------ */

static size_t waiting(const struct health_link *l)
{
	return evbuffer_get_length(bufferevent_get_output(l->bev));
}

void health_link_send(struct health_link *l, json_t *message)
{
	char *text = message && l->bev ? json_dumps(message, JSON_COMPACT) : NULL;
	size_t length = text ? strlen(text) : 0;
	uint32_t prefix = htonl((uint32_t)length);

	json_decref(message);
	if (!text)
		return;
	bufferevent_write(l->bev, &prefix, sizeof(prefix));
	bufferevent_write(l->bev, text, length);
	explicit_bzero(text, length);
	free(text);
}

/* Whether weir-mon knows the object already, so that a change of it must be told. */
static bool is_told(const struct health_link *l, uint32_t object)
{
	return l &&
	       (l->state == LINK_READY || (l->state == LINK_SYNCING && id_slot(object) < l->next));
}

static bool can_probe(const struct health_link *l, const struct health_monitor *m)
{
	const char *kind = json_string_value(json_object_get(m->message, "kind")), *known;
	size_t i;
	json_t *value;

	json_array_foreach(l->kinds, i, value)
	{
		known = json_string_value(value);
		if (kind && known && !strcmp(kind, known))
			return true;
	}
	return false;
}

/* Why it is not probed, or NULL: what is shown of its servers says so. */
void health_link_refuse(struct health *h, struct health_monitor *m, const char *why)
{
	struct health_inst *in;

	if (!m->refused && !why)
		return;
	free(m->fault);
	m->fault = why ? strdup(why) : NULL;
	m->refused = why != NULL;
	LIST_FOREACH(in, &m->instances, of_monitor)
	health_judge(h, in->object);
}

void health_link_monitor(struct health_link *l, struct health_monitor *m)
{
	if (!l || l->state < LINK_SYNCING || !m->active || !m->message)
		return;
	health_link_refuse(
		l->h, m, can_probe(l, m) ? NULL : "this weir-mon has no such type of monitor");
	if (!m->refused)
		health_link_send(l, json_incref(m->message));
}

void health_link_monitor_gone(struct health_link *l, uint32_t id)
{
	struct health_monitor *m = l ? health_monitor_get(l->h, id) : NULL;

	if (m && l->state >= LINK_SYNCING && m->message && !m->refused)
		health_link_send(l,
			json_pack("{s:s,s:I}", "type", MON_MONITOR_DELETE, "id", (json_int_t)id));
}

static json_t *last_of(const struct health_inst *in)
{
	if (in->said == MON_CHECKING)
		return NULL;
	return json_pack("{s:s,s:s,s:I}", "verdict", mon_verdict_names[in->said], "reason",
		in->reason ? in->reason : "", "time", (json_int_t)in->since);
}

static json_t *instance_message(const struct health_inst *in)
{
	static const struct ip_addr none;
	const struct health_monitor *m = in->monitor;
	char address[IP_ADDR_TEXT];
	json_t *message = json_pack("{s:s,s:I,s:I,s:s,s:i,s:o*}", "type", MON_INSTANCE, "object",
		(json_int_t)in->object->id, "monitor", (json_int_t)m->id, "address",
		ip_format(&in->object->address, address), "port", (int)in->object->port, "last",
		last_of(in));

	if (message && !ip_equal(&m->to_address, &none))
		json_object_set_new(
			message, "to-address", json_string(ip_format(&m->to_address, address)));
	if (message && m->to_port)
		json_object_set_new(message, "to-port", json_integer(m->to_port));
	if (message && kernel_mark_of(&in->through))
		json_object_set_new(message, "mark", json_integer(kernel_mark_of(&in->through)));
	return message;
}

static bool is_probed(const struct health_inst *in)
{
	return in->monitor->message && !in->monitor->refused;
}

void health_link_instance(struct health_link *l, const struct health_inst *in)
{
	if (is_told(l, in->object->id) && is_probed(in))
		health_link_send(l, instance_message(in));
}

void health_link_instance_gone(struct health_link *l, const struct health_inst *in)
{
	if (is_told(l, in->object->id) && is_probed(in))
		health_link_send(l, json_pack("{s:s,s:I,s:I}", "type", MON_INSTANCE_DELETE,
					    "object", (json_int_t)in->object->id, "monitor",
					    (json_int_t)in->monitor->id));
}

/* --- everything, in parts ------------------------------------------------------------------------- */

static void sync_objects(struct health_link *l)
{
	struct health *h = l->h;

	while (l->next < h->objects && waiting(l) < OUTPUT_PART) {
		const struct health_object *o = h->object[l->next++];

		for (const struct health_inst *in = o ? o->instances : NULL; in; in = in->next)
			if (is_probed(in))
				health_link_send(l, instance_message(in));
	}
	if (l->next < h->objects)
		return;
	health_link_send(l, json_pack("{s:s}", "type", MON_SYNC_END));
	bufferevent_setwatermark(l->bev, EV_WRITE, 0, 0);
	l->state = LINK_READY;
	h->ops.connected(h->ctx, true);
}

void health_link_path(struct health_link *l)
{
	if (l && l->state >= LINK_SYNCING)
		health_link_send(
			l, json_pack("{s:s,s:b}", "type", MON_PATH, "open", l->h->path_open));
}

static void sync_begin(struct health_link *l)
{
	struct health *h = l->h;

	l->state = LINK_SYNCING;
	l->next = 0;
	health_link_path(l);
	health_link_send(l, json_pack("{s:s}", "type", MON_SYNC_BEGIN));
	for (uint32_t i = 0; i < h->monitors; i++)
		if (h->monitor[i])
			health_link_monitor(l, h->monitor[i]);
	bufferevent_setwatermark(l->bev, EV_WRITE, OUTPUT_PART / 2, 0);
	sync_objects(l);
}

static void on_write(struct bufferevent *bev, void *ctx)
{
	struct health_link *l = ctx;

	if (l->state == LINK_SYNCING)
		sync_objects(l);
}

/* --- in ------------------------------------------------------------------------------------------- */

static const char *hello_take(struct health_link *l, const json_t *message)
{
	const char *type = json_string_value(json_object_get(message, "type"));
	json_t *kinds = json_object_get(message, "kinds");

	if (!type || strcmp(type, MON_HELLO))
		return "did not say hello";
	if (json_integer_value(json_object_get(message, "version")) != MON_PROTOCOL_VERSION)
		return "speaks another version";
	if (!json_is_array(kinds))
		return "does not say what it can probe";
	l->kinds = json_incref(kinds);
	log_notice("weir-mon: connected, process %lld",
		(long long)json_integer_value(json_object_get(message, "pid")));
	sync_begin(l);
	return NULL;
}

/* A whole frame. NULL: handled, go on; "": not there yet; else why the connection ends. */
static const char *frame_read(struct health_link *l)
{
	struct evbuffer *in = bufferevent_get_input(l->bev);
	const char *why = NULL;
	uint32_t length;

	if (evbuffer_copyout(in, &length, sizeof(length)) < (ssize_t)sizeof(length))
		return "";
	length = ntohl(length);
	if (length > MON_FRAME_MAX)
		return "sent a frame that is too long";
	if (evbuffer_get_length(in) < sizeof(length) + length)
		return "";
	evbuffer_drain(in, sizeof(length));
	const char *text = (const char *)evbuffer_pullup(in, length);
	json_t *message = json_loadb(text ? text : "", length, JSON_REJECT_DUPLICATES, NULL);
	evbuffer_drain(in, length);
	if (!json_is_object(message))
		why = "sent what is no message";
	else if (l->state == LINK_GREETING)
		why = hello_take(l, message);
	else
		health_message(l->h, message);
	json_decref(message);
	return why;
}

static void on_read(struct bufferevent *bev, void *ctx)
{
	struct health_link *l = ctx;
	const char *why;

	do
		why = frame_read(l);
	while (!why);
	if (*why)
		link_drop(l, why);
	else if (waiting(l) > OUTPUT_MAX)
		link_drop(l, "reads nothing");
}

static void on_event(struct bufferevent *bev, short what, void *ctx)
{
	link_drop(ctx, what & BEV_EVENT_TIMEOUT ? "reads nothing" : "connection lost");
}

/* --- the socket ----------------------------------------------------------------------------------- */

static bool peer_trusted(const struct health_link *l, int fd)
{
	struct ucred peer;
	socklen_t length = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length))
		return false;
	if (peer.uid == 0 || peer.uid == l->mon_uid)
		return true;
	log_warning("weir-mon: user %u may not connect", (unsigned)peer.uid);
	return false;
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address,
	int length, void *ctx)
{
	const struct timeval silence = {.tv_sec = SILENCE_SECONDS};
	struct health_link *l = ctx;
	struct bufferevent *bev =
		peer_trusted(l, fd) ? bufferevent_socket_new(l->h->base, fd, BEV_OPT_CLOSE_ON_FREE)
				    : NULL;

	if (!bev) {
		close(fd);
		return;
	}
	link_drop(l, "another connection takes its place");
	l->bev = bev;
	l->state = LINK_GREETING;
	bufferevent_setcb(bev, on_read, on_write, on_event, l);
	bufferevent_setwatermark(bev, EV_READ, 0, MON_FRAME_MAX + sizeof(uint32_t));
	bufferevent_set_timeouts(bev, NULL, &silence);
	bufferevent_enable(bev, EV_READ | EV_WRITE);
}

/* Nobody else can connect before it has its owner and mode. */
static int socket_listen(struct health_link *l)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	strcpy(address.sun_path, l->path);
	unlink(l->path);
	mode_t mask = umask(0177);
	int rc = bind(fd, (struct sockaddr *)&address, sizeof(address)) ? -errno : 0;
	umask(mask);
	if (rc == 0 && l->mon_uid != geteuid() && chown(l->path, l->mon_uid, (gid_t)-1))
		rc = -errno;
	if (rc == 0) {
		l->listener =
			evconnlistener_new(l->h->base, on_accept, l, LEV_OPT_CLOSE_ON_FREE, 4, fd);
		rc = l->listener ? 0 : -ENOMEM;
	}
	if (rc)
		close(fd);
	return rc;
}

struct health_link *health_link_new(
	struct health *h, const char *run_dir, uid_t mon_uid, char *reason, size_t size)
{
	struct health_link *l = calloc(1, sizeof(*l));
	int rc = -ENOMEM;

	if (l) {
		l->h = h;
		l->mon_uid = mon_uid;
		int length = snprintf(l->path, sizeof(l->path), "%s/" MON_SOCKET_NAME, run_dir);
		rc = (size_t)length < sizeof(l->path) ? socket_listen(l) : -ENAMETOOLONG;
	}
	if (rc == 0)
		return l;
	snprintf(reason, size, "%s/" MON_SOCKET_NAME ": %s", run_dir, strerror(-rc));
	free(l);
	return NULL;
}

void health_link_free(struct health_link *l)
{
	if (!l)
		return;
	evconnlistener_free(l->listener);
	if (l->bev)
		bufferevent_free(l->bev);
	json_decref(l->kinds);
	unlink(l->path);
	free(l);
}
