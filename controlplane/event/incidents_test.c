/* SPDX-License-Identifier: BSD-3-Clause */
#include "event/incidents.h"

#include "base/check.h"

enum { STATE = 1, HOLD };

static struct incidents *s;

static struct incident_thing thing(const char *name)
{
	return (struct incident_thing){.kind = "k", .object = name, .aspect = STATE};
}

static struct incident_note bad(
	const char *name, const char *because, const char *beside, uint64_t number, uint64_t now)
{
	struct incident_thing t = thing(name), b = thing(because), c = thing(beside);
	uint64_t because_key = incident_key(&b), beside_key = incident_key(&c);

	return incidents_bad(
		s, &t, &because_key, because != NULL, &beside_key, beside != NULL, number, now);
}

static struct incident_note good(const char *name, uint64_t now)
{
	struct incident_thing t = thing(name);

	return incidents_good(s, &t, false, now);
}

static void is(struct incident_note n, uint64_t number, unsigned part, uint64_t duration)
{
	CHECK_INT(n.number, number);
	CHECK_INT(n.part, part);
	CHECK_INT(n.duration, duration);
}

/* A server takes its pool and the virtual server with it. */
static void test_chain(void)
{
	s = incidents_new();
	is(bad("member", NULL, NULL, 10, 1000), 10, EVENT_OPENS, 0);
	is(bad("pool", "member", NULL, 11, 1000), 10, EVENT_ALSO, 0);
	is(bad("virtual", "pool", NULL, 12, 1000), 10, EVENT_ALSO, 0);
	is(bad("member", NULL, NULL, 13, 1001), 10, EVENT_ALSO, 0);
	CHECK_INT(incidents_open(s), 1);
	is(good("member", 1090), 10, EVENT_CLOSES, 90);
	is(good("pool", 1090), 10, EVENT_ALSO, 0);
	is(good("virtual", 1090), 10, EVENT_ALSO, 0);
	is(good("virtual", 1090), 0, EVENT_NO_PART, 0);
	CHECK_INT(incidents_open(s), 0);
	incidents_free(s);
}

/* The last server of a pool is what took it: the pool joins the latest. */
static void test_several_causes(void)
{
	struct incident_thing a = thing("a"), b = thing("b"), pool = thing("pool");
	uint64_t keys[] = {incident_key(&a), incident_key(&b)};

	s = incidents_new();
	is(bad("a", NULL, NULL, 1, 10), 1, EVENT_OPENS, 0);
	is(bad("b", NULL, NULL, 2, 20), 2, EVENT_OPENS, 0);
	is(incidents_bad(s, &pool, keys, 2, NULL, 0, 3, 20), 2, EVENT_ALSO, 0);
	is(good("a", 30), 1, EVENT_CLOSES, 20);
	is(good("pool", 30), 2, EVENT_ALSO, 0);
	is(good("b", 40), 2, EVENT_CLOSES, 20);
	incidents_free(s);
}

/* A member fell just before its node: one incident, until both are back. */
static void test_beside(void)
{
	s = incidents_new();
	is(bad("member", "node", NULL, 1, 100), 1, EVENT_OPENS, 0);
	is(bad("node", NULL, "member", 2, 105), 1, EVENT_ALSO, 0);
	is(bad("other", "node", NULL, 3, 105), 1, EVENT_ALSO, 0);
	is(good("member", 200), 1, EVENT_ALSO, 0);
	is(good("node", 210), 1, EVENT_CLOSES, 110);
	is(good("other", 210), 1, EVENT_ALSO, 0);
	is(bad("member", NULL, NULL, 20, 1000), 20, EVENT_OPENS, 0);
	is(bad("node", NULL, "member", 21, 1000 + INCIDENT_TOGETHER_SECONDS + 1), 21, EVENT_OPENS,
		0);
	incidents_free(s);
}

static void test_flapping(void)
{
	struct incident_thing t = thing("x");

	s = incidents_new();
	is(bad("x", NULL, NULL, 1, 100), 1, EVENT_OPENS, 0);
	is(good("x", 110), 1, EVENT_CLOSES, 10);
	CHECK(!incidents_would_open(s, &t, NULL, 0, 120));
	is(bad("x", NULL, NULL, 5, 120), 1, EVENT_OPENS, 0);
	CHECK_INT(incidents_open(s), 1);
	is(good("x", 130), 1, EVENT_CLOSES, 30);
	incidents_tidy(s, 130 + INCIDENT_REOPEN_SECONDS);
	CHECK(!incidents_would_open(s, &t, NULL, 0, 130 + INCIDENT_REOPEN_SECONDS));
	incidents_tidy(s, 131 + INCIDENT_REOPEN_SECONDS);
	CHECK(incidents_would_open(s, &t, NULL, 0, 131 + INCIDENT_REOPEN_SECONDS));
	is(bad("x", NULL, NULL, 9, 200), 9, EVENT_OPENS, 0);
	is(incidents_good(s, &t, true, 210), 9, EVENT_CLOSES, 10);
	is(bad("x", NULL, NULL, 12, 211), 12, EVENT_OPENS, 0);
	incidents_free(s);
}

static void restore_one(void *ctx, const struct incident_entry *e)
{
	CHECK_INT(incidents_restore(ctx, e), 0);
}

static void test_restart(void)
{
	struct incidents *old, *fresh = incidents_new();

	s = old = incidents_new();
	bad("a", NULL, NULL, 1, 100);
	bad("pool", "a", NULL, 2, 100);
	bad("b", NULL, NULL, 3, 100);
	good("b", 110);
	incidents_each(old, restore_one, fresh);
	incidents_free(old);
	s = fresh;
	CHECK_INT(incidents_open(s), 1);
	is(bad("a", NULL, NULL, 9, 120), 1, EVENT_ALSO, 0);
	is(bad("pool", NULL, NULL, 9, 120), 1, EVENT_ALSO, 0);
	is(bad("b", NULL, NULL, 10, 120), 3, EVENT_OPENS, 0);
	is(good("b", 130), 3, EVENT_CLOSES, 30);
	is(good("a", 150), 1, EVENT_CLOSES, 50);
	CHECK_INT(incidents_open(s), 0);
	incidents_free(s);
}

int main(void)
{
	test_chain();
	test_several_causes();
	test_beside();
	test_flapping();
	test_restart();
	return 0;
}
