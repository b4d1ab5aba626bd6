/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * show ltm monitor: what each monitor has found of each node and member that it looks at. Verdicts are weir-cp's;
 * weir-mon adds its statistics when it is there. There may be tens of thousands: rows go out at the client's pace.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "health/health_detect.h"
#include "main/cp.h"

#define ROWS_AT_ONCE 50

static void put_text(json_t *row, const char *key, const char *value)
{
	json_object_set_new(row, key, ipc_text_new(value, strlen(value)));
}

static void put_number(json_t *row, const char *key, uint64_t value)
{
	json_object_set_new(row, key, json_integer((json_int_t)value));
}

static void put_detection(json_t *row, const struct object *monitor)
{
	struct health_timers t;

	if (!health_detect_timers(monitor, &t))
		return;
	struct health_detection d = health_detect(&t);
	put_number(row, "detectSilent", d.silent);
	put_number(row, "detectRefusing", d.refusing);
	put_number(row, "detectWrong", d.wrong);
}

static const char *verdict_name(unsigned verdict)
{
	static const char *const names[VERDICTS] = {
		[VERDICT_UNCHECKED] = "unchecked",
		[VERDICT_CHECKING] = "checking",
		[VERDICT_RECHECKING] = "checking",
		[VERDICT_UP] = "up",
		[VERDICT_DOWN] = "down",
		[VERDICT_DRAIN] = "up-no-new-clients",
		[VERDICT_RESUME] = "down-wait-for-manual-resume",
	};

	return verdict < VERDICTS ? names[verdict] : "unknown";
}

/* --- monitors ------------------------------------------------------------------------------------- */

struct tally {
	unsigned all, up, down;
};

static void tally_add(void *ctx, const struct health_instance *in)
{
	struct tally *t = ctx;

	t->all++;
	t->up += in->verdict == VERDICT_UP || in->verdict == VERDICT_DRAIN;
	t->down += in->verdict == VERDICT_DOWN || in->verdict == VERDICT_RESUME;
}

static void put_field(const struct cp *cp, json_t *row, const struct object *o, const char *name)
{
	const struct field *f = model_field_find(o->kind, NULL, name);
	struct text text = {0};

	if (!f)
		return;
	model_field_text(cp->model, o, f, &text);
	put_text(row, f->rest, text.data ? text.data : "");
	text_fini(&text);
}

static json_t *monitor_row(const struct cp *cp, const struct object *o)
{
	static const char *const fields[] = {"destination", "interval", "up-interval", "timeout",
		"time-until-up", "failures", "successes", "manual-resume", "failure-interval",
		"retry-time"};
	struct tally t = {0};
	json_t *row = json_object();

	put_text(row, "kind", model_kinds[o->kind].words);
	put_text(row, "name", o->path);
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		put_field(cp, row, o, fields[i]);
	put_detection(row, o);
	health_instances(cp->health, ID_NONE, o->id, tally_add, &t);
	put_number(row, "instances", t.all);
	put_number(row, "instancesUp", t.up);
	put_number(row, "instancesDown", t.down);
	return row;
}

static void monitors_of_kind(struct cp *cp, struct ipc_request *r, unsigned kind)
{
	const struct object *o;

	for (unsigned i = 0; (o = model_at(cp->model, kind, i)); i++)
		if (cp_may_read(r, o))
			ipc_row(r, monitor_row(cp, o));
}

/* A monitor that the request names, with or without its type. NULL: refused. */
static const struct object *monitor_find(
	struct cp *cp, struct ipc_request *r, int kind, const char *name)
{
	const struct object *o = kind >= 0 ? model_find(cp->model, kind, ID_NONE, name)
					   : model_monitor_find(cp->model, name);

	if (o && cp_may_read(r, o))
		return o;
	cp_refuse(r, 404, "name", "%s %s: does not exist",
		kind >= 0 ? model_kinds[kind].words : "ltm monitor", name);
	return NULL;
}

void cp_show_monitors(struct cp *cp, struct ipc_request *r, int kind)
{
	const struct object *o = NULL;
	char *name;

	if (!cp_argument(r, "name", &name))
		return;
	if (name)
		o = monitor_find(cp, r, kind, name);
	if (!name || o) {
		if (o)
			ipc_row(r, monitor_row(cp, o));
		for (unsigned k = 0; !name && k < MODEL_KINDS; k++)
			if (model_kind_is_monitor(k) && (kind < 0 || (unsigned)kind == k))
				monitors_of_kind(cp, r, k);
		ipc_reply(r, json_object());
	}
	free(name);
}

/* --- instances ------------------------------------------------------------------------------------ */

/* What weir-mon says of one; time 0 and negative numbers: nothing. */
struct stats {
	bool known;
	uint64_t probes, successes, failures, error_time;
	double response_ms;
	int64_t next_ms;
	char *error;
};

struct instance {
	uint32_t object, monitor;
	struct stats stats;
};

struct listing {
	struct cp *cp;
	struct ipc_request *r;
	uint32_t pool, object, monitor; /* wanted; ID_NONE: all */
	int kind;			/* of monitor, -1: all */
	struct instance *instance;
	unsigned count, size, next;
	bool failed; /* no memory */
	bool asked;
	struct health_query *query;
	const char *missing; /* why there are no statistics, or "" */
};

static void listing_free(void *ctx)
{
	struct listing *l = ctx;

	if (l->query)
		health_stats_cancel(l->query);
	for (unsigned i = 0; i < l->count; i++)
		free(l->instance[i].stats.error);
	free(l->instance);
	free(l);
}

static bool is_wanted(const struct listing *l, const struct health_instance *in)
{
	const struct object *o = model_get(l->cp->model, in->object);
	const struct object *monitor = model_get(l->cp->model, in->monitor);

	return o && monitor && (l->pool == ID_NONE || o->owner == l->pool) &&
	       (l->kind < 0 || monitor->kind == l->kind);
}

static void listing_add(void *ctx, const struct health_instance *in)
{
	struct listing *l = ctx;

	if (l->failed || !is_wanted(l, in))
		return;
	if (l->count == l->size) {
		unsigned size = l->size ? 2 * l->size : 64;
		struct instance *more = reallocarray(l->instance, size, sizeof(*more));

		l->failed = !more;
		if (!more)
			return;
		l->instance = more;
		l->size = size;
	}
	l->instance[l->count++] = (struct instance){.object = in->object, .monitor = in->monitor};
}

static int id_order(const void *a, const void *b)
{
	const struct instance *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return x->monitor < y->monitor ? -1 : x->monitor > y->monitor;
}

static const char *path_of(const struct model *m, uint32_t id)
{
	const struct object *o = model_get(m, id);

	return o ? o->path : "";
}

/* By monitor, then pool, then member or node. */
static int name_order(const void *a, const void *b, void *ctx)
{
	const struct instance *x = a, *y = b;
	const struct model *m = ctx;
	const struct object *of_x = model_get(m, x->object), *of_y = model_get(m, y->object);
	int order = strcmp(path_of(m, x->monitor), path_of(m, y->monitor));

	if (!order)
		order = strcmp(path_of(m, of_x ? of_x->owner : ID_NONE),
			path_of(m, of_y ? of_y->owner : ID_NONE));
	return order ? order : strcmp(of_x ? of_x->path : "", of_y ? of_y->path : "");
}

static uint64_t number_of(const json_t *row, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(row, key));

	return value < 0 ? 0 : (uint64_t)value;
}

static void stats_add(struct listing *l, const json_t *row)
{
	struct instance key = {.object = (uint32_t)number_of(row, "object"),
		.monitor = (uint32_t)number_of(row, "monitor")};
	struct instance *in = bsearch(&key, l->instance, l->count, sizeof(*l->instance), id_order);
	const char *error = json_string_value(json_object_get(row, "last-error"));
	const json_t *response = json_object_get(row, "last-response-ms");

	if (!in)
		return;
	free(in->stats.error);
	in->stats = (struct stats){
		.known = true,
		.probes = number_of(row, "probes"),
		.successes = number_of(row, "successes"),
		.failures = number_of(row, "failures"),
		.error_time = number_of(row, "last-error-time"),
		.response_ms = json_is_number(response) ? json_number_value(response) : -1,
		.next_ms = json_integer_value(json_object_get(row, "next-probe-ms")),
		.error = error && *error ? strdup(error) : NULL,
	};
}

static void on_rows(void *ctx, const json_t *rows)
{
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) stats_add(ctx, row);
}

static void listing_ready(struct listing *l, int status)
{
	l->query = NULL;
	l->asked = true;
	if (status)
		l->missing = status == -ENOTCONN    ? "weir-mon is not connected"
			     : status == -ETIMEDOUT ? "weir-mon did not answer in time"
						    : "no memory";
	qsort_r(l->instance, l->count, sizeof(*l->instance), name_order, l->cp->model);
}

static void on_done(void *ctx, int status)
{
	struct listing *l = ctx;

	listing_ready(l, status);
	ipc_stream_resume(l->r);
}

/* --- rows ----------------------------------------------------------------------------------------- */

static void put_object(const struct cp *cp, json_t *row, const struct object *o)
{
	const struct object *owner = model_get(cp->model, o->owner);
	const struct object *node =
		owner ? model_get(cp->model, model_pool_member(o)->conf.node) : o;
	char addr[IP_ADDR_TEXT];

	put_text(row, "kind", model_kinds[o->kind].full);
	put_text(row, "name", o->path);
	put_text(row, "owner", owner ? owner->path : "");
	put_text(row, "addr", ip_format(&model_node(node)->conf.address, addr));
	put_number(row, "port", owner ? model_pool_member(o)->conf.port : 0);
}

static void put_verdict(void *ctx, const struct health_instance *in)
{
	json_t *row = ctx;

	put_text(row, "status", verdict_name(in->verdict));
	put_number(row, "since", in->since);
	put_text(row, "reason", in->reason);
	json_object_set_new(row, "active", json_boolean(in->active));
}

static void put_stats(json_t *row, const struct stats *s)
{
	if (!s->known)
		return;
	put_number(row, "probes", s->probes);
	put_number(row, "successes", s->successes);
	put_number(row, "failures", s->failures);
	put_text(row, "lastError", s->error ? s->error : "");
	if (s->error_time)
		put_number(row, "lastErrorTime", s->error_time);
	if (s->response_ms >= 0)
		json_object_set_new(row, "lastResponseMs", json_real(s->response_ms));
	json_object_set_new(row, "nextProbeMs", json_integer(s->next_ms));
}

/* NULL: it is gone. */
static json_t *instance_row(struct cp *cp, const struct ipc_request *r, const struct instance *in)
{
	const struct object *o = model_get(cp->model, in->object);
	const struct object *monitor = model_get(cp->model, in->monitor);
	json_t *row;

	if (!o || !monitor || !cp_may_read(r, o))
		return NULL;
	row = json_object();
	put_text(row, "monitorKind", model_kinds[monitor->kind].words);
	put_text(row, "monitor", monitor->path);
	put_object(cp, row, o);
	health_instances(cp->health, o->id, monitor->id, put_verdict, row);
	put_detection(row, monitor);
	put_stats(row, &in->stats);
	return row;
}

static void stats_ask(struct listing *l)
{
	static const struct health_stats_ops ops = {.rows = on_rows, .done = on_done};

	l->asked = l->count == 0;
	if (l->asked)
		return;
	qsort(l->instance, l->count, sizeof(*l->instance), id_order);
	l->query = health_stats(l->cp->health, l->object, l->monitor, &ops, l);
	if (!l->query)
		listing_ready(l, -errno);
}

static enum ipc_step listing_next(struct ipc_request *r, void *ctx)
{
	struct listing *l = ctx;

	if (!l->asked && !l->query)
		stats_ask(l);
	if (!l->asked)
		return IPC_WAIT;
	for (int i = 0; i < ROWS_AT_ONCE && l->next < l->count; i++) {
		json_t *row = instance_row(l->cp, r, &l->instance[l->next++]);

		if (row)
			ipc_row(r, row);
	}
	if (l->next < l->count)
		return IPC_MORE;
	ipc_reply(r, json_pack("{s:i,s:s}", "count", (int)l->count, "missing", l->missing));
	return IPC_END;
}

/* --- which ---------------------------------------------------------------------------------------- */

static bool choose_object(struct listing *l, struct ipc_request *r, const char *pool,
	const char *member, const char *node)
{
	const struct object *o;

	if (node && pool)
		cp_refuse(r, 400, "node", "not together with a pool");
	else if (member && !pool)
		cp_refuse(r, 400, "member", "needs its pool");
	if ((node && pool) || (member && !pool))
		return false;
	if (pool) {
		o = cp_find(l->cp, r, KIND_POOL, ID_NONE, pool);
		if (!o)
			return false;
		l->pool = o->id;
	}
	if (member || node) {
		o = cp_find(l->cp, r, member ? KIND_POOL_MEMBER : KIND_NODE,
			member ? l->pool : ID_NONE, member ? member : node);
		if (!o)
			return false;
		l->object = o->id;
	}
	return true;
}

static bool listing_choose(struct listing *l, struct ipc_request *r)
{
	char *kind = NULL, *name = NULL, *pool = NULL, *member = NULL, *node = NULL;
	const struct object *monitor = NULL;
	bool ok = cp_argument(r, "kind", &kind) && cp_argument(r, "name", &name) &&
		  cp_argument(r, "pool", &pool) && cp_argument(r, "member", &member) &&
		  cp_argument(r, "node", &node);

	if (ok && kind) {
		l->kind = cp_kind(kind);
		ok = l->kind >= 0 && model_kind_is_monitor((unsigned)l->kind);
		if (!ok)
			cp_refuse(r, 400, "kind", "%s is no kind of monitor", kind);
	}
	if (ok && name) {
		monitor = monitor_find(l->cp, r, l->kind, name);
		ok = monitor != NULL;
		l->monitor = monitor ? monitor->id : ID_NONE;
	}
	ok = ok && choose_object(l, r, pool, member, node);
	free(kind);
	free(name);
	free(pool);
	free(member);
	free(node);
	return ok;
}

void cp_show_monitor_instances(struct cp *cp, struct ipc_request *r)
{
	static const struct ipc_stream stream = {listing_next, listing_free};
	struct listing *l = calloc(1, sizeof(*l));

	if (!l) {
		cp_refuse(r, 500, "", "no memory");
		return;
	}
	*l = (struct listing){.cp = cp, .r = r, .kind = -1, .missing = ""};
	if (!listing_choose(l, r)) {
		listing_free(l);
		return;
	}
	health_instances(cp->health, l->object, l->monitor, listing_add, l);
	if (!l->failed) {
		ipc_stream(r, &stream, l);
		return;
	}
	cp_refuse(r, 500, "", "no memory");
	listing_free(l);
}
