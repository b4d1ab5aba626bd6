/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a fault can stay unnoticed: the worst case of docs/monitor-protocol.md, from a monitor's fields alone. */
#ifndef WEIR_HEALTH_HEALTH_DETECT_H
#define WEIR_HEALTH_HEALTH_DETECT_H

#include "model/model.h"

/* All in seconds but failures; up_interval 0: as interval; failures 0: not counted. */
struct health_timers {
	uint32_t interval, up_interval, timeout, failures;
};

/* Seconds from a fault to the verdict "down", by what the server does then. */
struct health_detection {
	uint64_t silent;   /* accepts, or not, and says nothing */
	uint64_t refusing; /* answers with RST */
	uint64_t wrong;	   /* answers at once, and wrongly */
};

struct health_detection health_detect(const struct health_timers *t);

/* Monitors of that kind advise (a weight, a ratio), and count for nothing in a rule. */
bool health_advises(uint8_t kind);

/* False: the monitor judges by other things than time (inband), or not at all (it advises). */
bool health_detect_timers(const struct object *monitor, struct health_timers *out);

/*
 * What to say of a monitor whose silent or wrong servers may stay in use longer than limit seconds (0: no limit),
 * with what to change. False: nothing. object: "ltm monitor http /Common/app".
 */
bool health_detect_warn(const char *object, const struct health_timers *t, uint32_t limit,
	char *sentence, size_t size);

/*
 * The same for all monitors that a rule names, by the model's own limit (sys db monitor.detectlimit); changes: only
 * those that these concern, or NULL.
 */
void health_detect_check(const struct model *m, const struct model_changes *changes,
	void (*say)(void *ctx, const char *sentence), void *ctx);

#endif
