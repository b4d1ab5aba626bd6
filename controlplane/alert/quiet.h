/* SPDX-License-Identifier: BSD-3-Clause */
/* Quiet hours: from a time of day to another, on some days of the week, in local time. */
#ifndef WEIR_ALERT_QUIET_H
#define WEIR_ALERT_QUIET_H

#include <stdbool.h>
#include <time.h>

struct quiet {
	unsigned from, to; /* minutes since midnight; equal: never. to before from: over midnight */
	unsigned days;	   /* bit 0 is Sunday: the days on which they begin */
};

/* "HH:MM" as minutes since midnight, or -EINVAL. */
int quiet_minute(const char *text);

/* Names of days ("mon", "Monday"), or -EINVAL: number of the day. */
int quiet_day(const char *name);

/* local: what localtime_r says. */
bool quiet_at(const struct quiet *q, const struct tm *local);

#endif
