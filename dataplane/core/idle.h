/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a worker without work sleeps. WORKER_POLL: never. WORKER_BACKOFF: after 64 empty turns 50 us a
 * turn, after 1,000 empty turns 200 us, never longer.
 */
#ifndef WEIR_CORE_IDLE_H
#define WEIR_CORE_IDLE_H

#include <stdbool.h>
#include <stdint.h>

#define IDLE_SPIN_TURNS 64u
#define IDLE_LONG_TURNS 1000u
#define IDLE_SHORT_NS 50000u
#define IDLE_LONG_NS 200000u

/* Tells of one more turn: empty counts turns without work. Returns how many ns to sleep, 0 = none. */
static inline uint32_t idle_next(uint32_t *empty, bool worked)
{
	if (worked) {
		*empty = 0;
		return 0;
	}
	if (*empty < IDLE_SPIN_TURNS) {
		++*empty;
		return 0;
	}
	if (*empty < IDLE_LONG_TURNS) {
		++*empty;
		return IDLE_SHORT_NS;
	}
	return IDLE_LONG_NS;
}

#endif
