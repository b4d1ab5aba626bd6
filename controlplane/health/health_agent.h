/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an agent's words make of the hold that it has on its server: "drain" holds the session, "down" (stopped,
 * failed) the state, "maint" both; "ready" takes back drain and maint, "up" takes back down. Only what a line
 * states changes, and the agent's own hold is all it touches. What was said before is read from the hold's reason.
 */
#ifndef WEIR_HEALTH_HEALTH_AGENT_H
#define WEIR_HEALTH_HEALTH_AGENT_H

#include <stdbool.h>

#include "health/health.h"
#include "model/holds.h"

struct health_agent_hold {
	unsigned bits; /* HOLD_SESSION, HOLD_STATE */
	char reason[HOLD_REASON_MAX + 1];
};

/* From the hold there is to the one after the line. False: they are the same. */
bool health_agent_hold(unsigned bits, const char *reason, const struct health_agent *line,
	struct health_agent_hold *out);

/* Whether a hold with that reason is what an agent said. */
bool health_agent_holds(const char *reason);

/* What the line adds to one that nobody has acted on yet. Texts are not copied. */
void health_agent_merge(struct health_agent *into, const struct health_agent *line);

/* The line in its own words: "drain 50% maxconn:20 #backup"; printable ASCII. */
void health_agent_text(const struct health_agent *line, char *out, size_t size);

#endif
