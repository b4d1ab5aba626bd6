/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walks over tables that belong to the workers (flows, neighbours), for weir-cp. The control thread asks
 * one worker at a time; the worker walks in slices between its packets and stops when its one buffer of
 * rows is full, until those are sent: memory and socket stay bounded at any table size.
 */
#ifndef WEIR_MAIN_SCAN_H
#define WEIR_MAIN_SCAN_H

#include <stdbool.h>

#include "api/message.h"
#include "core/worker.h"
#include "main/peer.h"

struct scan_slot;

/* One slot per worker. NULL on no memory. */
struct scan_slot *scan_slot_new(void);
void scan_slot_free(struct scan_slot *s);

/* Worker: one slice of what is asked of it, if anything is. */
void scan_house(struct worker *w);

#define SCAN_JOBS 16 /* requests that wait; more are answered -EBUSY */

/* A request, in the order of their coming. */
struct scan_job {
	struct msg_header header;
	bool neighbours;
	uint8_t action;
	uint32_t limit;
	uint64_t cursor;
	struct flow_filter filter;
};

struct scans {
	struct worker *const *workers;
	unsigned count; /* of workers */
	struct scan_job job[SCAN_JOBS];
	unsigned head, jobs;
	bool asked;	/* a worker has the slot of the first job */
	bool cancelled; /* the peer of that job is gone */
	unsigned worker;
	uint32_t place;	  /* where that worker goes on */
	uint32_t matches; /* of the first job so far */
};

/* Queues a checked MSG_SCAN or MSG_NEIGHBOURS. 0, -EBUSY, or -EINVAL for a cursor outside. */
int scans_add(struct scans *s, const void *message);

/* The peer is gone: forgets all jobs. */
void scans_cancel(struct scans *s);

/* Takes what workers have finished, sends it, asks on. Does nothing while the peer's queue is not empty.
 * generation: for the results. 0, or -errno: the connection has ended. */
int scans_run(struct scans *s, struct peer *peer, uint64_t generation);

#endif
