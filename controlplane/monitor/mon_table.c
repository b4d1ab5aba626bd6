/* SPDX-License-Identifier: BSD-3-Clause */
/* What weir-cp has defined. A definition that says the same as before touches nothing. */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/mon.h"
#include "monitor/mon_text.h"

static int monitor_compare(const void *a, const void *b)
{
	const struct mon_monitor *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int instance_compare(const void *a, const void *b)
{
	const struct mon_instance *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return monitor_compare(x->monitor, y->monitor);
}

struct mon_monitor *mon_monitor_get(struct mon *mon, uint32_t id)
{
	struct mon_monitor key = {.id = id};
	struct mon_monitor **found = tfind(&key, &mon->monitors, monitor_compare);

	return found ? *found : NULL;
}

struct mon_instance *mon_instance_get(struct mon *mon, uint32_t object, uint32_t monitor)
{
	struct mon_monitor m = {.id = monitor};
	struct mon_instance key = {.object = object, .monitor = &m};
	struct mon_instance **found = tfind(&key, &mon->instances, instance_compare);

	return found ? *found : NULL;
}

void mon_instance_delete(struct mon_instance *in)
{
	struct mon *mon = in->mon;

	mon_instance_stop(in);
	tdelete(in, &mon->instances, instance_compare);
	LIST_REMOVE(in, entry);
	mon->instances_count--;
	json_decref(in->advice);
	free(in->reason);
	free(in->last_error);
	free(in);
}

void mon_monitor_delete(struct mon *mon, struct mon_monitor *m)
{
	while (!LIST_EMPTY(&m->instances))
		mon_instance_delete(LIST_FIRST(&m->instances));
	tdelete(m, &mon->monitors, monitor_compare);
	mon_monitor_free(m);
}

/* The new one takes the old one's place and its instances. */
static int monitor_replace(struct mon *mon, struct mon_monitor *old, struct mon_monitor *fresh)
{
	struct mon_monitor **place = tfind(old, &mon->monitors, monitor_compare);
	struct mon_instance *in;

	/* Probes in flight belong to the old type. */
	LIST_FOREACH(in, &old->instances, entry)
	{
		struct mon_probe *p;

		while ((p = TAILQ_FIRST(&in->probes)))
			mon_probe_abort(p);
	}
	*place = fresh;
	while ((in = LIST_FIRST(&old->instances))) {
		LIST_REMOVE(in, entry);
		LIST_INSERT_HEAD(&fresh->instances, in, entry);
		in->monitor = fresh;
		mon_instance_changed(in);
	}
	mon_monitor_free(old);
	return 0;
}

int mon_monitor_define(struct mon *mon, const json_t *message, struct mon_fault *fault)
{
	json_int_t id = json_integer_value(json_object_get(message, "id"));
	struct mon_monitor *old =
		id > 0 && id <= UINT32_MAX ? mon_monitor_get(mon, (uint32_t)id) : NULL;

	if (old && json_equal(old->source, message)) {
		old->seen = mon->sync;
		return 0;
	}
	struct mon_monitor *fresh = mon_monitor_new(message, fault);
	if (!fresh)
		return -EINVAL;
	fresh->seen = mon->sync;
	if (old)
		return monitor_replace(mon, old, fresh);
	if (tsearch(fresh, &mon->monitors, monitor_compare))
		return 0;
	mon_monitor_free(fresh);
	return mon_fault(fault, "", "no memory");
}

bool mon_goes_astray(const struct mon_instance *in)
{
	return in->monitor->transparent && !in->mark && !ip_equal(&in->address, &in->to_address);
}

/* --- instances ---------------------------------------------------------------------------------- */

static int target_read(struct mon_instance *in, const json_t *message, struct mon_fault *fault)
{
	uint64_t port, to_port, mark;
	bool present, to_present;

	if (!mon_read_address(message, "address", &in->address, &present, fault) ||
		!mon_read_address(message, "to-address", &in->to_address, &to_present, fault) ||
		!mon_read_number(message, "port", 0, 65535, 0, &port, fault) ||
		!mon_read_number(message, "to-port", 0, 65535, port, &to_port, fault) ||
		!mon_read_number(message, "mark", 0, UINT32_MAX, 0, &mark, fault))
		return -EINVAL;
	if (!present)
		return mon_fault(fault, "address", "is missing");
	if (!to_present)
		in->to_address = in->address;
	in->port = (uint16_t)port;
	in->to_port = (uint16_t)to_port;
	in->mark = (uint32_t)mark;
	if (mon_goes_astray(in))
		return mon_fault(fault, "mark",
			"is missing: transparent needs a way through the server (IPv4)");
	const struct mon_type *type = in->monitor->type;
	if ((type->stream || type->datagram) && !to_port && !type->port)
		return mon_fault(fault, "port", "is missing, and %s needs one", type->name);
	return 0;
}

static int last_read(struct mon_instance *in, const json_t *message, struct mon_fault *fault)
{
	const json_t *last = json_object_get(message, "last");
	const char *word = json_string_value(json_object_get(last, "verdict"));
	const char *reason = json_string_value(json_object_get(last, "reason"));
	char clean[MON_REASON_MAX];
	int verdict = MON_CHECKING;

	if (last) {
		while (verdict < MON_VERDICTS &&
			(!word || strcmp(word, mon_verdict_names[verdict])))
			verdict++;
		if (verdict == MON_VERDICTS)
			return mon_fault(fault, "last", "has no verdict that there is");
	}
	mon_rule_init(&in->rule, (enum mon_verdict)verdict);
	in->verdict_time = json_integer_value(json_object_get(last, "time"));
	if (reason && *reason)
		in->reason = strdup(mon_clean(clean, sizeof(clean), reason, strlen(reason)));
	return 0;
}

static bool target_equal(const struct mon_instance *a, const struct mon_instance *b)
{
	return ip_equal(&a->address, &b->address) && a->port == b->port && a->mark == b->mark &&
	       ip_equal(&a->to_address, &b->to_address) && a->to_port == b->to_port;
}

static void target_move(struct mon_instance *in, const struct mon_instance *to)
{
	if (target_equal(in, to))
		return;
	in->address = to->address;
	in->port = to->port;
	in->to_address = to->to_address;
	in->to_port = to->to_port;
	in->mark = to->mark;
	mon_instance_changed(in);
}

static int instance_add(struct mon *mon, const struct mon_instance *from, const json_t *message,
	struct mon_fault *fault)
{
	struct mon_instance *in = malloc(sizeof(*in));

	if (!in)
		return mon_fault(fault, "", "no memory");
	*in = *from;
	TAILQ_INIT(&in->probes);
	in->response_ms = in->verdict_response_ms = -1;
	int rc = last_read(in, message, fault);
	if (rc == 0 && !tsearch(in, &mon->instances, instance_compare))
		rc = mon_fault(fault, "", "no memory");
	if (rc) {
		free(in->reason);
		free(in);
		return rc;
	}
	LIST_INSERT_HEAD(&in->monitor->instances, in, entry);
	mon->instances_count++;
	mon_instance_start(in);
	return 0;
}

int mon_instance_define(struct mon *mon, const json_t *message, struct mon_fault *fault)
{
	struct mon_instance fresh = {.mon = mon, .seen = mon->sync};
	uint64_t object, monitor;

	if (!mon_read_number(message, "object", 1, UINT32_MAX, 0, &object, fault) ||
		!mon_read_number(message, "monitor", 1, UINT32_MAX, 0, &monitor, fault))
		return -EINVAL;
	if (!object)
		return mon_fault(fault, "object", "is missing");
	fresh.object = (uint32_t)object;
	fresh.monitor = mon_monitor_get(mon, (uint32_t)monitor);
	if (!fresh.monitor)
		return mon_fault(fault, "monitor", "there is no monitor %u", (unsigned)monitor);
	int rc = target_read(&fresh, message, fault);
	if (rc)
		return rc;
	struct mon_instance *in = mon_instance_get(mon, fresh.object, fresh.monitor->id);
	if (!in)
		return instance_add(mon, &fresh, message, fault);
	in->seen = mon->sync;
	target_move(in, &fresh);
	return 0;
}

/* --- sync --------------------------------------------------------------------------------------- */

struct walk {
	void (*each)(struct mon_instance *, void *);
	void *ctx;
};

static void walk_step(const void *node, VISIT visit, void *ctx)
{
	struct walk *w = ctx;

	if (visit == postorder || visit == leaf)
		w->each(*(struct mon_instance *const *)node, w->ctx);
}

void mon_each_instance(struct mon *mon, void (*each)(struct mon_instance *, void *), void *ctx)
{
	struct walk w = {each, ctx};

	twalk_r(mon->instances, walk_step, &w);
}

void mon_sync_begin(struct mon *mon)
{
	mon->sync++;
	mon->syncing = true;
}

struct stale {
	unsigned sync, count, room;
	void **items;
};

static void stale_add(struct stale *s, void *item)
{
	if (s->count == s->room) {
		unsigned room = s->room ? 2 * s->room : 64;
		void **grown = realloc(s->items, room * sizeof(*grown));

		if (!grown)
			return; /* goes at the next sync */
		s->items = grown;
		s->room = room;
	}
	s->items[s->count++] = item;
}

static void stale_instance(struct mon_instance *in, void *ctx)
{
	struct stale *s = ctx;

	if (in->seen != s->sync)
		stale_add(s, in);
}

static void stale_monitor(const void *node, VISIT visit, void *ctx)
{
	struct mon_monitor *m = *(struct mon_monitor *const *)node;
	struct stale *s = ctx;

	if ((visit == postorder || visit == leaf) && m->seen != s->sync)
		stale_add(s, m);
}

void mon_sync_end(struct mon *mon)
{
	struct stale s = {.sync = mon->sync};

	mon->syncing = false;
	mon_each_instance(mon, stale_instance, &s);
	for (unsigned i = 0; i < s.count; i++)
		mon_instance_delete(s.items[i]);
	s.count = 0;
	twalk_r(mon->monitors, stale_monitor, &s);
	for (unsigned i = 0; i < s.count; i++)
		mon_monitor_delete(mon, s.items[i]);
	free(s.items);
}

void mon_clear(struct mon *mon)
{
	mon_sync_begin(mon);
	mon_sync_end(mon);
}
