/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selection of a pool member. The control thread compiles a pool's usable members and ratios into a
 * schedule and publishes it by pointer; workers draw tickets from the pool's shared cursor, so there is
 * one order over all workers and each member has its share within 1 over any full cycle.
 */
#ifndef WEIR_LB_LB_H
#define WEIR_LB_LB_H

#include <stdbool.h>

#include "api/counters.h"
#include "api/snapshot.h"

struct lb_table;
struct lb_garbage;

/* Builds the schedules of all pools from the counters' shared lines (which the caller has brought up to
 * date for every member and node of snap). second: monotonic time. NULL on no memory. */
struct lb_table *lb_table_new(
	const struct snap_header *snap, const struct counters *counters, uint32_t second);
void lb_table_free(struct lb_table *t);

/*
 * Control thread: objects changed in the shared lines (ratio, avail). Marks the pools concerned; call
 * lb_refresh afterwards. False: id is neither a node nor a member.
 */
bool lb_touch(struct lb_table *t, uint32_t id);

/*
 * Rebuilds and publishes the schedules of marked pools. Returns what workers may still read: pass it to
 * lb_garbage_free after a quiescent point of all workers. NULL if nothing was replaced. On no memory the
 * old schedule stays and the pool stays marked.
 */
struct lb_garbage *lb_refresh(struct lb_table *t, uint32_t second);

/* Control thread, a few times a second: marks pools whose members' shares have grown (slow ramp), or whose
 * priority groups are no longer the right ones because members reached or left their limits. */
void lb_tick(struct lb_table *t, uint32_t second);

void lb_garbage_free(struct lb_garbage *g);

/*
 * Worker: picks a member of pool (row) for a new connection, counts it on the member and its node against
 * their limits. Row of SNAP_MEMBER, or SNAP_NIL with *reason DROP_NO_MEMBER, DROP_CONNECTION_LIMIT.
 * second: monotonic time for rate limits. Undo with lb_release.
 */
uint32_t lb_pick(
	const struct lb_table *t, uint32_t pool, uint32_t second, enum drop_reason *reason);

/* A connection on an object ended: counts it down, on a member's node too. True if the object itself is
 * at 0 now. An id that has no line any more is ignored. */
bool lb_release(const struct counters *counters, uint32_t id);

/* Counts one connection against an object's limits (connections now, rate per second): LB_ADMITTED, or
 * why not. */
enum drop_reason lb_admit(struct counter_shared *object, uint32_t second);
#define LB_ADMITTED DROP_REASONS

#define LB_RAMP 32u /* steps of a slow ramp */

/* The member with that id, or NULL if it is gone. */
const struct snap_member *lb_member(const struct lb_table *t, uint32_t id);

#endif
