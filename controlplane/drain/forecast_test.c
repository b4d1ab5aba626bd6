/* SPDX-License-Identifier: BSD-3-Clause */
#include "drain/forecast.h"

#include <math.h>

#include "base/check.h"

static struct forecast f;

/* Samples of n0 x e^(-k t), one each step until end. Returns the last time. */
static uint64_t fall(double n0, double k, uint64_t end_ms)
{
	uint64_t t;

	f = (struct forecast){0};
	for (t = 0; t <= end_ms; t += 100)
		forecast_add(&f, 1000000 + t, (uint32_t)lround(n0 * exp(-k * (double)t / 1000)));
	return t - 100;
}

static void test_nothing_is_known_at_first(void)
{
	f = (struct forecast){0};
	CHECK_INT(forecast_zero(&f), -1);
	forecast_add(&f, 5, 100);
	forecast_add(&f, 6, 50);
	CHECK_INT(f.count, 1);
	CHECK_INT(forecast_zero(&f), -1);
}

static void test_exponential(void)
{
	/* 1000 e^(-t/5): below one half after 38 s. */
	uint64_t at = fall(1000, 0.2, 10000);
	int64_t left = forecast_zero(&f);

	CHECK_INT(at, 10000);
	CHECK(left > 25000 && left < 31000);
}

static void test_nothing_leaves(void)
{
	fall(7, 0, 60000);
	CHECK_INT(forecast_zero(&f), -1);
	f = (struct forecast){0};
	for (unsigned t = 0; t < 60; t++) /* more come than go */
		forecast_add(&f, 1000 * t, 10 + t);
	CHECK_INT(forecast_zero(&f), -1);
}

/* Nine left in the first seconds, one has been staying ever since. */
static void test_last_one_stays(void)
{
	f = (struct forecast){0};
	for (unsigned t = 0; t < 40; t++)
		forecast_add(&f, 1000 * t, t < 9 ? 10 - t : 1);
	CHECK_INT(forecast_zero(&f), -1);
}

static void test_window_is_bounded(void)
{
	for (uint64_t t = 0; t < 3600; t++)
		forecast_add(&f, 100000000 + t * 1000, (uint32_t)(10000 - t));
	CHECK(f.count <= FORECAST_SAMPLES);
	CHECK(f.at_ms[f.count - 1] - f.at_ms[0] <= FORECAST_SAMPLES * FORECAST_STEP_MAX_MS);
	CHECK(forecast_zero(&f) > 0);
	forecast_add(&f, 200000000, 0);
	CHECK_INT(forecast_zero(&f), 0);
}

int main(void)
{
	test_nothing_is_known_at_first();
	test_exponential();
	test_nothing_leaves();
	test_last_one_stays();
	test_window_is_bounded();
	return 0;
}
