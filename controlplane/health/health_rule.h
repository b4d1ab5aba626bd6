/* SPDX-License-Identifier: BSD-3-Clause */
/* What the verdicts of an object's monitors make of it, by its rule. No state, no clock. */
#ifndef WEIR_HEALTH_RULE_H
#define WEIR_HEALTH_RULE_H

#include <stdbool.h>

#include "monitor/mon_protocol.h"
#include "state/state.h"

/* What the object's monitors say, counted. */
struct health_count {
	unsigned said[MON_VERDICTS]; /* of all its monitors */
	unsigned resume
		[MON_VERDICTS]; /* of those in said that wait until a person lets the object in again */
};

/*
 * need: so many must be up, 0 = all. usable: the object gets connections at present; then it keeps them while
 * it is not known to be down. No monitors: unchecked.
 */
enum verdict health_rule(const struct health_count *count, unsigned need, bool usable);

#endif
