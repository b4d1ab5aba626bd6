/* SPDX-License-Identifier: BSD-3-Clause */
/* weir-dp as a whole: made in main.c in this order, torn down in the reverse one. */
#ifndef WEIR_MAIN_DATAPLANE_H
#define WEIR_MAIN_DATAPLANE_H

#include "core/holder.h"
#include "core/worker.h"
#include "main/options.h"

struct dataplane {
	struct options options;
	uint64_t instance; /* random number of this run */
	struct counters counters;
	int counters_fd;
	int wake_fd; /* eventfd: workers wake the control thread */
	struct rte_mempool *pool;
	struct view_holder *holder;
	struct worker *workers[WORKERS_MAX];
	unsigned count;	   /* of workers that are set up */
	unsigned launched; /* of workers that run */
	bool stop;	   /* control thread stores, workers load */
};

#endif
