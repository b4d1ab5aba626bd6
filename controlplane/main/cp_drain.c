/* SPDX-License-Identifier: BSD-3-Clause */
/* Drains: begun, ended and waited for. The hold is a commit like any other. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "main/cp.h"

#define WAITS_MAX 64u	       /* requests that may wait at a time: they occupy clients' places */
#define WAIT_SECONDS_MAX 3600u /* longest wait of one request */

/* --- arguments ------------------------------------------------------------------------------------ */

/* A number of seconds. False: refused. */
static bool take_seconds(
	struct ipc_request *r, const char *name, json_int_t max, json_int_t preset, json_int_t *out)
{
	const json_t *value = json_object_get(ipc_request_body(r), name);

	*out = preset;
	if (!value || json_is_null(value))
		return true;
	*out = json_integer_value(value);
	if (json_is_integer(value) && *out >= 0 && *out <= max)
		return true;
	cp_refuse(r, 400, name, "must be a number of seconds from 0 to %lld", (long long)max);
	return false;
}

/* One of two words, the first if it is absent: 0 or 1 in *out. */
static bool take_choice(struct ipc_request *r, const char *name, const char *first,
	const char *second, unsigned *out)
{
	const json_t *value = json_object_get(ipc_request_body(r), name);
	const char *text = json_string_value(value);

	*out = text && !strcmp(text, second);
	if (!value || json_is_null(value) || *out || (text && !strcmp(text, first)))
		return true;
	cp_refuse(r, 400, name, "must be %s or %s", first, second);
	return false;
}

const struct drain *cp_find_drain(struct cp *cp, struct ipc_request *r, const char *argument)
{
	const json_t *value = json_object_get(ipc_request_body(r), argument);
	const char *text = json_string_value(value);
	char *end = NULL;
	unsigned long long id = json_is_integer(value) && json_integer_value(value) > 0
					? (unsigned long long)json_integer_value(value)
					: 0;

	if (text && *text >= '0' && *text <= '9') {
		errno = 0;
		id = strtoull(text, &end, 10);
		if (*end || errno)
			id = 0;
	}
	if (!id) {
		cp_refuse(r, 400, argument, "must be the number of a drain");
		return NULL;
	}
	const struct drain *d = id <= UINT32_MAX ? drains_find(cp->drains, (uint32_t)id) : NULL;
	if (d && cp_drain_readable(cp, r, d))
		return d;
	struct model_error err = {.code = -ENOENT, .kind = "ltm drain", .reason = "does not exist"};
	snprintf(err.object, sizeof(err.object), "%llu", id);
	cp_refuse_model(r, &err, NULL);
	return NULL;
}

/* --- start ---------------------------------------------------------------------------------------- */

static const struct object *find_pool(struct cp *cp, struct ipc_request *r, const char *name)
{
	uint32_t id;

	return cp_find_owner(cp, r, KIND_POOL_MEMBER, name, &id) ? model_get(cp->model, id) : NULL;
}

static bool take_object(struct cp *cp, struct ipc_request *r, uint32_t *id)
{
	char *node = NULL, *pool = NULL, *member = NULL;
	const struct object *o = NULL;

	if (!cp_argument(r, "node", &node) || !cp_argument(r, "pool", &pool) ||
		!cp_argument(r, "member", &member))
		goto out;
	if (!node == !pool || !pool != !member) {
		cp_refuse(r, 400, node ? "node" : "pool", "either node, or pool and member");
	} else if (node) {
		o = cp_find(cp, r, KIND_NODE, ID_NONE, node);
	} else {
		const struct object *owner = find_pool(cp, r, pool);
		o = owner ? cp_find(cp, r, KIND_POOL_MEMBER, owner->id, member) : NULL;
	}
	if (o && model_is_template(cp->model, o)) {
		cp_refuse(r, 400, node ? "node" : "member",
			"%s takes no connections: it stands for servers that are known by its "
			"name; drain those, or disable it",
			o->path);
		o = NULL;
	}
	if (o)
		*id = o->id;
out:
	free(node);
	free(pool);
	free(member);
	return o != NULL;
}

static bool take_order(struct cp *cp, struct ipc_request *r, struct drain_order *order)
{
	json_int_t timeout, stuck;
	unsigned reset, agent;

	if (!take_seconds(r, "timeout", DRAIN_SECONDS_MAX, 0, &timeout) ||
		!take_seconds(r, "stuck-time", DRAIN_SECONDS_MAX, 0, &stuck) ||
		!cp_flag(r, "force-offline", &order->force_offline) ||
		!take_choice(r, "cap-action", "none", "reset", &reset) ||
		!take_choice(r, "class", "operator", "agent", &agent))
		return false;
	if (reset && !timeout) {
		cp_refuse(r, 400, "cap-action", "reset needs a timeout");
		return false;
	}
	if (order->reason && strlen(order->reason) > DRAIN_REASON_MAX) {
		cp_refuse(r, 400, "reason", "of %zu bytes is more than the %d allowed",
			strlen(order->reason), DRAIN_REASON_MAX);
		return false;
	}
	order->cap_reset = reset;
	order->class = agent ? HOLD_AGENT : HOLD_OPERATOR;
	order->timeout = (uint32_t)timeout;
	order->stuck_time = (uint32_t)stuck;
	return take_object(cp, r, &order->object);
}

struct hold_change {
	uint32_t object;
	enum hold_class class;
	unsigned bits; /* 0: it is taken away */
	char reason[DRAIN_REASON_MAX + 40];
};

static int hold_apply(struct cp *cp, void *ctx, struct model_error *err)
{
	const struct hold_change *h = ctx;
	const struct object *o = model_get(cp->model, h->object);
	unsigned bits = h->bits;

	/* Who was forced offline stays so. */
	if (bits && o)
		bits |= model_holds(o)->by[h->class].bits;
	return model_hold(cp->model, h->object, h->class, bits, h->reason, err);
}

static int hold_commit(struct cp *cp, const struct cp_user *user, const struct drain *d,
	unsigned bits, struct model_changes *changes, struct model_error *err)
{
	struct hold_change hold = {.object = d->object, .class = d->class, .bits = bits};
	char what[2 * MODEL_NAME_MAX + 60];

	snprintf(hold.reason, sizeof(hold.reason), "drain %u%s%s", d->id, d->reason[0] ? ": " : "",
		d->reason);
	if (bits)
		snprintf(what, sizeof(what), "create ltm drain %s%s%s%s%s",
			d->node ? "node" : "pool ", d->pool, d->node ? " " : " member ", d->name,
			d->force_offline ? " force-offline" : "");
	else
		snprintf(what, sizeof(what), "delete ltm drain %u enable", d->id);
	return cp_commit(cp,
		&(struct cp_commit){.user = user, .what = what, .change = hold_apply, .ctx = &hold},
		changes, err);
}

/* The row, with what a commit answers. */
static json_t *result_of(struct cp *cp, const struct drain *d, const struct model_changes *changes)
{
	json_t *result = cp_drain_row(cp, d, NULL), *commit = cp_commit_result(cp, changes, NULL);

	if (!result || json_object_update(result, commit)) {
		json_decref(result);
		result = NULL;
	}
	json_decref(commit);
	return result;
}

static void refuse_order(
	struct cp *cp, struct ipc_request *r, uint32_t id, int error, const char *reason)
{
	const struct object *o = model_get(cp->model, id), *pool = model_get(cp->model, o->owner);
	char object[2 * MODEL_NAME_MAX], text[sizeof(object) + 300];

	snprintf(
		object, sizeof(object), "%s%s%s", pool ? pool->path : "", pool ? " " : "", o->path);
	snprintf(text, sizeof(text), "%s %s: %s", model_kinds[o->kind].full, object, reason);
	ipc_reply_error(r, &(struct ipc_error){.code = error == EEXIST	 ? 409
						       : error == ENOSPC ? 503
									 : 500,
				   .kind = model_kinds[o->kind].full,
				   .object = object,
				   .reason = reason,
				   .text = text});
}

static void start_drain(struct cp *cp, struct ipc_request *r, const struct cp_user *user,
	const struct drain_order *order)
{
	unsigned bits = order->force_offline ? HOLD_SESSION | HOLD_STATE : HOLD_SESSION;
	struct model_changes changes;
	struct model_error err;
	char reason[200];
	const struct drain *d =
		drains_prepare(cp->drains, cp->model, order, reason, sizeof(reason));

	if (!d) {
		refuse_order(cp, r, order->object, errno, reason);
		return;
	}
	if (hold_commit(cp, user, d, bits, &changes, &err)) {
		drains_abandon(cp->drains, d->id);
		cp_refuse_model(r, &err, NULL);
		return;
	}
	cp->draining = user;
	drains_begin(cp->drains, d->id);
	cp->draining = NULL;
	json_t *result = result_of(cp, d, &changes);
	model_changes_fini(&changes);
	cp_reply_in_force(cp, r, result);
}

void cp_start_drain(struct cp *cp, struct ipc_request *r, const struct cp_user *user)
{
	static const char *const known[] = {"node", "pool", "member", "force-offline", "timeout",
		"cap-action", "stuck-time", "reason", "class", NULL};
	struct drain_order order = {.author = user->name};
	char *reason;

	if (!cp_knows_all(r, known) || !cp_argument(r, "reason", &reason))
		return;
	order.reason = reason;
	if (take_order(cp, r, &order))
		start_drain(cp, r, user, &order);
	free(reason);
}

/* --- end ------------------------------------------------------------------------------------------ */

/* Who may take its hold away. */
static bool may_end(const struct cp *cp, const struct cp_user *user, const struct drain *d)
{
	const struct object *o = model_get(cp->model, d->object);

	if (!o)
		return false;
	struct model_ask ask = model_ask_of(cp->model, o, MODEL_MODIFY);
	ask.who = ROLE_OPERATOR;
	ask.hold = d->class;
	return cp_authorise(user, CP_CHANGE, &ask);
}

void cp_end_drain(struct cp *cp, struct ipc_request *r, const struct cp_user *user)
{
	static const char *const known[] = {"drain", "enable", NULL};
	struct model_changes changes = {.generation = model_generation(cp->model)};
	struct model_error err;
	const struct drain *d;
	bool enable;

	if (!cp_knows_all(r, known) || !cp_flag(r, "enable", &enable) ||
		!(d = cp_find_drain(cp, r, "drain")))
		return;
	if (!d->running) {
		cp_refuse(r, 409, "drain", "%u has ended already", d->id);
		return;
	}
	uint32_t id = d->id;
	if (!enable && !may_end(cp, user, d)) {
		cp_refuse(r, 403, "drain", "%s may not end it", user->name);
		return;
	}
	/* Without its hold it ends by itself. */
	if (enable && hold_commit(cp, user, d, 0, &changes, &err)) {
		cp_refuse_model(r, &err, NULL);
		return;
	}
	cp->draining = user;
	if (!enable)
		drains_end(cp->drains, id, user->name);
	cp->draining = NULL;
	d = drains_find(cp->drains, id);
	json_t *result = d ? result_of(cp, d, &changes) : NULL;
	model_changes_fini(&changes);
	if (enable)
		cp_reply_in_force(cp, r, result);
	else
		ipc_reply(r, result);
}

/* --- wait ----------------------------------------------------------------------------------------- */

struct cp_wait {
	LIST_ENTRY(cp_wait) entry;
	struct cp *cp;
	struct ipc_request *r;
	uint32_t id;
	struct event *deadline;
};

static void wait_free(struct cp_wait *w)
{
	LIST_REMOVE(w, entry);
	w->cp->waits.count--;
	event_free(w->deadline);
	free(w);
}

static void wait_gone(void *ctx)
{
	wait_free(ctx);
}

/* An error that says how far it came, and has the row. */
static void refuse_wait(
	struct cp *cp, struct ipc_request *r, const struct drain *d, int code, const char *reason)
{
	char subject[2 * MODEL_NAME_MAX + 20], text[900];

	snprintf(text, sizeof(text), "ltm drain %u: %s: %s", d->id,
		drain_subject(d, subject, sizeof(subject)), reason);
	ipc_reply_error(r, &(struct ipc_error){.code = code,
				   .kind = "ltm drain",
				   .reason = reason,
				   .text = text,
				   .more = json_pack("{s:o}", "drain", cp_drain_row(cp, d, NULL))});
}

/* False: it must still wait. */
static bool wait_answer(struct cp *cp, struct ipc_request *r, const struct drain *d)
{
	char reason[300];

	if (d->running && d->state < DRAIN_DRAINED)
		return false;
	if (d->state == DRAIN_DRAINED) {
		ipc_reply(r, cp_drain_row(cp, d, NULL));
		return true;
	}
	if (d->state == DRAIN_CANCELLED)
		snprintf(reason, sizeof(reason), "cancelled by %s: %s", d->ended_by, d->said);
	else
		snprintf(reason, sizeof(reason), "timed out: %s", d->said);
	refuse_wait(cp, r, d, 409, reason);
	return true;
}

static void on_deadline(evutil_socket_t fd, short what, void *ctx)
{
	struct cp_wait *w = ctx;
	struct cp *cp = w->cp;
	struct ipc_request *r = w->r;
	const struct drain *d = drains_find(cp->drains, w->id);
	char reason[100] = "not drained in time; its connections are not known";

	wait_free(w);
	if (d && d->connections >= 0)
		snprintf(reason, sizeof(reason), "not drained in time; connections left: %lld",
			(long long)d->connections);
	if (d)
		refuse_wait(cp, r, d, 504, reason);
	else
		cp_refuse(r, 404, "drain", "is no longer known");
}

/* Answers those that have what they wait for; from the head each time, since an answer may bring the next. */
static void on_serve(evutil_socket_t fd, short what, void *ctx)
{
	struct cp *cp = ctx;
	struct cp_wait *w = LIST_FIRST(&cp->waits.list);

	while (w) {
		const struct drain *d = drains_find(cp->drains, w->id);
		struct ipc_request *r = w->r;

		if (d && d->running && d->state < DRAIN_DRAINED) {
			w = LIST_NEXT(w, entry);
			continue;
		}
		wait_free(w);
		if (d)
			wait_answer(cp, r, d);
		else
			cp_refuse(r, 404, "drain", "is no longer known");
		w = LIST_FIRST(&cp->waits.list);
	}
}

static void wait_begin(struct cp *cp, struct ipc_request *r, uint32_t id, uint32_t seconds)
{
	struct timeval deadline = {.tv_sec = seconds};
	struct cp_wait *w = calloc(1, sizeof(*w));
	struct event *timer = w ? evtimer_new(cp->base, on_deadline, w) : NULL;

	if (!timer || event_add(timer, &deadline)) {
		if (timer)
			event_free(timer);
		free(w);
		cp_refuse(r, 500, "", "no memory");
		return;
	}
	*w = (struct cp_wait){.cp = cp, .r = r, .id = id, .deadline = timer};
	LIST_INSERT_HEAD(&cp->waits.list, w, entry);
	cp->waits.count++;
	ipc_request_on_gone(r, wait_gone, w);
}

void cp_wait_drain(struct cp *cp, struct ipc_request *r, const struct cp_user *user)
{
	static const char *const known[] = {"drain", "seconds", NULL};
	const struct drain *d;
	json_int_t seconds;

	if (!cp_knows_all(r, known) ||
		!take_seconds(r, "seconds", WAIT_SECONDS_MAX, 60, &seconds) ||
		!(d = cp_find_drain(cp, r, "drain")) || wait_answer(cp, r, d))
		return;
	if (cp->waits.count >= WAITS_MAX)
		cp_refuse(r, 503, "", "%u requests are waiting for drains, which is the most",
			WAITS_MAX);
	else
		wait_begin(cp, r, d->id, (uint32_t)seconds);
}

/* --- what drains tell ----------------------------------------------------------------------------- */

static void on_note(void *ctx, const struct drain *d, const char *before, const char *sentence)
{
	static const struct cp_user by_itself = {.name = "system", .class = HOLD_SYSTEM};
	struct cp *cp = ctx;

	journal_write(&cp->journal,
		&(struct event_record){.message = MESSAGE_DRAIN,
			.kind = model_kinds[d->node ? KIND_NODE : KIND_POOL_MEMBER].full,
			.object = d->name,
			.owner = d->node ? NULL : d->pool,
			.actor = cp_journal_actor(cp->draining ? cp->draining : &by_itself),
			.before = before ? event_text(before) : (struct event_value){0},
			.after = before ? event_text(drain_state_name(d->state))
					: (struct event_value){0},
			.cause = d->reason[0] ? d->reason : NULL,
			.flows_known = d->connections >= 0,
			.flows = d->connections > 0 ? (uint64_t)d->connections : 0,
			.text = sentence});
}

/* Not at once: an answer may bring the next request of the same client, which may end this drain. */
static void on_changed(void *ctx, const struct drain *d)
{
	struct cp *cp = ctx;

	cp_event_drain(cp, d);
	if (!LIST_EMPTY(&cp->waits.list))
		event_active(cp->waits.serve, EV_TIMEOUT, 0);
}

int cp_drains_init(struct cp *cp)
{
	static const struct drain_ops ops = {.note = on_note, .changed = on_changed};

	LIST_INIT(&cp->waits.list);
	cp->waits.serve = event_new(cp->base, -1, 0, on_serve, cp);
	if (!cp->waits.serve)
		return -ENOMEM;
	cp->drains = drains_new(cp->base, cp->link, cp->store_dir, &ops, cp);
	if (!cp->drains)
		return -ENOMEM;
	drains_model_changed(cp->drains, cp->model, "weir-cp");
	return 0;
}

void cp_drains_fini(struct cp *cp)
{
	drains_free(cp->drains);
	if (cp->waits.serve)
		event_free(cp->waits.serve);
}
