/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of reference/ltm.md section 5, row by row. */
#include "state/state.h"

#include <stddef.h>

#include "base/check.h"

enum { OFFLINE = HOLD_SESSION | HOLD_STATE };

static const struct server_row {
	const char *what;
	struct state_side own;
	int node_holds, node_verdict; /* -1: a node, it has no parent */
	uint8_t avail, availability, enabled, monitor, session;
} servers[] = {
	{"node, no monitor", {0, VERDICT_UNCHECKED, false}, -1, 0, LIVE_BITS, AVAILABILITY_BLUE,
		STATUS_ENABLED, MONITOR_UNCHECKED, SESSION_ENABLED},
	{"node, disabled", {HOLD_SESSION, VERDICT_UP, false}, -1, 0, LIVE_PERSISTED,
		AVAILABILITY_GREEN, STATUS_DISABLED, MONITOR_UP, SESSION_FORCED_DISABLED},
	{"node, forced offline", {OFFLINE, VERDICT_UP, false}, -1, 0, 0, AVAILABILITY_RED,
		STATUS_DISABLED, MONITOR_FORCED_DOWN, SESSION_FORCED_DISABLED},
	{"enabled, up", {0, VERDICT_UP, false}, 0, VERDICT_UNCHECKED, LIVE_BITS, AVAILABILITY_GREEN,
		STATUS_ENABLED, MONITOR_UP, SESSION_ENABLED},
	{"enabled, unknown", {0, VERDICT_UNCHECKED, false}, 0, VERDICT_UNCHECKED, LIVE_BITS,
		AVAILABILITY_BLUE, STATUS_ENABLED, MONITOR_UNCHECKED, SESSION_ENABLED},
	{"new, checking", {0, VERDICT_CHECKING, false}, 0, VERDICT_UNCHECKED, 0, AVAILABILITY_BLUE,
		STATUS_ENABLED, MONITOR_CHECKING, SESSION_ENABLED},
	{"in use, checking", {0, VERDICT_RECHECKING, false}, 0, VERDICT_UNCHECKED, LIVE_BITS,
		AVAILABILITY_BLUE, STATUS_ENABLED, MONITOR_CHECKING, SESSION_ENABLED},
	{"node new, checking", {0, VERDICT_UP, false}, 0, VERDICT_CHECKING, 0, AVAILABILITY_BLUE,
		STATUS_ENABLED, MONITOR_UP, SESSION_ENABLED},
	{"waits for manual resume", {0, VERDICT_RESUME, false}, 0, VERDICT_UNCHECKED, 0,
		AVAILABILITY_RED, STATUS_ENABLED, MONITOR_WAIT_FOR_RESUME, SESSION_ENABLED},
	{"node waits for manual resume", {0, VERDICT_UP, false}, 0, VERDICT_RESUME, 0,
		AVAILABILITY_RED, STATUS_ENABLED, MONITOR_ADDRESS_DOWN, SESSION_ENABLED},
	{"unchecked, node up", {0, VERDICT_UNCHECKED, false}, 0, VERDICT_UP, LIVE_BITS,
		AVAILABILITY_GREEN, STATUS_ENABLED, MONITOR_UNCHECKED, SESSION_ENABLED},
	/* The dataplane counts and refuses by itself: avail stays. */
	{"up, at limit", {0, VERDICT_UP, true}, 0, VERDICT_UNCHECKED, LIVE_BITS,
		AVAILABILITY_YELLOW, STATUS_ENABLED, MONITOR_UP, SESSION_ENABLED},
	{"disabled", {HOLD_SESSION, VERDICT_UP, false}, 0, VERDICT_UNCHECKED, LIVE_PERSISTED,
		AVAILABILITY_GREEN, STATUS_DISABLED, MONITOR_UP, SESSION_FORCED_DISABLED},
	{"disabled, unknown", {HOLD_SESSION, VERDICT_UNCHECKED, false}, 0, VERDICT_UNCHECKED,
		LIVE_PERSISTED, AVAILABILITY_BLUE, STATUS_DISABLED, MONITOR_UNCHECKED,
		SESSION_FORCED_DISABLED},
	{"forced offline", {OFFLINE, VERDICT_UP, false}, 0, VERDICT_UNCHECKED, 0, AVAILABILITY_RED,
		STATUS_DISABLED, MONITOR_FORCED_DOWN, SESSION_FORCED_DISABLED},
	{"user-down alone", {HOLD_STATE, VERDICT_UP, false}, 0, VERDICT_UNCHECKED, 0,
		AVAILABILITY_RED, STATUS_DISABLED, MONITOR_FORCED_DOWN, SESSION_ENABLED},
	{"monitor down", {0, VERDICT_DOWN, false}, 0, VERDICT_UNCHECKED, 0, AVAILABILITY_RED,
		STATUS_ENABLED, MONITOR_DOWN, SESSION_ENABLED},
	{"monitor down, disabled", {HOLD_SESSION, VERDICT_DOWN, false}, 0, VERDICT_UNCHECKED, 0,
		AVAILABILITY_RED, STATUS_DISABLED, MONITOR_DOWN, SESSION_FORCED_DISABLED},
	{"node disabled", {0, VERDICT_UP, false}, HOLD_SESSION, VERDICT_UNCHECKED, LIVE_PERSISTED,
		AVAILABILITY_GREEN, STATUS_DISABLED_BY_PARENT, MONITOR_UP,
		SESSION_ADDRESS_DISABLED},
	{"node forced offline", {0, VERDICT_UP, false}, OFFLINE, VERDICT_UNCHECKED, 0,
		AVAILABILITY_RED, STATUS_DISABLED_BY_PARENT, MONITOR_ADDRESS_DOWN,
		SESSION_ADDRESS_DISABLED},
	{"node down", {0, VERDICT_UP, false}, 0, VERDICT_DOWN, 0, AVAILABILITY_RED, STATUS_ENABLED,
		MONITOR_ADDRESS_DOWN, SESSION_ENABLED},
	{"recv-disable matched", {0, VERDICT_DRAIN, false}, 0, VERDICT_UNCHECKED, LIVE_PERSISTED,
		AVAILABILITY_GREEN, STATUS_DISABLED, MONITOR_UP, SESSION_DISABLED},
	{"node drains", {0, VERDICT_UP, false}, 0, VERDICT_DRAIN, LIVE_PERSISTED,
		AVAILABILITY_GREEN, STATUS_DISABLED_BY_PARENT, MONITOR_UP,
		SESSION_ADDRESS_DISABLED},
};

static void test_servers(void)
{
	for (size_t i = 0; i < sizeof(servers) / sizeof(*servers); i++) {
		const struct server_row *r = &servers[i];
		struct state_side node = {(uint8_t)r->node_holds, (uint8_t)r->node_verdict, false};
		struct state s = state_of_server(&r->own, r->node_holds < 0 ? NULL : &node);

		if (s.avail != r->avail || s.availability != r->availability ||
			s.enabled != r->enabled || s.monitor != r->monitor ||
			s.session != r->session || !s.reason) {
			fprintf(stderr, "%s: avail %u, %s, %s, %s, %s\n", r->what, s.avail,
				state_colour_name(s.availability), state_enabled_name(s.enabled),
				state_monitor_name(s.monitor), state_session_name(s.session));
			abort();
		}
	}
}

/* Holds of an object never give it more than it has without them. */
static void test_holds_only_take(void)
{
	for (unsigned verdict = 0; verdict < VERDICTS; verdict++)
		for (unsigned parent = 0; parent < 4 * VERDICTS; parent++)
			for (unsigned holds = 1; holds < 4; holds++) {
				struct state_side node = {parent % 4, parent / 4, false};
				struct state_side free = {0, verdict, false}, held = free;

				held.holds = holds;
				unsigned without = state_of_server(&free, &node).avail;
				unsigned with = state_of_server(&held, &node).avail;
				CHECK((with & ~without) == 0);
				CHECK((with & LIVE_NEW) == 0);
			}
}

static void pool_is(unsigned green, unsigned yellow, unsigned red, unsigned blue, unsigned want)
{
	struct state_count n = {.colour = {green, yellow, red, blue}};
	struct state s = state_of_pool(&n);

	CHECK_INT(s.availability, want);
	CHECK(s.reason != NULL);
}

static void test_pools(void)
{
	pool_is(1, 1, 1, 1, AVAILABILITY_GREEN);
	pool_is(0, 1, 1, 1, AVAILABILITY_BLUE);
	pool_is(0, 1, 1, 0, AVAILABILITY_YELLOW);
	pool_is(0, 0, 3, 0, AVAILABILITY_RED);
	pool_is(0, 0, 0, 0, AVAILABILITY_BLUE);
}

static void test_virtuals(void)
{
	struct state red = {.availability = AVAILABILITY_RED, .reason = "x"};
	struct state green = {
		.avail = LIVE_BITS, .availability = AVAILABILITY_GREEN, .reason = "x"};
	struct state s = state_of_virtual(true, true, false, &green);

	CHECK_INT(s.availability, AVAILABILITY_GREEN);
	CHECK_INT(s.avail, LIVE_BITS);
	s = state_of_virtual(true, true, true, &green);
	CHECK_INT(s.availability, AVAILABILITY_YELLOW);
	s = state_of_virtual(true, true, true, &red);
	CHECK_INT(s.availability, AVAILABILITY_RED);
	CHECK_INT(s.avail, 0);
	s = state_of_virtual(true, true, false, NULL);
	CHECK_INT(s.avail, LIVE_BITS);
	s = state_of_virtual(false, true, false, &green);
	CHECK_INT(s.availability, AVAILABILITY_GREEN);
	CHECK_INT(s.enabled, STATUS_DISABLED);
	CHECK_INT(s.avail, 0);
	s = state_of_virtual(true, false, false, NULL);
	CHECK_INT(s.availability, AVAILABILITY_BLUE);
	CHECK_INT(s.enabled, STATUS_DISABLED_BY_PARENT);
	CHECK_INT(s.avail, 0);
}

/* Virtual servers of an address: green and usable, green but disabled, red, blue and usable, blue and new. */
static const struct address_row {
	unsigned green, disabled, red, blue, new;
	uint8_t scope, avail, availability;
} addresses[] = {
	{1, 0, 0, 0, 0, SCOPE_ANY, LIVE_BITS, AVAILABILITY_GREEN},
	{1, 0, 5, 0, 0, SCOPE_ANY, LIVE_BITS, AVAILABILITY_GREEN},
	{0, 0, 5, 1, 0, SCOPE_ANY, LIVE_BITS, AVAILABILITY_BLUE},
	{0, 0, 2, 0, 0, SCOPE_ANY, 0, AVAILABILITY_RED},
	{0, 1, 0, 0, 0, SCOPE_ANY, 0, AVAILABILITY_RED},
	{0, 0, 0, 0, 2, SCOPE_ANY, 0, AVAILABILITY_BLUE},
	{0, 0, 0, 0, 0, SCOPE_ANY, 0, AVAILABILITY_BLUE},
	{2, 0, 0, 0, 0, SCOPE_ALL, LIVE_BITS, AVAILABILITY_GREEN},
	{2, 0, 0, 1, 0, SCOPE_ALL, LIVE_BITS, AVAILABILITY_BLUE},
	{2, 0, 1, 0, 0, SCOPE_ALL, 0, AVAILABILITY_RED},
	{2, 1, 0, 0, 0, SCOPE_ALL, 0, AVAILABILITY_RED},
	{2, 0, 0, 0, 1, SCOPE_ALL, 0, AVAILABILITY_BLUE},
	{0, 0, 0, 0, 0, SCOPE_ALL, 0, AVAILABILITY_BLUE},
	{0, 0, 3, 0, 0, SCOPE_NONE, LIVE_BITS, AVAILABILITY_GREEN},
	{0, 0, 0, 0, 0, SCOPE_NONE, LIVE_BITS, AVAILABILITY_GREEN},
};

static void add(struct state_count *count, unsigned n, struct state child)
{
	while (n-- > 0)
		state_count_add(count, &child);
}

static void test_addresses(void)
{
	for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) {
		const struct address_row *r = &addresses[i];
		struct state_count n = {0};

		add(&n, r->green, (struct state){.avail = LIVE_BITS});
		add(&n, r->disabled, (struct state){.enabled = STATUS_DISABLED});
		add(&n, r->red, (struct state){.availability = AVAILABILITY_RED});
		add(&n, r->blue,
			(struct state){.avail = LIVE_BITS, .availability = AVAILABILITY_BLUE});
		add(&n, r->new, (struct state){.availability = AVAILABILITY_BLUE});
		struct state s = state_of_address(true, r->scope, &n);
		if (s.avail != r->avail || s.availability != r->availability || !s.reason) {
			fprintf(stderr, "address %zu: avail %u, %s\n", i, s.avail,
				state_colour_name(s.availability));
			abort();
		}
		s = state_of_address(false, r->scope, &n);
		CHECK(s.avail == 0 && s.enabled == STATUS_DISABLED);
	}
}

int main(void)
{
	test_servers();
	test_holds_only_take();
	test_pools();
	test_virtuals();
	test_addresses();
	CHECK_STR(state_availability_name(99), "unknown");
	return 0;
}
