/* SPDX-License-Identifier: BSD-3-Clause */
/* watch: what happens, told to those who follow it. A reader that is slow loses events and is told how many. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "event/events.h"
#include "main/cp.h"

#define WATCHES_MAX 64u
#define WATCHES_EACH 16u /* of a user */
#define ROWS_AT_ONCE 50
#define ALIVE_SECONDS 30u  /* a row that says nothing, so that both ends know of each other */
#define LIFE_SECONDS 3600u /* then the client asks anew, with credentials that must still be good */
#define DRAINS_KNOWN 4096u

struct watcher {
	LIST_ENTRY(watcher) entry;
	struct cp *cp;
	struct ipc_request *r;
	uint64_t last; /* id that was told */
	uint64_t mark; /* of the user */
	uint64_t began_ns, told_ns;
	bool follow, waiting;
	bool gap; /* it began behind events that are not known */
};

struct cp_watch {
	struct events events;
	uint64_t first; /* id of this start */
	LIST_HEAD(, watcher) watchers;
	unsigned count;
	struct event *serve; /* events for those that wait */
	struct {
		uint32_t id;
		uint8_t state;
	} drain[DRAINS_KNOWN]; /* as they were told last, by id */
};

/* --- events --------------------------------------------------------------------------------------- */

static json_t *text(const char *value)
{
	return ipc_text_new(value, strlen(value));
}

json_t *cp_event_body(const char *type, const char *kind, const char *object, json_t *before,
	json_t *after, const struct cp_cause *cause)
{
	return json_pack("{s:s,s:s,s:o,s:o,s:o,s:o,s:{s:s,s:o,s:o}}", "type", type, "kind", kind,
		"object", text(object), "old", before, "new", after, "cause", text(cause->text),
		"actor", "class", hold_class_name[cause->class], "name", text(cause->name),
		"address", text(cause->address));
}

void cp_event(struct cp *cp, uint32_t object, enum cp_need need, json_t *body)
{
	struct cp_watch *w = cp->watch;

	events_add(&w->events, clock_wall_ms(), object, (uint8_t)need, body);
	if (w->count)
		event_active(w->serve, EV_TIMEOUT, 0);
}

void cp_event_commit(
	struct cp *cp, const struct cp_commit *commit, const struct model_changes *changes)
{
	const struct cp_cause cause = cp_cause_of(commit);
	uint64_t generation = changes->generation;
	json_t *body;

	if (!changes->config)
		return;
	body = cp_event_body("commit", "sys config", "",
		json_pack("{s:I}", "generation", (json_int_t)generation - 1),
		json_pack("{s:I}", "generation", (json_int_t)generation), &cause);
	json_object_set_new(body, "changes", json_integer(changes->count));
	cp_event(cp, ID_NONE, CP_AUDIT, body);
}

void cp_event_system(struct cp *cp, const char *kind, bool connected, const char *sentence)
{
	const struct cp_cause cause = {
		.text = sentence, .class = HOLD_SYSTEM, .name = "", .address = ""};

	cp_event(cp, ID_NONE, CP_LOOK,
		cp_event_body("system", kind, "", json_pack("{s:b}", "connected", !connected),
			json_pack("{s:b}", "connected", connected), &cause));
}

void cp_event_drain(struct cp *cp, const struct drain *d)
{
	struct cp_cause cause = {
		.text = d->said, .class = d->class, .name = d->author, .address = ""};
	char number[20], subject[2 * MODEL_NAME_MAX + 20];
	json_t *before = json_object(), *body;

	if (!d->running)
		cause.name = d->ended_by;
	if (cp->watch->drain[d->id % DRAINS_KNOWN].id == d->id)
		json_object_set_new(before, "state",
			json_string(
				drain_state_name(cp->watch->drain[d->id % DRAINS_KNOWN].state)));
	cp->watch->drain[d->id % DRAINS_KNOWN].id = d->id;
	cp->watch->drain[d->id % DRAINS_KNOWN].state = d->state;
	snprintf(number, sizeof(number), "%u", d->id);
	body = cp_event_body("drain", "ltm drain", number, before,
		json_pack("{s:s,s:b}", "state", drain_state_name(d->state), "running", d->running),
		&cause);
	json_object_set_new(body, "subject", text(drain_subject(d, subject, sizeof(subject))));
	json_object_set_new(body, "connections",
		d->connections < 0 ? json_null() : json_integer((json_int_t)d->connections));
	cp_event(cp, d->object, CP_READ, body);
}

/* --- who follows ---------------------------------------------------------------------------------- */

static bool may_see(const struct watcher *w, const struct event_entry *e)
{
	const struct cp_user *user = ipc_request_kept(w->r);
	const struct object *o = e->object == ID_NONE ? NULL : model_get(w->cp->model, e->object);

	if (o)
		return cp_may_read(w->r, o);
	return cp_authorise(user, e->object == ID_NONE ? e->need : CP_AUDIT, NULL);
}

static uint64_t mark_of(const struct watcher *w)
{
	const struct cp_user *user = ipc_request_kept(w->r);
	const struct object *o = user->id == ID_NONE ? NULL : model_get(w->cp->model, user->id);

	return o ? cp_user_mark(w->cp, o) : 0;
}

static void row_out(struct watcher *w, json_t *row)
{
	w->told_ns = clock_ns();
	ipc_row(w->r, row);
}

/* What is behind the reader and no longer there. */
static void gap_tell(struct watcher *w)
{
	struct cp_watch *all = w->cp->watch;
	uint64_t gone = events_gone(&all->events, w->last);

	if (!gone && !w->gap)
		return;
	w->last += w->gap ? 0 : gone;
	if (w->gap)
		w->last = events_after(&all->events, 0) ? events_after(&all->events, 0)->id - 1
							: events_last(&all->events);
	row_out(w, json_pack("{s:s,s:I,s:I,s:o}", "type", "gap", "id", (json_int_t)w->last, "time",
			   (json_int_t)clock_wall_ms(), "lost",
			   w->gap ? json_null() : json_integer((json_int_t)gone)));
	w->gap = false;
}

static void events_tell(struct watcher *w)
{
	const struct event_entry *e;

	for (int i = 0; i < ROWS_AT_ONCE && (e = events_after(&w->cp->watch->events, w->last));
		i++) {
		w->last = e->id;
		if (may_see(w, e))
			row_out(w, json_loadb(e->text, e->length, 0, NULL));
	}
}

static enum ipc_step watch_next(struct ipc_request *r, void *ctx)
{
	struct watcher *w = ctx;
	const struct events *events = &w->cp->watch->events;

	const struct cp_user *user = ipc_request_kept(r);

	if (mark_of(w) != w->mark ||
		(*user->token && !auth_token_by_id(w->cp->auth, user->token))) {
		cp_refuse(r, 401, "as", "is another user now, or logged out: log in again");
		return IPC_END;
	}
	gap_tell(w);
	events_tell(w);
	if (events_after(events, w->last))
		return IPC_MORE;
	uint64_t now = clock_ns();
	if (!w->follow || now - w->began_ns > LIFE_SECONDS * 1000000000ull) {
		ipc_reply(r, json_pack("{s:I}", "last", (json_int_t)w->last));
		return IPC_END;
	}
	if (now - w->told_ns >= ALIVE_SECONDS * 1000000000ull)
		row_out(w, json_pack("{s:s,s:I,s:I}", "type", "alive", "id", (json_int_t)w->last,
				   "time", (json_int_t)clock_wall_ms()));
	w->waiting = true;
	return IPC_WAIT;
}

static void watch_free(void *ctx)
{
	struct watcher *w = ctx;

	LIST_REMOVE(w, entry);
	w->cp->watch->count--;
	free(w);
}

/* A turn for each that waits; one that leaves takes itself out. */
static void on_serve(evutil_socket_t fd, short what, void *ctx)
{
	struct cp *cp = ctx;
	struct watcher *w = LIST_FIRST(&cp->watch->watchers), *next;

	for (; w; w = next) {
		next = LIST_NEXT(w, entry);
		if (!w->waiting)
			continue;
		w->waiting = false;
		ipc_stream_resume(w->r);
	}
}

void cp_watch_second(struct cp *cp)
{
	if (cp->watch->count)
		event_active(cp->watch->serve, EV_TIMEOUT, 0);
}

static bool take_after(struct ipc_request *r, json_int_t *after)
{
	const json_t *value = json_object_get(ipc_request_body(r), "after");

	*after = value && !json_is_null(value) ? json_integer_value(value) : -1;
	if (!value || json_is_null(value) || (json_is_integer(value) && *after >= 0))
		return true;
	cp_refuse(r, 400, "after", "must be the number of an event");
	return false;
}

static void watch_begin(struct watcher *w, json_int_t after)
{
	struct cp_watch *all = w->cp->watch;
	const struct event_entry *oldest = events_after(&all->events, 0);
	uint64_t last = events_last(&all->events);

	w->last = after < 0 ? last : (uint64_t)after;
	if (after == 0)
		w->last = oldest ? oldest->id - 1 : last;
	/* Of a time before this start, or of another machine. */
	w->gap = w->last + 1 < all->first || w->last > last;
	w->mark = mark_of(w);
	w->began_ns = w->told_ns = clock_ns();
}

static unsigned watches_of(const struct cp *cp, const struct cp_user *user)
{
	const struct watcher *w;
	unsigned count = 0;

	LIST_FOREACH(w, &cp->watch->watchers, entry)
	{
		const struct cp_user *other = ipc_request_kept(w->r);

		count += user->id != ID_NONE && other->id == user->id;
	}
	return count;
}

void cp_watch(struct cp *cp, struct ipc_request *r, const struct cp_user *user)
{
	static const struct ipc_stream stream = {watch_next, watch_free};
	const json_t *follow = json_object_get(ipc_request_body(r), "follow");
	json_int_t after;

	if (!take_after(r, &after))
		return;
	if (cp->watch->count >= WATCHES_MAX) {
		cp_refuse(r, 503, "", "%u clients are following events, which is the most",
			WATCHES_MAX);
		return;
	}
	if (watches_of(cp, user) >= WATCHES_EACH) {
		cp_refuse(r, 503, "", "%s is following events %u times, which is the most",
			user->name, WATCHES_EACH);
		return;
	}
	struct watcher *w = calloc(1, sizeof(*w));
	if (!w) {
		cp_refuse(r, 500, "", "no memory");
		return;
	}
	*w = (struct watcher){.cp = cp, .r = r, .follow = !json_is_false(follow)};
	watch_begin(w, after);
	LIST_INSERT_HEAD(&cp->watch->watchers, w, entry);
	cp->watch->count++;
	ipc_stream(r, &stream, w);
}

/* --- start and end -------------------------------------------------------------------------------- */

int cp_watch_init(struct cp *cp)
{
	struct cp_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	LIST_INIT(&w->watchers);
	events_init(&w->events, clock_wall_ms());
	w->first = events_last(&w->events) + 1;
	w->serve = event_new(cp->base, -1, 0, on_serve, cp);
	cp->watch = w;
	return w->serve ? 0 : -ENOMEM;
}

void cp_watch_fini(struct cp *cp)
{
	struct cp_watch *w = cp->watch;

	if (!w)
		return;
	cp->watch = NULL;
	if (w->serve)
		event_free(w->serve);
	events_fini(&w->events);
	free(w);
}
