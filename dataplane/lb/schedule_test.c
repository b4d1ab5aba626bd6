/* SPDX-License-Identifier: BSD-3-Clause */
#include "lb/schedule.h"

#include "base/check.h"

static uint32_t count(const struct schedule *s, uint32_t first, uint32_t n, uint32_t row)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < n; i++)
		found += s->entry[(first + i) % s->length] == row;
	return found;
}

/* 4:3:2:1 in any ten consecutive tickets, and never the same one three times running. */
static void test_ratio(void)
{
	const uint32_t rows[] = {7, 8, 9, 10}, weights[] = {40, 30, 20, 10};
	struct schedule *s = schedule_new(rows, weights, 4);

	CHECK_INT(s->length, 10);
	for (uint32_t first = 0; first < 10; first++)
		for (uint32_t m = 0; m < 4; m++)
			CHECK_INT(count(s, first, 10, rows[m]), 4 - m);
	for (uint32_t i = 0; i < 10; i++)
		CHECK(s->entry[i] != s->entry[(i + 1) % 10] ||
			s->entry[i] != s->entry[(i + 2) % 10]);
	schedule_free(s);
}

/* Smooth: after any t tickets a member has had t * weight / sum, give or take one. */
static void test_smooth(void)
{
	const uint32_t rows[] = {0, 1, 2, 3, 4}, weights[] = {997, 3, 1, 500, 41};
	uint32_t sum = 1542, had[5] = {0};
	struct schedule *s = schedule_new(rows, weights, 5);

	CHECK_INT(s->length, sum);
	for (uint32_t t = 0; t < sum; t++) {
		had[s->entry[t]]++;
		for (uint32_t m = 0; m < 5; m++) {
			double due = (double)(t + 1) * weights[m] / sum;
			CHECK(had[m] <= due + 1.0 && had[m] >= due - 1.0);
		}
	}
	schedule_free(s);
}

static void test_long_cycle_is_scaled(void)
{
	const uint32_t rows[] = {1, 2, 3}, weights[] = {65535, 65534, 1};
	struct schedule *s = schedule_new(rows, weights, 3);

	CHECK(s->length <= SCHEDULE_MAX && s->length > SCHEDULE_MAX - 3);
	CHECK(count(s, 0, s->length, 3) >= 1);
	long difference = (long)count(s, 0, s->length, 1) - (long)count(s, 0, s->length, 2);
	CHECK(difference >= -1 && difference <= 1);
	schedule_free(s);
}

static void test_edges(void)
{
	const uint32_t rows[] = {5}, weights[] = {65535};
	struct schedule *s = schedule_new(rows, weights, 0);

	CHECK_INT(s->length, 0);
	schedule_free(s);
	s = schedule_new(rows, weights, 1);
	CHECK_INT(s->length, 1);
	CHECK_INT(s->entry[0], 5);
	schedule_free(s);
	CHECK(schedule_new(rows, weights, SCHEDULE_MAX + 1) == NULL);
}

int main(void)
{
	test_ratio();
	test_smooth();
	test_long_cycle_is_scaled();
	test_edges();
	return 0;
}
