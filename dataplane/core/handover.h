/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that go from one worker to another: one single-producer single-consumer ring per pair. */
#ifndef WEIR_CORE_HANDOVER_H
#define WEIR_CORE_HANDOVER_H

#include "core/worker.h"

#define HANDOVER_RING 2048u /* packets that wait between two workers */

/* Makes the rings between all workers and fills w->handover of each. 0 or -errno. */
int handover_init(struct worker *const *workers, unsigned count, unsigned ring_size);
/* Frees what waits, and the rings. */
void handover_fini(struct worker *const *workers, unsigned count);

/* Queues m for worker `to`, which goes on at `stage`. Sent in bursts at the end of the turn; a full ring
 * drops, counted. to must not be w itself. */
void handover_send(struct worker *w, unsigned to, struct rte_mbuf *m, enum pkt_stage stage);

/* Sends what handover_send has collected. */
void handover_flush(struct worker *w);

/* Takes up to max packets that others handed to w. */
unsigned handover_receive(struct worker *w, struct rte_mbuf **out, unsigned max);

#endif
