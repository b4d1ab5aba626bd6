/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/check.h"
#include "core/idle.h"

/* What a worker sleeps over a run of empty turns: the clock is the sum of what idle_next says. */
static void test_back_off(void)
{
	uint32_t empty = 0;

	for (unsigned i = 0; i < 64; i++)
		CHECK_INT(idle_next(&empty, false), 0);
	for (unsigned i = 64; i < 1000; i++)
		CHECK_INT(idle_next(&empty, false), 50000);
	for (unsigned i = 0; i < 100000; i++)
		CHECK_INT(idle_next(&empty, false), 200000);
}

static void test_work_ends_sleep(void)
{
	uint32_t empty = 0;

	for (unsigned i = 0; i < 5000; i++)
		idle_next(&empty, false);
	CHECK_INT(idle_next(&empty, true), 0);
	for (unsigned i = 0; i < 64; i++)
		CHECK_INT(idle_next(&empty, false), 0);
	CHECK_INT(idle_next(&empty, false), 50000);
}

int main(void)
{
	test_back_off();
	test_work_ends_sleep();
	return 0;
}
