/* SPDX-License-Identifier: BSD-3-Clause */
#include "drain/forecast.h"

#include <math.h>
#include <string.h>

/* A window that is full shows twice the time with every other sample, or moves on. */
static void make_room(struct forecast *f)
{
	if (f->step_ms >= FORECAST_STEP_MAX_MS) {
		f->count--;
		memmove(f->at_ms, f->at_ms + 1, f->count * sizeof(*f->at_ms));
		memmove(f->value, f->value + 1, f->count * sizeof(*f->value));
		return;
	}
	for (unsigned i = 0; i < f->count / 2; i++) {
		f->at_ms[i] = f->at_ms[2 * i + 1];
		f->value[i] = f->value[2 * i + 1];
	}
	f->count /= 2;
	f->step_ms *= 2;
}

void forecast_add(struct forecast *f, uint64_t now_ms, uint32_t value)
{
	if (!f->step_ms)
		f->step_ms = FORECAST_STEP_MIN_MS;
	if (f->count && now_ms < f->at_ms[f->count - 1] + f->step_ms)
		return;
	if (f->count == FORECAST_SAMPLES)
		make_room(f);
	f->at_ms[f->count] = now_ms;
	f->value[f->count++] = value;
}

/* Slope of ln(value) per ms, by least squares. */
static double slope_of(const struct forecast *f)
{
	double n = f->count, t = 0, y = 0, tt = 0, ty = 0;

	for (unsigned i = 0; i < f->count; i++) {
		double x = (double)(f->at_ms[i] - f->at_ms[0]), v = log(f->value[i] + 0.5);

		t += x;
		y += v;
		tt += x * x;
		ty += x * v;
	}
	double divisor = n * tt - t * t;
	return divisor > 0 ? (n * ty - t * y) / divisor : 0;
}

int64_t forecast_zero(const struct forecast *f)
{
	if (f->count < 4)
		return -1;
	uint32_t last = f->value[f->count - 1];
	if (last == 0)
		return 0;
	/* What left long ago says nothing of those that stay. */
	if (f->value[f->count / 2] <= last)
		return -1;
	double slope = slope_of(f);
	double left = slope < 0 ? log(last + 0.5) / -slope : -1;
	return left >= 0 && left < 1e12 ? (int64_t)left : -1;
}
