/* SPDX-License-Identifier: BSD-3-Clause */
#include "state/state.h"

#include <stddef.h>

/* A node that drains its clients, or is held, does the same to its members. */
static bool side_forced_down(const struct state_side *s)
{
	return s && (s->holds & HOLD_STATE);
}

static bool side_down(const struct state_side *s)
{
	return s && (s->verdict == VERDICT_DOWN || s->verdict == VERDICT_RESUME);
}

/* Nobody has seen it working yet. */
static bool side_new(const struct state_side *s)
{
	return s && s->verdict == VERDICT_CHECKING;
}

static bool side_no_session(const struct state_side *s)
{
	return s && ((s->holds & HOLD_SESSION) || s->verdict == VERDICT_DRAIN);
}

static uint8_t server_avail(const struct state_side *own, const struct state_side *parent)
{
	if (side_forced_down(own) || side_forced_down(parent) || side_down(own) ||
		side_down(parent) || side_new(own) || side_new(parent))
		return 0;
	if (side_no_session(own) || side_no_session(parent))
		return LIVE_PERSISTED;
	return LIVE_BITS;
}

static uint8_t server_monitor(const struct state_side *own, const struct state_side *parent)
{
	static const uint8_t of_verdict[] = {
		[VERDICT_UNCHECKED] = MONITOR_UNCHECKED,
		[VERDICT_CHECKING] = MONITOR_CHECKING,
		[VERDICT_RECHECKING] = MONITOR_CHECKING,
		[VERDICT_UP] = MONITOR_UP,
		[VERDICT_DOWN] = MONITOR_DOWN,
		[VERDICT_DRAIN] = MONITOR_UP,
		[VERDICT_RESUME] = MONITOR_WAIT_FOR_RESUME,
	};

	if (side_forced_down(own))
		return MONITOR_FORCED_DOWN;
	if (side_forced_down(parent) || side_down(parent))
		return MONITOR_ADDRESS_DOWN;
	return of_verdict[own->verdict];
}

static uint8_t server_session(const struct state_side *own, const struct state_side *parent)
{
	if (own->holds & HOLD_SESSION)
		return SESSION_FORCED_DISABLED;
	if (side_no_session(parent))
		return SESSION_ADDRESS_DISABLED;
	return own->verdict == VERDICT_DRAIN ? SESSION_DISABLED : SESSION_ENABLED;
}

static uint8_t server_availability(
	const struct state_side *own, const struct state_side *parent, uint8_t avail)
{
	if (side_forced_down(own) || side_forced_down(parent) || side_down(own) ||
		side_down(parent))
		return AVAILABILITY_RED;
	if (avail == 0)
		return AVAILABILITY_BLUE;
	if (own->at_limit || (parent && parent->at_limit))
		return AVAILABILITY_YELLOW;
	/* A member without checks of its own is as good as its node is known to be. */
	if (own->verdict == VERDICT_UP || own->verdict == VERDICT_DRAIN ||
		(own->verdict == VERDICT_UNCHECKED && parent &&
			(parent->verdict == VERDICT_UP || parent->verdict == VERDICT_DRAIN)))
		return AVAILABILITY_GREEN;
	return AVAILABILITY_BLUE;
}

/* The sentences for what monitoring software looks at most are LTM's. */
static const char *server_reason(
	const struct state_side *own, const struct state_side *parent, const struct state *s)
{
	if (side_forced_down(own))
		return "Forced offline";
	if (side_forced_down(parent))
		return "The node is forced offline";
	if (side_down(parent))
		return "The node's monitor says it is down";
	if (own->verdict == VERDICT_RESUME)
		return "Its monitor waits for manual resume";
	if (side_down(own))
		return parent ? "Pool member has been marked down by a monitor"
			      : "Node address has been marked down by a monitor";
	if (side_new(own))
		return "New: no connections until a check finds it up";
	if (side_new(parent))
		return "The node is new: no connections until a check finds it up";
	if (own->holds & HOLD_SESSION)
		return "Disabled: only persisted connections";
	if (side_no_session(parent))
		return "The node is disabled: only persisted connections";
	if (own->verdict == VERDICT_DRAIN)
		return "The application asked for no new clients";
	if (s->availability == AVAILABILITY_YELLOW)
		return "The connection limit is reached";
	if (s->availability == AVAILABILITY_GREEN)
		return parent ? "Pool member is available" : "Node address is available";
	if (own->verdict == VERDICT_RECHECKING)
		return "The first check has not ended yet";
	return parent ? "Pool member does not have service checking enabled"
		      : "Node address does not have service checking enabled";
}

struct state state_of_server(const struct state_side *own, const struct state_side *parent)
{
	struct state s = {.avail = server_avail(own, parent)};

	s.availability = server_availability(own, parent, s.avail);
	s.monitor = server_monitor(own, parent);
	s.session = server_session(own, parent);
	if (own->holds || own->verdict == VERDICT_DRAIN)
		s.enabled = STATUS_DISABLED;
	else if (side_no_session(parent) || side_forced_down(parent))
		s.enabled = STATUS_DISABLED_BY_PARENT;
	s.reason = server_reason(own, parent, &s);
	return s;
}

void state_count_add(struct state_count *count, const struct state *child)
{
	count->colour[child->availability]++;
	count->usable += child->avail != 0;
	if (child->availability != AVAILABILITY_RED && child->enabled != STATUS_ENABLED)
		count->disabled++;
}

struct state state_of_pool(const struct state_count *members)
{
	const unsigned *n = members->colour;
	struct state s = {
		.avail = members->usable ? LIVE_BITS : 0, .availability = AVAILABILITY_BLUE};

	if (n[AVAILABILITY_GREEN]) {
		s.availability = AVAILABILITY_GREEN;
		s.reason = "The pool is available";
	} else if (n[AVAILABILITY_BLUE]) {
		s.reason =
			"The children pool member(s) either don't have service checking enabled, "
			"or service check results are not available yet";
	} else if (n[AVAILABILITY_YELLOW]) {
		s.availability = AVAILABILITY_YELLOW;
		s.reason = "All members have reached their connection limit";
	} else if (n[AVAILABILITY_RED]) {
		s.availability = AVAILABILITY_RED;
		s.reason = "The children pool member(s) are down";
	} else {
		s.reason = "The pool has no members";
	}
	if (members->disabled && members->disabled == n[AVAILABILITY_GREEN] + n[AVAILABILITY_BLUE] +
							      n[AVAILABILITY_YELLOW])
		s.reason = "All members that are up are disabled";
	return s;
}

struct state state_of_virtual(
	bool enabled, bool address_enabled, bool at_limit, const struct state *pool)
{
	struct state s = {.availability = AVAILABILITY_BLUE, .reason = "It has no pool to ask"};

	if (pool) {
		s.availability = pool->availability;
		s.reason = pool->availability == AVAILABILITY_GREEN
				   ? "The virtual server is available"
				   : pool->reason;
	}
	if (at_limit && s.availability != AVAILABILITY_RED) {
		s.availability = AVAILABILITY_YELLOW;
		s.reason = "The connection limit is reached";
	}
	if (!enabled) {
		s.enabled = STATUS_DISABLED;
		s.reason = "Disabled: no new connections";
	} else if (!address_enabled) {
		s.enabled = STATUS_DISABLED_BY_PARENT;
		s.reason = "Its address is disabled";
	}
	if (s.enabled == STATUS_ENABLED && (!pool || pool->avail))
		s.avail = LIVE_BITS;
	return s;
}

static bool address_available(enum state_scope scope, const struct state_count *virtuals)
{
	unsigned total = 0;

	for (unsigned i = 0; i <= AVAILABILITY_BLUE; i++)
		total += virtuals->colour[i];
	switch (scope) {
	case SCOPE_ALL:
		return total && virtuals->usable == total;
	case SCOPE_NONE:
		return true;
	default:
		return virtuals->usable != 0;
	}
}

/* Of an available address: the best that its virtual servers show, or with SCOPE_ALL the worst. */
static uint8_t address_colour(enum state_scope scope, const unsigned *n)
{
	static const uint8_t best[] = {AVAILABILITY_GREEN, AVAILABILITY_BLUE, AVAILABILITY_YELLOW};

	if (scope == SCOPE_NONE)
		return AVAILABILITY_GREEN;
	for (int i = 0; i < 3; i++) {
		uint8_t colour = best[scope == SCOPE_ALL ? 2 - i : i];
		if (n[colour])
			return colour;
	}
	return AVAILABILITY_RED;
}

struct state state_of_address(
	bool enabled, enum state_scope scope, const struct state_count *virtuals)
{
	static const char *const reasons[] = {
		[SCOPE_ANY] = "A virtual server is available",
		[SCOPE_ALL] = "All its virtual servers are available",
		[SCOPE_NONE] = "Available whatever its virtual servers are",
	};
	const unsigned *n = virtuals->colour;
	struct state s = {.avail = enabled && address_available(scope, virtuals) ? LIVE_BITS : 0};

	if (!enabled) {
		s.enabled = STATUS_DISABLED;
		s.availability = address_colour(scope, n);
		s.reason = "Disabled";
	} else if (s.avail) {
		s.availability = address_colour(scope, n);
		s.reason = reasons[scope];
	} else {
		/* Blue: nothing is known to be wrong. */
		s.availability = n[AVAILABILITY_RED] || virtuals->disabled ? AVAILABILITY_RED
									   : AVAILABILITY_BLUE;
		s.reason = scope == SCOPE_ALL ? "Not all its virtual servers are available"
					      : "No virtual server is available";
	}
	return s;
}

static const char *name_at(const char *const *names, unsigned count, unsigned i)
{
	return i < count ? names[i] : "unknown";
}

#define NAME_AT(names, i) name_at(names, sizeof(names) / sizeof(*(names)), i)

const char *state_availability_name(unsigned availability)
{
	static const char *const names[] = {"available", "unavailable", "offline", "unknown"};
	return NAME_AT(names, availability);
}

const char *state_colour_name(unsigned availability)
{
	static const char *const names[] = {"green", "yellow", "red", "blue"};
	return NAME_AT(names, availability);
}

const char *state_enabled_name(unsigned enabled)
{
	static const char *const names[] = {"enabled", "disabled", "disabled-by-parent"};
	return NAME_AT(names, enabled);
}

const char *state_monitor_name(unsigned monitor)
{
	static const char *const names[] = {"unchecked", "checking", "up", "down", "forced-down",
		"address-down", "down-wait-for-manual-resume"};
	return NAME_AT(names, monitor);
}

const char *state_session_name(unsigned session)
{
	static const char *const names[] = {
		"enabled", "disabled", "user-disabled", "addr-disabled"};
	return NAME_AT(names, session);
}
