/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/mon_rule.h"

void mon_rule_init(struct mon_rule *r, enum mon_verdict verdict)
{
	*r = (struct mon_rule){
		.verdict = verdict, .good = verdict == MON_DISABLED ? MON_DISABLED : MON_UP};
}

static bool is_up(const struct mon_rule *r)
{
	return r->verdict == MON_UP || r->verdict == MON_DISABLED;
}

static bool verdict_set(struct mon_rule *r, enum mon_verdict verdict)
{
	bool changed = r->verdict != verdict;

	r->verdict = verdict;
	return changed;
}

/* Enough good answers, for long enough? */
static bool rise(struct mon_rule *r, const struct mon_timing *t, uint64_t now)
{
	if (is_up(r))
		return verdict_set(r, r->good);
	if (!r->good_since || r->successes < t->successes || now < r->good_since + t->time_until_up)
		return false;
	return verdict_set(r, r->good);
}

static uint64_t time_allowed(const struct mon_timing *t)
{
	return t->timeout > t->interval ? t->timeout - t->interval : t->timeout;
}

void mon_rule_sent(struct mon_rule *r, uint64_t now)
{
	if (!r->unanswered)
		r->unanswered = now;
}

bool mon_rule_good(struct mon_rule *r, const struct mon_timing *t, uint64_t now,
	enum mon_verdict good, uint64_t pending)
{
	r->failures = 0;
	r->unanswered = pending;
	r->good = good;
	r->successes++;
	if (!r->good_since)
		r->good_since = now;
	return rise(r, t, now);
}

bool mon_rule_bad(struct mon_rule *r, const struct mon_timing *t, bool at_once)
{
	r->failures++;
	r->successes = 0;
	r->good_since = 0;
	if (!at_once && (!t->failures || r->failures < t->failures))
		return false;
	return verdict_set(r, MON_DOWN);
}

bool mon_rule_tick(struct mon_rule *r, const struct mon_timing *t, uint64_t now)
{
	if (r->verdict != MON_DOWN && r->unanswered && now >= r->unanswered + time_allowed(t)) {
		r->successes = 0;
		r->good_since = 0;
		return verdict_set(r, MON_DOWN);
	}
	return rise(r, t, now);
}

static void later(uint64_t *when, uint64_t now, uint64_t late)
{
	if (*when)
		*when = *when + late < now ? *when + late : now;
}

void mon_rule_forgive(struct mon_rule *r, uint64_t now, uint64_t late)
{
	later(&r->unanswered, now, late);
	later(&r->good_since, now, late);
}

bool mon_rule_waive(struct mon_rule *r)
{
	return r->verdict == MON_CHECKING && verdict_set(r, MON_UP);
}

uint64_t mon_rule_due(const struct mon_rule *r, const struct mon_timing *t)
{
	uint64_t due = MON_NEVER;

	if (r->verdict != MON_DOWN && r->unanswered)
		due = r->unanswered + time_allowed(t);
	if (!is_up(r) && r->good_since && r->successes >= t->successes &&
		r->good_since + t->time_until_up < due)
		due = r->good_since + t->time_until_up;
	return due;
}

uint64_t mon_rule_interval(const struct mon_rule *r, const struct mon_timing *t)
{
	return is_up(r) && t->up_interval ? t->up_interval : t->interval;
}
