/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events from a worker to the control thread: a ring that may overflow, but never without trace, since
 * every event has a number and the control thread learns how many are missing.
 */
#ifndef WEIR_CORE_EVENT_H
#define WEIR_CORE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "api/message.h"

#define EVENT_RING_ROWS 1024u /* per worker */

struct event_ring;

/* NULL on no memory. */
struct event_ring *event_ring_new(unsigned worker);
void event_ring_free(struct event_ring *r);

/* Worker: appends; false if the ring was full (the number is used up all the same). */
bool event_ring_put(struct event_ring *r, const struct event_row *row);

/* Control thread: takes up to max rows that have consecutive numbers. *lost gets how many are missing
 * before the first of them (or, when 0 is returned, since the last that was taken). */
unsigned event_ring_take(struct event_ring *r, struct event_row *out, unsigned max, uint64_t *lost);

#endif
