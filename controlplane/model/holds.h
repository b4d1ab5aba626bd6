/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Holds: who keeps a server from being used, and why (docs/architecture.md, section 6). LTM shows only
 * the combination: session "user-disabled" if any class holds HOLD_SESSION, state "user-down" if any
 * holds HOLD_STATE.
 */
#ifndef WEIR_MODEL_HOLDS_H
#define WEIR_MODEL_HOLDS_H

#include <stdint.h>

enum hold_class { HOLD_OPERATOR, HOLD_AGENT, HOLD_MONITOR, HOLD_RULE, HOLD_SYSTEM, HOLD_CLASSES };

enum {
	HOLD_SESSION = 1, /* no new connections but persisted ones */
	HOLD_STATE = 2,	  /* no new connections at all */
};

enum { HOLD_REASON_MAX = 512 }; /* bytes */

struct hold {
	uint8_t bits;
	uint8_t reserved[3];
	uint32_t reason; /* model_string() */
};

struct holds {
	struct hold by[HOLD_CLASSES];
};

#endif
