/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker: one pinned thread, one loop, nothing shared with other workers but what
 * docs/core-principles.md lists. A turn is: receive, process, transmit, housekeeping, quiescent report.
 */
#ifndef WEIR_CORE_WORKER_H
#define WEIR_CORE_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mempool.h>

#include "api/counters.h"
#include "core/pkt.h"
#include "core/view.h"

#define WORKERS_MAX 16
#define TICKS_PER_SECOND                                                                           \
	100u /* worker->now counts 10 ms ticks; wraps after 497 days, compare differences */

enum worker_idle { WORKER_POLL, WORKER_BACKOFF };

/* State that higher floors keep per worker. */
struct port_worker;
struct net_worker;
struct flow_worker;
struct l4_worker;
struct scan_slot;

struct view_holder;
struct handover;
struct event_ring;

struct worker {
	unsigned index, count; /* of count workers; fixed at start */
	unsigned lcore;
	enum worker_idle idle;
	uint32_t now;	   /* ticks since start, never 0; the worker sets it once a turn */
	uint64_t now_ns;   /* CLOCK_MONOTONIC at the same moment */
	uint64_t start_ns; /* CLOCK_MONOTONIC of tick 1, the same for all workers */
	struct view_holder *holder;
	const struct view *view; /* of this turn; NULL before the first snapshot */
	uint64_t *stat, *drop;	 /* own rows of the counter file */
	struct counters *counters;
	struct rte_mempool *pool; /* for packets we make ourselves */
	struct port_worker *port;
	struct net_worker *net;
	struct flow_worker *flow;
	struct l4_worker *l4;
	struct scan_slot *scan;
	struct handover *handover;
	struct event_ring *events;
	int wake_fd; /* eventfd of the control thread, or -1 */
	bool wake; /* the control thread has something to fetch: woken once, at the end of the turn */
	bool busy; /* this turn did work that is not a packet (scan, sweep in arrears): do not sleep */
};

/* What a worker does in a turn; the top floor fills it. */
struct worker_ops {
	unsigned (*poll)(struct worker *w); /* packets handled */
	void (*house)(struct worker *w);    /* bounded slice of upkeep */
};

/* Sets now and now_ns. */
void worker_clock(struct worker *w, uint64_t now_ns);

/* Runs the loop until *stop; called on the worker's own thread. */
void worker_run(struct worker *w, const struct worker_ops *ops, const bool *stop);

/* Drops a packet for a named reason. */
static inline void worker_drop(struct worker *w, struct rte_mbuf *m, enum drop_reason reason)
{
	w->drop[reason]++;
	rte_pktmbuf_free(m);
}

static inline uint64_t *worker_object(const struct worker *w, uint32_t id)
{
	return counters_object(w->counters, id_slot(id), w->index);
}

static inline struct counter_shared *worker_shared(const struct worker *w, uint32_t id)
{
	return &w->counters->shared[id_slot(id)];
}

/* Tells weir-cp; never blocks, a full ring shows as a gap in the numbers. */
void worker_event(struct worker *w, uint32_t type, uint32_t object, uint32_t detail,
	const struct ip_addr *addr, const uint8_t mac[6]);

#endif
