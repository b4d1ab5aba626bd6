/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "monitor/mon.h"

#define FIRST_GAP_NS 250000u /* between the first probes of new instances: 4,000 a second */

uint64_t mon_now_ms(void)
{
	return clock_ns() / 1000000;
}

static const struct mon_timing *timing(const struct mon_instance *in)
{
	return &in->monitor->timing;
}

/* --- the timer ---------------------------------------------------------------------------------- */

static void arm(struct mon_instance *in, uint64_t now)
{
	uint64_t when = mon_rule_due(&in->rule, timing(in));
	struct mon_probe *p;

	if (in->mon->path_closed)
		return;
	if (in->due_ms < when)
		when = in->due_ms;
	TAILQ_FOREACH(p, &in->probes, entry)
	if (p->expire_ms < when)
		when = p->expire_ms;
	when = when < now ? now : when;
	if (when == in->armed_ms)
		return;
	in->armed_ms = when;
	uint64_t wait = when - now;
	struct timeval tv = {.tv_sec = (time_t)(wait / 1000), .tv_usec = wait % 1000 * 1000};
	evtimer_add(&in->timer, &tv);
}

/* Where in the interval the instance belongs: the golden ratio spreads any number of them evenly. Never later
 * than the interval, so that a fault after the first probe is not noticed later than other faults. */
static uint64_t place(struct mon_instance *in, uint64_t interval)
{
	uint64_t fraction = in->mon->spread++ * 0x9e3779b97f4a7c15u;

	in->placed = true;
	return 1 + (uint64_t)((double)fraction / 0x1p64 * (double)interval);
}

/* When the first probe of a new instance goes: soon, but not all at once. */
static uint64_t first_slot(struct mon *mon)
{
	uint64_t now = clock_ns();

	if (mon->next_first_ns < now)
		mon->next_first_ns = now;
	mon->next_first_ns += FIRST_GAP_NS;
	return mon->next_first_ns / 1000000;
}

/* --- verdicts ----------------------------------------------------------------------------------- */

static void text_set(char **to, const char *text)
{
	if (*to && !strcmp(*to, text))
		return;
	free(*to);
	*to = *text ? strdup(text) : NULL;
}

static void instance_verdict(struct mon_instance *in, enum mon_verdict verdict, const char *reason)
{
	in->rule.verdict = verdict;
	in->verdict_time = (int64_t)clock_wall_ms();
	in->verdict_response_ms = in->response_ms;
	text_set(&in->reason, reason);
	mon_link_verdict(in);
}

void mon_instance_advise(struct mon_instance *in, json_t *message)
{
	if (!message || (in->advice && json_equal(in->advice, message))) {
		json_decref(message);
		return;
	}
	json_decref(in->advice);
	in->advice = message;
	mon_link_send(in->mon, json_incref(message));
}

static void fault_note(struct mon_instance *in, const char *reason)
{
	text_set(&in->last_error, *reason ? reason : "no good answer");
	in->error_time = (int64_t)clock_wall_ms();
}

static const char *reason_of(const struct mon_instance *in)
{
	switch (in->rule.verdict) {
	case MON_UP:
		return "good answer";
	case MON_DISABLED:
		return "recv-disable matched";
	default:
		return in->last_error ? in->last_error : "no answer in time";
	}
}

/* Start of the oldest probe in flight whose answer is waited for, or 0. */
static uint64_t oldest_pending(const struct mon_instance *in)
{
	const struct mon_probe *p = TAILQ_FIRST(&in->probes);

	return p && !in->monitor->type->advice ? p->start_ns / 1000000 : 0;
}

/* What came before the probe that was answered will hardly be. */
static void abort_older(struct mon_instance *in, uint64_t start_ns)
{
	struct mon_probe *p;

	while ((p = TAILQ_FIRST(&in->probes)) && p->start_ns < start_ns)
		mon_probe_abort(p);
}

static bool result_good(
	struct mon_instance *in, const struct mon_probe *p, enum mon_outcome outcome, uint64_t now)
{
	const struct mon_adaptive *adaptive = &in->monitor->adaptive;

	in->response_ms = p->quiet && !p->any ? -1 : (double)(clock_ns() - p->start_ns) / 1e6;
	if (adaptive->enabled && in->response_ms >= 0) {
		const char *fault = mon_mean_judge(&in->mean, adaptive, in->response_ms, now);

		if (fault) {
			in->bad_count++;
			fault_note(in, fault);
			return mon_rule_bad(&in->rule, timing(in), false);
		}
	}
	in->good_count++;
	abort_older(in, p->start_ns);
	return mon_rule_good(&in->rule, timing(in), now,
		outcome == MON_GOOD_DISABLED ? MON_DISABLED : MON_UP, oldest_pending(in));
}

/* The rule must not count the time in which nothing was asked. Who only advises holds nobody up by silence. */
static bool result_nothing(struct mon_instance *in, const struct mon_probe *p)
{
	fault_note(in, p->reason);
	in->rule.unanswered = oldest_pending(in);
	return in->monitor->type->advice && mon_rule_waive(&in->rule);
}

void mon_instance_result(struct mon_instance *in, const struct mon_probe *p, enum mon_outcome o)
{
	uint64_t now = mon_now_ms();
	bool changed = false;

	if (in->monitor->type->advice && !p->step)
		o = MON_NOTHING;
	if (o == MON_NOTHING) {
		changed = result_nothing(in, p);
	} else if (o == MON_GOOD || o == MON_GOOD_DISABLED) {
		changed = result_good(in, p, o, now);
		in->due_ms = in->slot_ms + mon_rule_interval(&in->rule, timing(in));
	} else {
		in->bad_count++;
		fault_note(in, p->reason);
		changed = mon_rule_bad(&in->rule, timing(in), o == MON_BAD_NOW);
	}
	in->judged = true;
	if (!in->placed)
		in->due_ms = in->slot_ms + place(in, timing(in)->interval);
	if (changed)
		instance_verdict(in, in->rule.verdict, reason_of(in));
	arm(in, now);
}

/* --- probing ------------------------------------------------------------------------------------ */

static void probe_send(struct mon_instance *in, uint64_t now)
{
	unsigned most = in->rule.verdict == MON_DOWN ? MON_FLIGHT_DOWN_MAX : MON_FLIGHT_MAX;

	in->judged = in->monitor->type->advice;
	/* The oldest may still get its slow answer; the newest gives way to a fresh one. */
	if (in->flight >= most)
		mon_probe_abort(TAILQ_LAST(&in->probes, mon_probes));
	in->probes_count++;
	if (!in->monitor->type->advice)
		mon_rule_sent(&in->rule, now);
	if (!mon_probe_start(in))
		in->rule.unanswered = oldest_pending(in);
}

static void probe_due(struct mon_instance *in, uint64_t now)
{
	if (in->flight && !in->judged) {
		fault_note(in, "no answer until the next probe");
		if (mon_rule_bad(&in->rule, timing(in), false))
			instance_verdict(in, in->rule.verdict, reason_of(in));
	}
	/* After a long stop of our own there is one probe, not all that were missed. */
	in->slot_ms = now - in->due_ms < timing(in)->interval ? in->due_ms : now;
	in->due_ms = in->slot_ms + timing(in)->interval;
	if (!in->placed && in->flight)
		in->due_ms =
			in->slot_ms + timing(in)->interval / 2 + place(in, timing(in)->interval);
	probe_send(in, now);
}

void mon_instance_forgive(struct mon_instance *in, uint64_t late_ms)
{
	uint64_t now = mon_now_ms();
	struct mon_probe *p;

	in->slot_ms += late_ms;
	in->due_ms += late_ms;
	mon_rule_forgive(&in->rule, now, late_ms);
	TAILQ_FOREACH(p, &in->probes, entry)
	{
		uint64_t start = p->start_ns + late_ms * 1000000;

		p->expire_ms += late_ms;
		p->start_ns = start < now * 1000000 ? start : now * 1000000;
	}
	arm(in, now);
}

static void on_timer(evutil_socket_t fd, short what, void *ctx)
{
	struct mon_instance *in = ctx;
	uint64_t now = mon_now_ms();
	struct mon_probe *p, *next;

	in->armed_ms = 0;
	for (p = TAILQ_FIRST(&in->probes); p; p = next) {
		next = TAILQ_NEXT(p, entry);
		if (p->expire_ms > now)
			continue;
		mon_probe_expire(p);
		next = TAILQ_FIRST(&in->probes); /* others may have gone with it */
	}
	if (now >= in->due_ms)
		probe_due(in, now);
	if (mon_rule_tick(&in->rule, timing(in), now))
		instance_verdict(in, in->rule.verdict, reason_of(in));
	arm(in, now);
}

void mon_instance_start(struct mon_instance *in)
{
	in->slot_ms = in->due_ms = first_slot(in->mon);
	event_assign(&in->timer, in->mon->base, -1, 0, on_timer, in);
	arm(in, mon_now_ms());
}

void mon_instance_changed(struct mon_instance *in)
{
	struct mon_probe *p;

	while ((p = TAILQ_FIRST(&in->probes)))
		mon_probe_abort(p);
	in->rule.unanswered = in->rule.good_since = 0;
	in->rule.failures = in->rule.successes = 0;
	in->mean = (struct mon_mean){0};
	json_decref(in->advice);
	in->advice = NULL;
	in->placed = false;
	in->slot_ms = in->due_ms = first_slot(in->mon);
	arm(in, mon_now_ms());
}

void mon_instance_stop(struct mon_instance *in)
{
	struct mon_probe *p;

	while ((p = TAILQ_FIRST(&in->probes)))
		mon_probe_abort(p);
	event_del(&in->timer);
}

static void path_changed(struct mon_instance *in, void *ctx)
{
	mon_instance_stop(in);
	in->armed_ms = 0;
	mon_instance_changed(in);
}

void mon_path_set(struct mon *mon, bool open)
{
	if (mon->path_closed == !open)
		return;
	mon->path_closed = !open;
	log_notice("probes: %s", open ? "go on" : "wait: servers cannot be reached");
	mon_each_instance(mon, path_changed, NULL);
}

void mon_instance_probe_now(struct mon_instance *in)
{
	if (in->mon->path_closed)
		return;
	probe_send(in, mon_now_ms());
	arm(in, mon_now_ms());
}
