/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A beat before all other events of the loop. When one comes late, weir-mon was stopped or starved, or the machine
 * was: the time since is nobody's fault, and every instance gets it back before what waits is looked at.
 */
#include <errno.h>

#include "base/log.h"
#include "monitor/mon.h"

#define BEAT_MS 100u
#define LATE_MS 400u
#define NOTICE_MS 1000u /* what is worth a line in the log */

static void forgive(struct mon_instance *in, void *ctx)
{
	mon_instance_forgive(in, *(const uint64_t *)ctx);
}

static void on_beat(evutil_socket_t fd, short what, void *ctx)
{
	struct mon *mon = ctx;
	uint64_t now = mon_now_ms(), due = mon->watched_ms + BEAT_MS;
	uint64_t late = now > due ? now - due : 0;

	mon->watched_ms = now;
	if (late < LATE_MS)
		return;
	if (late >= NOTICE_MS)
		log_notice(
			"probes: %llu ms late: the time is not counted", (unsigned long long)late);
	mon_each_instance(mon, forgive, &late);
}

int mon_stall_watch(struct mon *mon)
{
	const struct timeval beat = {.tv_usec = BEAT_MS * 1000};

	mon->watched_ms = mon_now_ms();
	mon->watch = event_new(mon->base, -1, EV_PERSIST, on_beat, mon);
	if (!mon->watch || event_priority_set(mon->watch, 0) || event_add(mon->watch, &beat))
		return -ENOMEM;
	return 0;
}

void mon_stall_unwatch(struct mon *mon)
{
	if (mon->watch)
		event_free(mon->watch);
	mon->watch = NULL;
}
