/* SPDX-License-Identifier: BSD-3-Clause */
/* Passive monitors: they count failed connections of clients, which the dataplane tells. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "health/health_detect.h"
#include "health/health_internal.h"

#define NS_PER_SECOND 1000000000ull

struct health_passive {
	struct health *h;
	struct health_inst *in;
	struct event *retry;
	unsigned size, count, next; /* of the ring: as many failures as make it down */
	uint64_t *failure;	    /* when, ns */
};

/* --- back again ----------------------------------------------------------------------------------- */

static bool waits_for_others(const struct health_inst *in)
{
	return in->passive && in->said == MON_DOWN && in->monitor->passive.retry_time == 0;
}

struct others {
	bool any, well; /* that ask and judge; all of them are content */
	uint64_t wait;	/* s in which they would have found a fault */
};

static struct others others_of(const struct health *h, const struct health_object *o)
{
	struct others others = {.well = true};
	struct health_timers timers;

	for (const struct health_inst *in = o->instances; in; in = in->next) {
		const struct object *monitor = model_get(h->model, in->monitor->id);

		if (!in->monitor->active || in->monitor->advises || !monitor ||
			!health_detect_timers(monitor, &timers))
			continue;
		uint64_t wait = health_detect(&timers).silent;
		others.any = true;
		others.well &= in->said == MON_UP || in->said == MON_DISABLED;
		others.wait = wait > others.wait ? wait : others.wait;
	}
	return others;
}

/* ms until it has been down for so many seconds. */
static uint64_t rest_of(const struct health_passive *p, uint64_t seconds)
{
	uint64_t now = health_now_ms(), passed = now > p->in->since ? now - p->in->since : 0;

	return passed < seconds * 1000 ? seconds * 1000 - passed : 0;
}

static void retry_after(struct health_passive *p, uint64_t ms)
{
	const struct timeval tv = {(time_t)(ms / 1000), (suseconds_t)(ms % 1000 * 1000)};

	event_add(p->retry, &tv);
}

/* Without a time of its own others decide: those that have been content all the while had time to find the fault. */
static void on_retry(evutil_socket_t fd, short what, void *ctx)
{
	struct health_passive *p = ctx;
	struct others others = others_of(p->h, p->in->object);

	if (waits_for_others(p->in) && (!others.any || !others.well))
		return;
	if (waits_for_others(p->in) && rest_of(p, others.wait))
		retry_after(p, rest_of(p, others.wait));
	else
		health_say(p->h, p->in, MON_UP, health_now_ms(), NULL);
}

static void retry_arm(struct health_passive *p)
{
	event_del(p->retry);
	if (p->in->said == MON_DOWN)
		retry_after(p, rest_of(p, p->in->monitor->passive.retry_time));
}

void health_passive_well(struct health *h, struct health_object *o)
{
	struct others others = others_of(h, o);

	for (struct health_inst *in = o->instances; in; in = in->next)
		if (waits_for_others(in) && others.any && others.well)
			health_say(h, in, MON_UP, health_now_ms(), NULL);
}

bool health_passive_forgive(struct health *h, struct health_object *o)
{
	bool forgiven = false;

	if (others_of(h, o).any)
		return false;
	for (struct health_inst *in = o->instances; in; in = in->next) {
		if (!waits_for_others(in))
			continue;
		health_say(h, in, MON_UP, health_now_ms(), NULL);
		forgiven = true;
	}
	return forgiven;
}

/* --- counting ------------------------------------------------------------------------------------- */

static void ring_fit(struct health_passive *p)
{
	unsigned size = p->in->monitor->passive.failures;

	if (size == p->size)
		return;
	free(p->failure);
	p->failure = size ? calloc(size, sizeof(*p->failure)) : NULL;
	p->size = p->failure ? size : 0;
	p->count = p->next = 0;
}

int health_passive_start(struct health *h, struct health_inst *in)
{
	struct health_passive *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->h = h;
	p->in = in;
	p->retry = evtimer_new(h->base, on_retry, p);
	if (!p->retry) {
		free(p);
		return -ENOMEM;
	}
	in->passive = p;
	retry_arm(p);
	return 0;
}

void health_passive_free(struct health_passive *p)
{
	if (!p)
		return;
	event_free(p->retry);
	free(p->failure);
	free(p);
}

void health_passive_changed(struct health *h, struct health_inst *in)
{
	if (in->passive)
		retry_arm(in->passive);
}

/* One more failure. True if they are enough, and near enough to each other. */
static bool failure_count(struct health_passive *p, uint64_t now)
{
	uint64_t interval = p->in->monitor->passive.failure_interval * NS_PER_SECOND;

	p->failure[p->next] = now;
	p->next = (p->next + 1) % p->size; /* the oldest, if the ring is full */
	p->count += p->count < p->size;
	if (p->count < p->size)
		return false;
	return interval == 0 || now - p->failure[p->next] <= interval;
}

static void taken_down(struct health_passive *p)
{
	const struct health_passive_conf *conf = &p->in->monitor->passive;
	char reason[MON_REASON_MAX];

	p->count = 0;
	if (conf->failure_interval)
		snprintf(reason, sizeof(reason), "%u connections failed within %u s",
			conf->failures, conf->failure_interval);
	else
		snprintf(reason, sizeof(reason), "%u connections failed", conf->failures);
	health_say(p->h, p->in, MON_DOWN, health_now_ms(), reason);
	retry_arm(p);
}

void health_passive_failed(
	struct health *h, struct health_inst *in, unsigned connections, uint64_t now_ns)
{
	struct health_passive *p = in->passive;

	if (!p || in->said == MON_DOWN)
		return;
	ring_fit(p);
	if (connections > p->size)
		connections = p->size;
	while (connections-- > 0)
		if (failure_count(p, now_ns)) {
			taken_down(p);
			return;
		}
}
