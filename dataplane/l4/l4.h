/* SPDX-License-Identifier: BSD-3-Clause */
/* Per-flow forwarding with translation: dispatch to the owner, flow look-up, new flows, expiry. */
#ifndef WEIR_L4_L4_H
#define WEIR_L4_L4_H

#include "api/message.h"
#include "core/worker.h"

struct l4_config {
	uint32_t flows, flows6; /* most flows per worker, IPv4 and IPv6 */
};

int l4_worker_init(struct worker *w, const struct l4_config *config);
void l4_worker_fini(struct worker *w);

/*
 * IP packets that net_input passed on, or that came by ring at PKT_DISPATCH or PKT_MISSED (pkt->stage).
 * Packets of other owners are handed over; the others are forwarded, answered or dropped. Consumes all.
 */
void l4_input(struct worker *w, struct rte_mbuf **pkts, unsigned n);

/* A slice of the sweep: expires flows, folds their counts into their objects. */
void l4_house(struct worker *w);

/*
 * A walk over the worker's flows for the control thread, in slices: visits at most `budget` places from
 * *place on, writes matches to rows (SCAN_LIST) or deletes them, stops early when max rows are full.
 * Returns rows written or flows counted or deleted; *place becomes UINT32_MAX at the end.
 */
unsigned l4_scan(struct worker *w, enum scan_action action, const struct flow_filter *filter,
	uint32_t *place, unsigned budget, struct flow_row *rows, unsigned max);

/* Flows in use, places, bytes allocated for the places. Control thread may read while workers run. */
void l4_memory(const struct worker *w, uint64_t *flows, uint64_t *places, uint64_t *bytes);

#endif
