/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/mon_mean.h"

#include <stddef.h>

const char *mon_mean_judge(
	struct mon_mean *m, const struct mon_adaptive *a, double ms, unsigned long long now)
{
	const char *fault = NULL;
	double allowed = a->relative ? m->ms * a->value / 100 : a->value;
	double part;

	if (a->limit_ms && ms > a->limit_ms)
		fault = "response time is above the limit";
	else if (m->count >= MON_MEAN_SAMPLES && ms - m->ms > allowed &&
		 ms - m->ms > MON_MEAN_FLOOR_MS)
		fault = "response time is far above its mean";
	if (m->count < MON_MEAN_SAMPLES) {
		part = 1.0 / ++m->count;
	} else {
		part = (double)(now - m->last) / (a->timespan * 1000.0);
		part = part > 1 ? 1 : part;
	}
	m->ms += (ms - m->ms) * part;
	m->last = now;
	return fault;
}
