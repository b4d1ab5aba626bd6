/* SPDX-License-Identifier: BSD-3-Clause */
#include "health/health.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "health/health_internal.h"
#include "health/health_rule.h"

#define REASON_MAX 512
#define FILES_SECONDS 5 /* between looks at certificates that monitors name */

uint64_t health_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* --- judging -------------------------------------------------------------------------------------- */

bool health_waits(const struct health_inst *in)
{
	return in->resume && in->monitor->manual_resume && !in->monitor->advises;
}

static struct health_count count_of(const struct health_object *o)
{
	struct health_count count = {0};

	for (const struct health_inst *in = o->instances; in; in = in->next) {
		count.said[in->said] += !in->monitor->advises;
		count.resume[in->said] += health_waits(in);
	}
	return count;
}

/* Whether an instance is why the object's verdict is what it is. */
static bool explains(const struct health_inst *in, enum verdict verdict)
{
	if (in->monitor->advises)
		return false;
	switch (verdict) {
	case VERDICT_CHECKING:
	case VERDICT_RECHECKING:
		return in->said == MON_CHECKING;
	case VERDICT_DOWN:
		return in->said == MON_DOWN;
	case VERDICT_DRAIN:
		return in->said == MON_DISABLED;
	case VERDICT_RESUME:
		return health_waits(in);
	default:
		return false;
	}
}

static const char *words_of(const struct health_inst *in)
{
	if (health_waits(in) && in->said != MON_DOWN)
		return "waits for manual resume";
	if (in->monitor->fault && in->said == MON_CHECKING)
		return in->monitor->fault;
	if (in->reason)
		return in->reason;
	return in->said == MON_CHECKING ? "no answer yet" : mon_verdict_names[in->said];
}

static const char *reason_of(const struct health_object *o, enum verdict verdict, char *buf)
{
	size_t used = 0;

	buf[0] = 0;
	for (const struct health_inst *in = o->instances; in; in = in->next) {
		if (!explains(in, verdict) || used >= REASON_MAX - 1)
			continue;
		int n = snprintf(buf + used, REASON_MAX - used, "%s%s: %s", used ? "; " : "",
			in->monitor->name, words_of(in));
		used += n > 0 ? (size_t)n : 0;
	}
	return buf;
}

/* Monitors with manual resume remember that they took the object down, until it is back without them. */
static void latches_set(struct health *h, struct health_object *o, enum verdict verdict)
{
	for (struct health_inst *in = o->instances; in; in = in->next) {
		bool resume = in->resume;

		if (verdict == VERDICT_DOWN)
			resume |= in->said == MON_DOWN && in->monitor->manual_resume;
		else if (verdict != VERDICT_RESUME)
			resume = false;
		if (resume != in->resume)
			health_store_changed(h->store, o->id);
		in->resume = resume;
	}
}

static bool is_usable(const struct health_object *o, enum verdict verdict)
{
	return verdict == VERDICT_UP || verdict == VERDICT_DRAIN || verdict == VERDICT_RECHECKING ||
	       (verdict == VERDICT_UNCHECKED && !o->fresh);
}

void health_judge(struct health *h, struct health_object *o)
{
	struct verdict_row before = verdicts_get(h->verdicts, o->id);
	struct health_count count = count_of(o);
	enum verdict verdict = health_rule(&count, o->need, is_usable(o, before.verdict));
	char reason[REASON_MAX];

	latches_set(h, o, verdict);
	int rc = verdicts_set(
		h->verdicts, o->id, verdict, health_now_ms(), reason_of(o, verdict, reason));
	if (rc < 0)
		log_error("verdict of object %u: %s", o->id, strerror(-rc));
	if (rc <= 0)
		return;
	health_store_changed(h->store, o->id);
	if (h->started)
		h->ops.verdict(h->ctx, o->id, before.verdict, before.since);
}

void health_say(struct health *h, struct health_inst *in, enum mon_verdict said, uint64_t since,
	const char *reason)
{
	char *copy = reason && *reason ? strdup(reason) : NULL;
	bool well = in->said != said && (said == MON_UP || said == MON_DISABLED);

	if (in->said != said)
		in->since = since;
	in->said = (uint8_t)said;
	free(in->reason);
	in->reason = copy;
	health_store_changed(h->store, in->object->id);
	health_judge(h, in->object);
	if (well && in->monitor->active)
		health_passive_well(h, in->object);
}

int health_resume(struct health *h, uint32_t object)
{
	struct health_object *o = health_object_get(h, object);

	if (o)
		o->resume = false;
	if (o && health_passive_forgive(h, o))
		return 0;
	if (!o || verdicts_get(h->verdicts, object).verdict != VERDICT_RESUME)
		return -EINVAL;
	for (struct health_inst *in = o->instances; in; in = in->next)
		in->resume = false;
	health_store_changed(h->store, object);
	health_judge(h, o);
	return 0;
}

static void on_files(evutil_socket_t fd, short what, void *ctx)
{
	health_table_files(ctx);
}

static int files_watch(struct health *h)
{
	const struct timeval every = {.tv_sec = FILES_SECONDS};

	h->files = event_new(h->base, -1, EV_PERSIST, on_files, h);
	return h->files && event_add(h->files, &every) == 0 ? 0 : -ENOMEM;
}

/* --- the owner's door ----------------------------------------------------------------------------- */

struct health *health_new(struct event_base *base, const struct model *m,
	const struct health_config *config, const struct health_ops *ops, void *ctx, char *reason,
	size_t size)
{
	struct health *h = calloc(1, sizeof(*h));

	snprintf(reason, size, "no memory");
	if (!h)
		return NULL;
	*h = (struct health){
		.base = base, .model = m, .ops = *ops, .ctx = ctx, .kernel = config->kernel};
	h->verdicts = verdicts_new();
	h->file_dir = strdup(config->file_dir);
	if (h->verdicts && h->file_dir && files_watch(h) == 0)
		h->store = health_store_open(h, config->store_dir, config->origin, reason, size);
	if (h->store) {
		health_table_load(h);
		health_store_loaded(h->store);
		h->link = health_link_new(h, config->run_dir, config->mon_uid, reason, size);
	}
	h->started = true;
	if (h->link)
		return h;
	health_free(h);
	return NULL;
}

void health_free(struct health *h)
{
	if (!h)
		return;
	health_link_free(h->link);
	h->link = NULL;
	health_store_close(h->store);
	h->store = NULL;
	h->kernel = NULL; /* weir-mon goes on, and so do the ways */
	health_table_free(h);
	if (h->files)
		event_free(h->files);
	verdicts_free(h->verdicts);
	free(h->file_dir);
	free(h);
}

const struct verdicts *health_verdicts(const struct health *h)
{
	return h->verdicts;
}

void health_path(struct health *h, bool open)
{
	if (h->path_open == open)
		return;
	h->path_open = open;
	health_link_path(h->link);
}

bool health_path_open(const struct health *h)
{
	return h->path_open;
}

bool health_connected(const struct health *h)
{
	return health_link_connected(h->link);
}

void health_model_changed(
	struct health *h, const struct model *m, const struct model_changes *changes)
{
	h->model = m;
	if (changes)
		health_table_changed(h, changes);
	else
		health_table_load(h);
	/* What began to be watched shall be known after a crash, or it would count as new. */
	health_store_save(h->store);
}

void health_event(struct health *h, const struct event_row *row)
{
	struct health_object *o =
		row->type == EVENT_CONNECT_FAILED ? health_object_get(h, row->object) : NULL;
	struct health_inst *next;

	for (struct health_inst *in = o ? o->instances : NULL; in; in = next) {
		next = in->next;
		if (!in->monitor->active)
			health_passive_failed(h, in, row->detail, row->time);
	}
}

/* --- for show ------------------------------------------------------------------------------------- */

struct walk {
	uint32_t object, monitor;
	void (*each)(void *ctx, const struct health_instance *instance);
	void *ctx;
};

static void walk_inst(const struct walk *w, const struct health_inst *in)
{
	static const enum verdict verdict_of[MON_VERDICTS] = {
		[MON_CHECKING] = VERDICT_CHECKING,
		[MON_UP] = VERDICT_UP,
		[MON_DOWN] = VERDICT_DOWN,
		[MON_DISABLED] = VERDICT_DRAIN,
	};
	struct health_instance row = {
		.object = in->object->id,
		.monitor = in->monitor->id,
		.verdict = (uint8_t)verdict_of[in->said],
		.since = in->since,
		.reason = words_of(in),
		.active = in->monitor->active,
	};

	if (health_waits(in) && in->said != MON_DOWN)
		row.verdict = VERDICT_RESUME;
	if (w->object == ID_NONE || w->object == row.object)
		w->each(w->ctx, &row);
}

static void walk_object(const struct walk *w, const struct health_object *o)
{
	for (const struct health_inst *in = o ? o->instances : NULL; in; in = in->next)
		if (w->monitor == ID_NONE || w->monitor == in->monitor->id)
			walk_inst(w, in);
}

void health_instances(const struct health *h, uint32_t object, uint32_t monitor,
	void (*each)(void *ctx, const struct health_instance *instance), void *ctx)
{
	const struct walk w = {object, monitor, each, ctx};
	const struct health_monitor *m;
	const struct health_inst *in;

	if (object != ID_NONE) {
		walk_object(&w, health_object_get(h, object));
	} else if (monitor == ID_NONE) {
		for (uint32_t i = 0; i < h->objects; i++)
			walk_object(&w, h->object[i]);
	} else if ((m = health_monitor_get(h, monitor))) {
		LIST_FOREACH(in, &m->instances, of_monitor)
		walk_inst(&w, in);
	}
}
