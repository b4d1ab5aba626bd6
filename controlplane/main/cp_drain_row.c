/* SPDX-License-Identifier: BSD-3-Clause */
/* show ltm drain: operations as rows, and what holds one of them up. */
#include <stdlib.h>
#include <string.h>

#include "main/cp.h"

#define ROWS_AT_ONCE 50

static void put_text(json_t *row, const char *key, const char *value)
{
	json_object_set_new(row, key, ipc_text_new(value, strlen(value)));
}

/* A number, or null while it is not known. */
static void put_known(json_t *row, const char *key, int64_t value)
{
	json_object_set_new(row, key, value < 0 ? json_null() : json_integer(value));
}

static uint64_t elapsed_s(const struct drain *d)
{
	struct timespec now;

	if (!d->running || d->state != DRAIN_DRAINING)
		return (d->took_ms + 500) / 1000;
	clock_gettime(CLOCK_REALTIME, &now);
	uint64_t ms = (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
	return ms > d->started ? (ms - d->started) / 1000 : 0;
}

static void put_order(json_t *row, const struct drain *d)
{
	put_text(row, d->node ? "node" : "pool", d->node ? d->name : d->pool);
	if (!d->node)
		put_text(row, "member", d->name);
	json_object_set_new(row, "force-offline", json_boolean(d->force_offline));
	json_object_set_new(row, "timeout", json_integer(d->timeout));
	put_text(row, "cap-action", d->cap_reset ? "reset" : "none");
	json_object_set_new(row, "stuck-time", json_integer(d->stuck_time));
	put_text(row, "class", hold_class_name[d->class]);
	put_text(row, "author", d->author);
	put_text(row, "reason", d->reason);
}

static void put_forecast(
	struct cp *cp, json_t *row, const struct drain *d, const struct drain_flows *flows)
{
	enum drain_basis basis;

	put_known(row, "forecast", drains_forecast(cp->drains, d->id, flows, &basis));
	put_text(row, "forecast-basis", drain_basis_name(basis));
}

static void put_flows(struct cp *cp, json_t *row, const struct drain_flows *flows)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < flows->count; i++)
		json_array_append_new(list, cp_flow_row(cp, &flows->row[i]));
	json_object_set_new(row, "flows", list);
	json_object_set_new(row, "flows-seen", json_integer(flows->listed));
	json_object_set_new(row, "flows-complete", json_boolean(flows->all));
}

json_t *cp_drain_row(struct cp *cp, const struct drain *d, const struct drain_flows *flows)
{
	json_t *row = json_object();
	const struct {
		const char *key;
		uint64_t value;
	} numbers[] = {{"id", d->id}, {"started", d->started}, {"ended", d->ended},
		{"elapsed", elapsed_s(d)}, {"reset", d->capped}, {"stuck", d->stuck},
		{"reopened", d->reopened}};

	if (!row)
		return NULL;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		json_object_set_new(
			row, numbers[i].key, json_integer((json_int_t)numbers[i].value));
	put_text(row, "state", drain_state_name(d->state));
	json_object_set_new(row, "running", json_boolean(d->running));
	put_known(row, "connections", d->running ? d->connections : -1);
	put_known(row, "connections-first", d->first);
	put_order(row, d);
	put_text(row, "ended-by", d->ended_by);
	put_text(row, "said", d->said);
	put_forecast(cp, row, d, flows);
	if (flows)
		put_flows(cp, row, flows);
	return row;
}

/* Who may read its object; of one that is gone, all of its kind in its partition. */
bool cp_drain_readable(const struct cp *cp, const struct ipc_request *r, const struct drain *d)
{
	const struct object *o = model_get(cp->model, d->object);
	const struct model_ask ask = {.kind = d->node ? KIND_NODE : KIND_POOL_MEMBER,
		.path = d->node ? d->name : d->pool,
		.hold = -1};

	return o ? cp_may_read(r, o) : cp_authorise(ipc_request_kept(r), CP_READ, &ask);
}

/* --- all ------------------------------------------------------------------------------------------ */

struct walk {
	struct cp *cp;
	uint32_t last;
	int count;
};

static enum ipc_step walk_next(struct ipc_request *r, void *ctx)
{
	struct walk *w = ctx;
	const struct drain *d;

	for (int i = 0; i < ROWS_AT_ONCE; i++) {
		d = drains_next(w->cp->drains, w->last);
		if (!d) {
			ipc_reply(r, json_pack("{s:i}", "count", w->count));
			return IPC_END;
		}
		w->last = d->id;
		if (!cp_drain_readable(w->cp, r, d))
			continue;
		w->count++;
		ipc_row(r, cp_drain_row(w->cp, d, NULL));
	}
	return IPC_MORE;
}

static void show_all(struct cp *cp, struct ipc_request *r)
{
	static const struct ipc_stream stream = {walk_next, free};
	struct walk *w = calloc(1, sizeof(*w));

	if (!w) {
		cp_refuse(r, 500, "", "no memory");
		return;
	}
	w->cp = cp;
	ipc_stream(r, &stream, w);
}

/* --- one ------------------------------------------------------------------------------------------ */

struct one {
	struct cp *cp;
	struct ipc_request *r;
	uint32_t id;
	struct drain_query *query;
};

/* A node's connections by member; a member's node. */
static void put_parts(struct cp *cp, json_t *row, const struct drain *d)
{
	const struct counters *c = dplink_counters(cp->link);
	const struct object *o = model_get(cp->model, d->object);
	const uint32_t *member;
	json_t *list;

	if (!c || !o || !d->running)
		return;
	if (!d->node) {
		put_known(row, "node-connections",
			drain_connections(c, model_pool_member(o)->conf.node));
		return;
	}
	list = json_array();
	unsigned count = cp_index_members(&cp->members, cp->model, o->id, &member);
	for (unsigned i = 0; i < count; i++) {
		const struct object *m = model_get(cp->model, member[i]);
		json_t *part = json_object();

		put_text(part, "pool", model_get(cp->model, m->owner)->path);
		put_text(part, "member", m->path);
		put_known(part, "connections", drain_connections(c, m->id));
		json_array_append_new(list, part);
	}
	json_object_set_new(row, "members", list);
}

static void answer_one(
	struct cp *cp, struct ipc_request *r, uint32_t id, const struct drain_flows *flows)
{
	const struct drain *d = drains_find(cp->drains, id);
	json_t *row;

	if (d) {
		row = cp_drain_row(cp, d, flows);
		put_parts(cp, row, d);
		ipc_row(r, row);
	}
	ipc_reply(r, json_pack("{s:i}", "count", d ? 1 : 0));
}

static void one_listed(void *ctx, const struct drain_flows *flows)
{
	struct one *one = ctx;

	answer_one(one->cp, one->r, one->id, flows);
	free(one);
}

static void one_gone(void *ctx)
{
	struct one *one = ctx;

	drains_flows_cancel(one->query);
	free(one);
}

static void show_one(struct cp *cp, struct ipc_request *r, const struct drain *d)
{
	bool held_up = d->running && d->connections > 0;
	struct one *one = held_up ? calloc(1, sizeof(*one)) : NULL;

	if (one) {
		*one = (struct one){.cp = cp, .r = r, .id = d->id};
		one->query = drains_flows(cp->drains, d->id, one_listed, one);
		if (one->query) {
			ipc_request_on_gone(r, one_gone, one);
			return;
		}
		free(one);
	}
	answer_one(cp, r, d->id, NULL);
}

void cp_show_drains(struct cp *cp, struct ipc_request *r)
{
	const json_t *name = json_object_get(ipc_request_body(r), "name");

	if (!name || json_is_null(name)) {
		show_all(cp, r);
		return;
	}
	const struct drain *d = cp_find_drain(cp, r, "name");
	if (d)
		show_one(cp, r, d);
}
