/* SPDX-License-Identifier: BSD-3-Clause */
/* Passive monitors: they count failed connections of clients, which the dataplane tells. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "health/health_internal.h"

#define NS_PER_SECOND 1000000000ull

struct health_passive {
	struct health *h;
	struct health_inst *in;
	struct event *retry;
	unsigned size, count, next; /* of the ring: as many failures as make it down */
	uint64_t *failure;	    /* when, ns */
};

static void on_retry(evutil_socket_t fd, short what, void *ctx)
{
	struct health_passive *p = ctx;

	health_say(p->h, p->in, MON_UP, health_now_ms(), NULL);
}

/* It has been down since then. */
static void retry_arm(struct health_passive *p)
{
	uint64_t now = health_now_ms(), wait = p->in->monitor->passive.retry_time;
	uint64_t passed = now > p->in->since ? now - p->in->since : 0;
	struct timeval tv = {0};

	event_del(p->retry);
	if (p->in->said != MON_DOWN || wait == 0)
		return;
	if (passed < wait * 1000) {
		tv.tv_sec = (time_t)((wait * 1000 - passed) / 1000);
		tv.tv_usec = (suseconds_t)((wait * 1000 - passed) % 1000 * 1000);
	}
	event_add(p->retry, &tv);
}

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
