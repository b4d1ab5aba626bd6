/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * service-down-action: when a check finds a server down, its connections are left, reset, silenced or given to
 * others. The dataplane walks its flows for one member at a time; members that wait stand in a queue, each once.
 * What is done depends on the state of the moment: a member that came back before its turn is passed over, and
 * flows are taken only while it has no connections to get. After a lost connection nothing is remembered: all
 * members that are down get their turn.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "main/cp.h"

#define PART_FLOWS 65536u /* flows taken at once, so that other questions get their turn */
#define BUSY_MS 50	  /* the dataplane has enough questions: asked again after */

struct cp_down {
	uint32_t *id; /* ring of members that wait */
	unsigned first, count, size;
	uint64_t *waiting; /* bit per id slot: is in the ring */
	struct dplink_query *query;
	struct msg_scan scan; /* the one that is asked, or its next part */
	uint64_t taken;	      /* flows, of all its parts */
	struct event *retry;
};

static const struct dplink_query_ops scan_ops;

/* --- the queue ------------------------------------------------------------------------------------ */

static bool is_waiting(const struct cp_down *d, uint32_t id)
{
	return d->waiting[id_slot(id) / 64] >> id_slot(id) % 64 & 1;
}

static bool ring_grow(struct cp_down *d)
{
	unsigned size = d->size ? 2 * d->size : 64;
	uint32_t *more = calloc(size, sizeof(*more));

	if (!more)
		return false;
	for (unsigned i = 0; i < d->count; i++)
		more[i] = d->id[(d->first + i) % d->size];
	free(d->id);
	d->id = more;
	d->first = 0;
	d->size = size;
	return true;
}

static void queue_put(struct cp_down *d, uint32_t id)
{
	if (is_waiting(d, id))
		return;
	if (d->count == d->size && !ring_grow(d)) {
		log_error(
			"service-down-action: member %u: no memory: its connections are left", id);
		return;
	}
	d->id[(d->first + d->count++) % d->size] = id;
	d->waiting[id_slot(id) / 64] |= 1ull << id_slot(id) % 64;
}

static uint32_t queue_take(struct cp_down *d)
{
	uint32_t id = d->id[d->first];

	d->first = (d->first + 1) % d->size;
	d->count--;
	d->waiting[id_slot(id) / 64] &= ~(1ull << id_slot(id) % 64);
	return id;
}

/* --- what is to be done --------------------------------------------------------------------------- */

static bool says_down(unsigned verdict)
{
	return verdict == VERDICT_DOWN || verdict == VERDICT_RESUME;
}

/* What its pool does to connections of the member: an action if checks say that it or its node is down. */
static bool action_of(const struct cp *cp, uint32_t member, uint8_t *action)
{
	static const uint8_t actions[] = {
		[POOL_SERVICE_DOWN_ACTION_RESET] = SCAN_DELETE,
		[POOL_SERVICE_DOWN_ACTION_DROP] = SCAN_DROP,
		[POOL_SERVICE_DOWN_ACTION_RESELECT] = SCAN_RESELECT,
	};
	const struct object *o = model_get(cp->model, member);
	const struct object *pool = o ? model_get(cp->model, o->owner) : NULL;

	if (!pool || !(says_down(verdicts_get(cp->verdicts, o->id).verdict) ||
			     says_down(verdicts_get(cp->verdicts, model_pool_member(o)->conf.node)
					       .verdict)))
		return false;
	unsigned wanted = model_pool(pool)->conf.service_down_action;
	*action = actions[wanted];
	return wanted != POOL_SERVICE_DOWN_ACTION_NONE;
}

static void note(struct cp *cp, const struct cp_down *d)
{
	static const char *const words[SCAN_ACTIONS] = {[SCAN_DELETE] = "reset",
		[SCAN_DROP] = "dropped",
		[SCAN_RESELECT] = "given to other members"};
	const struct object *o = model_get(cp->model, d->scan.filter.member_id);
	const struct object *pool = o ? model_get(cp->model, o->owner) : NULL;

	char text[700];

	if (!d->taken || !pool)
		return;
	snprintf(text, sizeof(text), "%s %s: down: %" PRIu64 " connections %s", pool->path, o->path,
		d->taken, words[d->scan.action]);
	cp_journal_note(cp, MESSAGE_SERVICE_DOWN_ACTION, o, NULL, text);
}

/* --- asking --------------------------------------------------------------------------------------- */

static void scan_ask(struct cp *cp)
{
	struct cp_down *d = cp->down;

	d->query = dplink_query(cp->link, &d->scan.header, &scan_ops, cp);
	if (!d->query && errno != ENOTCONN)
		log_error("service-down-action: %s: connections are left", strerror(errno));
}

static void scan_next(struct cp *cp)
{
	struct cp_down *d = cp->down;

	while (!d->query && d->count && !event_pending(d->retry, EV_TIMEOUT, NULL)) {
		uint32_t member = queue_take(d);
		uint8_t action;

		if (!action_of(cp, member, &action))
			continue;
		d->scan = (struct msg_scan){
			.header = {.type = MSG_SCAN, .length = sizeof(d->scan)},
			.action = action,
			.limit = PART_FLOWS,
			.filter = {.member_id = member, .down = 1},
		};
		d->taken = 0;
		scan_ask(cp);
	}
}

static void on_done(void *ctx, int status, const struct msg_result *result)
{
	static const struct timeval pause = {.tv_usec = BUSY_MS * 1000};
	struct cp *cp = ctx;
	struct cp_down *d = cp->down;

	d->query = NULL;
	if (!result)
		return; /* cp_down_connected begins anew */
	if (status == -EBUSY) {
		queue_put(d, d->scan.filter.member_id);
		event_add(d->retry, &pause);
		return;
	}
	if (status)
		log_error("service-down-action: %s", result->reason);
	d->taken += result->rows;
	d->scan.cursor = result->cursor;
	if (status == 0 && d->scan.cursor) {
		scan_ask(cp);
		return;
	}
	note(cp, d);
	scan_next(cp);
}

static void on_rows(void *ctx, const struct msg_header *message) {}

static const struct dplink_query_ops scan_ops = {.rows = on_rows, .done = on_done};

static void on_retry(evutil_socket_t fd, short what, void *ctx)
{
	scan_next(ctx);
}

/* --- what happens --------------------------------------------------------------------------------- */

void cp_server_changed(struct cp *cp, uint32_t object, enum verdict before, enum verdict after)
{
	const struct object *o = model_get(cp->model, object);
	const uint32_t *member = &object;
	unsigned count = 1;

	if (!o)
		return;
	/* Before the scan: no new connection may come to a member whose connections are being taken. */
	cp_push_server(cp, object);
	cp_states_server(cp, object);
	if (says_down(before) || !says_down(after) || !dplink_hello(cp->link))
		return;
	if (o->kind == KIND_NODE)
		count = cp_index_members(&cp->members, cp->model, object, &member);
	for (unsigned i = 0; i < count; i++)
		queue_put(cp->down, member[i]);
	scan_next(cp);
}

void cp_down_connected(struct cp *cp)
{
	const struct object *pool, *o;
	uint8_t action;

	for (unsigned p = 0; (pool = model_at(cp->model, KIND_POOL, p)); p++)
		for (unsigned i = 0; (o = model_child_at(cp->model, pool, i)); i++)
			if (action_of(cp, o->id, &action))
				queue_put(cp->down, o->id);
	scan_next(cp);
}

void cp_down_lost(struct cp *cp)
{
	struct cp_down *d = cp->down;

	while (d->count)
		queue_take(d);
}

int cp_down_init(struct cp *cp)
{
	struct cp_down *d = cp->down = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->waiting = calloc(ID_SLOTS_MAX / 64, sizeof(*d->waiting));
	d->retry = evtimer_new(cp->base, on_retry, cp);
	return d->waiting && d->retry ? 0 : -ENOMEM;
}

void cp_down_fini(struct cp *cp)
{
	struct cp_down *d = cp->down;

	if (!d)
		return;
	if (d->retry)
		event_free(d->retry);
	free(d->waiting);
	free(d->id);
	free(d);
}
