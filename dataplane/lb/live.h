/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Live state of nodes, members, virtual servers and virtual addresses: the shared lines of the counter
 * file. It outlives snapshots; the control thread writes, workers read.
 */
#ifndef WEIR_LB_LIVE_H
#define WEIR_LB_LIVE_H

#include <stdbool.h>

#include "api/counters.h"
#include "api/message.h"

/* Gives each object of snap that has no line yet its own, with the state in its row. */
void live_sync(const struct snap_header *snap, const struct counters *counters);

enum live_applied {
	LIVE_UNKNOWN, /* no object has that id */
	LIVE_SAME,    /* it may be given new connections (LIVE_NEW) as before, or not as before */
	LIVE_TURNED,
};

/* Takes over a live message's row. second: monotonic time, from which a member that comes up ramps. */
enum live_applied live_apply(
	const struct counters *counters, const struct live_row *row, uint32_t second);

#endif
