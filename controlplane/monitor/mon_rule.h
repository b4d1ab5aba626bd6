/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When is a server up or down: from the results of its probes and the time alone (docs/monitor-protocol.md).
 * Times are milliseconds of any clock that never goes back and is never 0.
 */
#ifndef WEIR_MONITOR_MON_RULE_H
#define WEIR_MONITOR_MON_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/mon_protocol.h"

#define MON_NEVER UINT64_MAX

/* Timers in ms; up_interval 0: as interval. successes at least 1; failures 0: not counted. */
struct mon_timing {
	uint64_t interval, up_interval, timeout, time_until_up;
	unsigned failures, successes;
};

struct mon_rule {
	uint8_t verdict;	      /* enum mon_verdict */
	uint8_t good;		      /* what the last good answer says: MON_UP or MON_DISABLED */
	unsigned failures, successes; /* in a row */
	uint64_t
		unanswered; /* start of the first probe without a good answer since the last one, 0: none */
	uint64_t good_since; /* first good answer of those in a row, 0: none */
};

void mon_rule_init(struct mon_rule *r, enum mon_verdict verdict);

/* Each of these returns whether the verdict changed. */

/* A probe was sent. */
void mon_rule_sent(struct mon_rule *r, uint64_t now);

/* A good answer: good is MON_UP or MON_DISABLED; pending: start of the oldest later probe in flight, or 0. */
bool mon_rule_good(struct mon_rule *r, const struct mon_timing *t, uint64_t now,
	enum mon_verdict good, uint64_t pending);

/* A bad answer, or none until the next probe; at_once: the server refused (RST). */
bool mon_rule_bad(struct mon_rule *r, const struct mon_timing *t, bool at_once);

/* Time has passed. */
bool mon_rule_tick(struct mon_rule *r, const struct mon_timing *t, uint64_t now);

/* Nobody answers, and nobody has to: an instance that is still being checked is up. */
bool mon_rule_waive(struct mon_rule *r);

/* The last late ms did not count: whoever asked stood still. */
void mon_rule_forgive(struct mon_rule *r, uint64_t now, uint64_t late);

/* When mon_rule_tick can change the verdict next, or MON_NEVER. */
uint64_t mon_rule_due(const struct mon_rule *r, const struct mon_timing *t);

/* Distance to the next probe after a good answer. */
uint64_t mon_rule_interval(const struct mon_rule *r, const struct mon_timing *t);

#endif
