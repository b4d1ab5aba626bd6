/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_MAIN_CP_STATES_H
#define WEIR_MAIN_CP_STATES_H

#include "main/cp.h"

/* A state as it was told last. */
struct told {
	uint32_t id; /* the slot's object, 0: none */
	uint8_t availability, enabled, monitor, session, verdict;
	uint8_t holds[HOLD_CLASSES];
	uint8_t usable; /* may be given connections: the journal's, events do not tell it */
	uint8_t serves; /* takes new clients; the journal's, too */
	uint64_t since; /* of monitor, ms since 1970; 0: not known; not compared */
};

/* Writes records of what is another now (cp_state_record.c). */
void cp_state_record(struct cp *cp, const struct object *o, const struct told *before,
	const struct told *after, const struct cp_cause *cause);

/* Members of a pool as they were told last: how many take new clients, of how many. */
void cp_states_serving(struct cp *cp, const struct object *pool, unsigned *serving, unsigned *of);

#endif
