/* SPDX-License-Identifier: BSD-3-Clause */
/* HAProxy's agent protocol: one line of words (HAProxy's configuration manual, "agent-check"). */
#ifndef WEIR_MONITOR_MON_AGENT_H
#define WEIR_MONITOR_MON_AGENT_H

#include <stddef.h>

#define AGENT_WEIGHT_MAX 256 /* percent */

struct agent_line {
	int weight;	   /* percent, -1: not said */
	long maxconn;	   /* -1: not said */
	const char *admin; /* "ready", "drain", "maint"; NULL: not said */
	const char *state; /* "up", "down", "stopped", "failed"; NULL: not said */
	char description[128];
};

/*
 * Parses a line without its end. Words are parted by blanks, tabs and commas, in any case; unknown ones are passed over.
 * Returns how many words were understood.
 */
int agent_parse(const char *line, size_t length, struct agent_line *out);

#endif
