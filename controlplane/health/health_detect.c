/* SPDX-License-Identifier: BSD-3-Clause */
#include "health/health_detect.h"

#include <stdio.h>

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

struct health_detection health_detect(const struct health_timers *t)
{
	uint64_t first = t->up_interval ? t->up_interval : t->interval;
	uint64_t timed = first + (t->timeout > t->interval ? t->timeout - t->interval : t->timeout);
	struct health_detection d = {.silent = timed, .refusing = first, .wrong = timed};

	if (t->failures) {
		/* No answer counts as a failure when the next probe is due, a wrong one at once. */
		d.silent = smaller(timed, first + (uint64_t)t->failures * t->interval);
		d.wrong = smaller(timed, first + (uint64_t)(t->failures - 1) * t->interval);
	}
	return d;
}

/* The field that helps most: the one with the largest share of the time. */
static const char *advice(const struct health_timers *t)
{
	if (t->up_interval > t->interval && t->up_interval > t->timeout)
		return "lower up-interval";
	return t->up_interval ? "lower timeout or up-interval" : "lower timeout or interval";
}

bool health_detect_warn(const char *object, const struct health_timers *t, uint32_t limit,
	char *sentence, size_t size)
{
	struct health_detection d = health_detect(t);

	if (!limit || d.silent <= limit)
		return false;
	snprintf(sentence, size,
		"%s: a server that falls silent is noticed after up to %llu s, one that answers "
		"wrongly after up to %llu s, more than the %u s of sys db monitor.detectlimit: %s",
		object, (unsigned long long)d.silent, (unsigned long long)d.wrong, limit,
		advice(t));
	return true;
}
