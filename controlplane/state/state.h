/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is usable: the one function that combines what people and agents want (holds), what the checks
 * say, limits and the parent, into what the dataplane may do and what LTM's interfaces show
 * (reference/ltm.md, section 5).
 */
#ifndef WEIR_STATE_STATE_H
#define WEIR_STATE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "api/message.h"
#include "model/holds.h"

/* What the checks say of one object. */
enum verdict {
	VERDICT_UNCHECKED, /* nobody looks: usable */
	VERDICT_CHECKING,  /* new, no answer yet: no connections until it is known to be up */
	VERDICT_RECHECKING, /* no answer yet, but it was in use before anybody looked: stays usable */
	VERDICT_UP,
	VERDICT_DOWN,
	VERDICT_DRAIN,	/* up, but the application asked for no new clients (recv-disable) */
	VERDICT_RESUME, /* it would be up, but a person must say so first (manual-resume): as down */
	VERDICTS
};

enum availability { AVAILABILITY_GREEN, AVAILABILITY_YELLOW, AVAILABILITY_RED, AVAILABILITY_BLUE };

enum enabled_status { STATUS_ENABLED, STATUS_DISABLED, STATUS_DISABLED_BY_PARENT };

enum monitor_status {
	MONITOR_UNCHECKED,
	MONITOR_CHECKING,
	MONITOR_UP,
	MONITOR_DOWN,
	MONITOR_FORCED_DOWN,
	MONITOR_ADDRESS_DOWN,
	MONITOR_WAIT_FOR_RESUME,
};

enum session_status {
	SESSION_ENABLED,
	SESSION_DISABLED,	  /* by the application's answer */
	SESSION_FORCED_DISABLED,  /* by a hold */
	SESSION_ADDRESS_DISABLED, /* the node is */
};

/* An object's own side of it. */
struct state_side {
	uint8_t holds;	 /* HOLD_SESSION, HOLD_STATE: of all classes together */
	uint8_t verdict; /* enum verdict */
	bool at_limit;	 /* connections have reached its limit */
};

struct state {
	uint8_t avail; /* LIVE_* for the dataplane, which watches limits by itself */
	uint8_t availability, enabled, monitor, session;
	const char *reason; /* a sentence */
};

/* A node (parent NULL), or a member with its node as parent. */
struct state state_of_server(const struct state_side *own, const struct state_side *parent);

/* How many children of a pool or of an address show each colour. */
struct state_count {
	unsigned colour[AVAILABILITY_BLUE + 1];
	unsigned disabled; /* of those that are not red */
	unsigned usable;   /* may be given connections of some kind */
};

void state_count_add(struct state_count *count, const struct state *child);

/* A pool, from its members; avail: LIVE_BITS if one of them is usable, else 0. */
struct state state_of_pool(const struct state_count *members);

/* A virtual server: pool NULL if it has none. */
struct state state_of_virtual(
	bool enabled, bool address_enabled, bool at_limit, const struct state *pool);

/* Which virtual servers must be available for their address to be (server-scope). */
enum state_scope { SCOPE_ANY, SCOPE_ALL, SCOPE_NONE };

/* A virtual address, from its virtual servers; avail: LIVE_BITS while it is available, else 0. */
struct state state_of_address(
	bool enabled, enum state_scope scope, const struct state_count *virtuals);

/* LTM's words. */
const char *state_availability_name(unsigned availability); /* "available", "unavailable", ... */
const char *state_colour_name(unsigned availability);	    /* "green", "yellow", "red", "blue" */
const char *state_enabled_name(unsigned enabled);
const char *state_monitor_name(unsigned monitor);
const char *state_session_name(unsigned session);

#endif
