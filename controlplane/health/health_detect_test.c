/* SPDX-License-Identifier: BSD-3-Clause */
#undef NDEBUG
#include "health/health_detect.h"

#include <assert.h>
#include <string.h>

static void expect(struct health_timers t, uint64_t silent, uint64_t refusing, uint64_t wrong)
{
	struct health_detection d = health_detect(&t);

	assert(d.silent == silent);
	assert(d.refusing == refusing);
	assert(d.wrong == wrong);
}

static void test_by_timeout(void)
{
	/* LTM's defaults: three calls without answer. */
	expect((struct health_timers){.interval = 5, .timeout = 16}, 16, 5, 16);
	/* A long interval while up is waited for once. */
	expect((struct health_timers){.interval = 5, .up_interval = 60, .timeout = 16}, 71, 60, 71);
	/* A timeout within the interval starts with the probe. */
	expect((struct health_timers){.interval = 30, .timeout = 10}, 40, 30, 40);
	expect((struct health_timers){.interval = 30, .timeout = 30}, 60, 30, 60);
	expect((struct health_timers){.interval = 86400, .up_interval = 86400, .timeout = 900},
		87300, 86400, 87300);
}

static void test_by_count(void)
{
	expect((struct health_timers){.interval = 5, .timeout = 16, .failures = 1}, 10, 5, 5);
	expect((struct health_timers){.interval = 5, .timeout = 31, .failures = 3}, 20, 5, 15);
	/* Whatever comes first. */
	expect((struct health_timers){.interval = 5, .timeout = 16, .failures = 100}, 16, 5, 16);
	expect((struct health_timers){.interval = 86400, .timeout = 900, .failures = UINT32_MAX},
		87300, 86400, 87300);
}

static void test_warning(void)
{
	struct health_timers t = {.interval = 5, .up_interval = 60, .timeout = 16};
	char text[400];

	assert(health_detect_warn("ltm monitor http /Common/app", &t, 60, text, sizeof(text)));
	assert(!strncmp(text, "ltm monitor http /Common/app: a server that falls silent ", 57));
	assert(strstr(text, " 71 s") && strstr(text, "the 60 s of sys db monitor.detectlimit"));
	assert(strstr(text, "lower up-interval"));
	/* The limit itself is met. */
	assert(!health_detect_warn("", &t, 71, text, sizeof(text)));
	assert(health_detect_warn("", &t, 70, text, sizeof(text)));
	/* 0: nobody wants to know. */
	assert(!health_detect_warn("", &t, 0, text, sizeof(text)));
	t = (struct health_timers){.interval = 30, .timeout = 91};
	assert(health_detect_warn("", &t, 60, text, sizeof(text)));
	assert(strstr(text, "lower timeout or interval"));
}

int main(void)
{
	test_by_timeout();
	test_by_count();
	test_warning();
	return 0;
}
