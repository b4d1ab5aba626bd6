/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/mon_rule.h"

#include "base/check.h"

#define T0 1000000u

static const struct mon_timing usual = {.interval = 5000, .timeout = 16000, .successes = 1};

static void silent_server_is_down_after_three_probes(void)
{
	struct mon_rule r;
	uint64_t now = T0;

	mon_rule_init(&r, MON_CHECKING);
	mon_rule_sent(&r, now);
	CHECK(mon_rule_good(&r, &usual, now, MON_UP, 0));
	CHECK_INT(r.verdict, MON_UP);
	CHECK(mon_rule_due(&r, &usual) == MON_NEVER);
	/* The next three probes get nothing; the third is sent at 15 s, down at 16 s. */
	for (int i = 1; i <= 3; i++) {
		now = T0 + 5000u * i;
		CHECK(!mon_rule_tick(&r, &usual, now));
		mon_rule_sent(&r, now);
	}
	CHECK_INT(mon_rule_due(&r, &usual), T0 + 16000);
	CHECK(!mon_rule_tick(&r, &usual, T0 + 15999));
	CHECK(mon_rule_tick(&r, &usual, T0 + 16000));
	CHECK_INT(r.verdict, MON_DOWN);
	CHECK(mon_rule_due(&r, &usual) == MON_NEVER);
	CHECK(!mon_rule_tick(&r, &usual, T0 + 99999));
}

static void short_timeout_counts_from_the_probe(void)
{
	struct mon_timing t = {.interval = 10000, .timeout = 3000, .successes = 1};
	struct mon_rule r;

	mon_rule_init(&r, MON_UP);
	mon_rule_sent(&r, T0);
	CHECK_INT(mon_rule_due(&r, &t), T0 + 3000);
	CHECK(mon_rule_tick(&r, &t, T0 + 3000));
}

static void bad_answers_wait_for_the_timeout(void)
{
	struct mon_rule r;

	mon_rule_init(&r, MON_UP);
	for (unsigned i = 0; i < 3; i++) {
		mon_rule_sent(&r, T0 + 5000 * i);
		CHECK(!mon_rule_bad(&r, &usual, false));
	}
	CHECK(mon_rule_tick(&r, &usual, T0 + 11000));
	CHECK_INT(r.verdict, MON_DOWN);
}

static void counted_failures(void)
{
	struct mon_timing t = {.interval = 1000, .timeout = 900000, .failures = 3, .successes = 2};
	struct mon_rule r;

	mon_rule_init(&r, MON_UP);
	CHECK(!mon_rule_bad(&r, &t, false));
	CHECK(!mon_rule_bad(&r, &t, false));
	CHECK(!mon_rule_good(&r, &t, T0, MON_UP, 0));
	CHECK(!mon_rule_bad(&r, &t, false));
	CHECK(!mon_rule_bad(&r, &t, false));
	CHECK(mon_rule_bad(&r, &t, false));
	CHECK_INT(r.verdict, MON_DOWN);
	CHECK(!mon_rule_good(&r, &t, T0, MON_UP, 0));
	CHECK(!mon_rule_bad(&r, &t, false));
	CHECK(!mon_rule_good(&r, &t, T0 + 1, MON_UP, 0));
	CHECK(mon_rule_good(&r, &t, T0 + 2, MON_UP, 0));
	CHECK_INT(r.verdict, MON_UP);
}

static void refusal_is_down_at_once(void)
{
	struct mon_rule r;

	mon_rule_init(&r, MON_UP);
	mon_rule_sent(&r, T0);
	CHECK(mon_rule_bad(&r, &usual, true));
	CHECK(!mon_rule_bad(&r, &usual, true));
}

static void time_until_up(void)
{
	struct mon_timing t = usual;
	struct mon_rule r;

	t.time_until_up = 20000;
	mon_rule_init(&r, MON_DOWN);
	CHECK(!mon_rule_good(&r, &t, T0, MON_UP, 0));
	CHECK_INT(mon_rule_due(&r, &t), T0 + 20000);
	CHECK(!mon_rule_bad(&r, &t, false));
	CHECK(mon_rule_due(&r, &t) == MON_NEVER);
	CHECK(!mon_rule_good(&r, &t, T0 + 10000, MON_UP, 0));
	CHECK(!mon_rule_tick(&r, &t, T0 + 29999));
	CHECK(mon_rule_tick(&r, &t, T0 + 30000));
	CHECK_INT(r.verdict, MON_UP);
	/* Already up: a good answer needs no time. */
	CHECK(mon_rule_good(&r, &t, T0 + 31000, MON_DISABLED, 0));
	CHECK_INT(r.verdict, MON_DISABLED);
}

static void later_probe_in_flight_keeps_its_own_time(void)
{
	struct mon_rule r;

	mon_rule_init(&r, MON_UP);
	mon_rule_sent(&r, T0);
	mon_rule_sent(&r, T0 + 5000);
	CHECK(!mon_rule_good(&r, &usual, T0 + 7000, MON_UP, T0 + 5000));
	CHECK_INT(mon_rule_due(&r, &usual), T0 + 16000);
}

static void resumed_verdicts_do_not_flap(void)
{
	for (int verdict = 0; verdict < MON_VERDICTS; verdict++) {
		struct mon_rule r;

		mon_rule_init(&r, (enum mon_verdict)verdict);
		CHECK(!mon_rule_tick(&r, &usual, T0));
		CHECK_INT(r.verdict, verdict);
	}
}

static void time_that_does_not_count(void)
{
	struct mon_rule r;

	mon_rule_init(&r, MON_UP);
	mon_rule_sent(&r, T0);
	mon_rule_forgive(&r, T0 + 60000, 58000);
	CHECK(!mon_rule_tick(&r, &usual, T0 + 60000));
	CHECK_INT(mon_rule_due(&r, &usual), T0 + 58000 + 11000);
	/* Never later than now, and a clock that is behind means nothing. */
	mon_rule_forgive(&r, T0 + 61000, 58000);
	CHECK_INT(mon_rule_due(&r, &usual), T0 + 61000 + 11000);
	CHECK(!mon_rule_tick(&r, &usual, T0));
}

static void who_need_not_answer_is_up(void)
{
	struct mon_rule r;

	mon_rule_init(&r, MON_CHECKING);
	CHECK(mon_rule_waive(&r));
	CHECK_INT(r.verdict, MON_UP);
	mon_rule_bad(&r, &usual, true);
	CHECK(!mon_rule_waive(&r));
	CHECK_INT(r.verdict, MON_DOWN);
}

int main(void)
{
	silent_server_is_down_after_three_probes();
	short_timeout_counts_from_the_probe();
	bad_answers_wait_for_the_timeout();
	counted_failures();
	refusal_is_down_at_once();
	time_until_up();
	later_probe_in_flight_keeps_its_own_time();
	resumed_verdicts_do_not_flap();
	time_that_does_not_count();
	who_need_not_answer_is_up();
	return 0;
}
