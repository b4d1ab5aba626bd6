/* SPDX-License-Identifier: BSD-3-Clause */
/* DPDK for unit tests: in memory, no devices, no privileges; and workers without threads. */
#ifndef WEIR_CORE_TEST_EAL_H
#define WEIR_CORE_TEST_EAL_H

#include <stdio.h>
#include <unistd.h>

#include <rte_eal.h>

#include "base/check.h"
#include "core/event.h"
#include "core/handover.h"
#include "core/mbuf.h"
#include "core/worker.h"

static inline void test_eal_init(unsigned megabytes)
{
	char memory[16], prefix[48];

	snprintf(memory, sizeof(memory), "%u", megabytes);
	snprintf(prefix, sizeof(prefix), "weir-test-%d", (int)getpid());
	char *argv[] = {"test", "--no-huge", "--no-shconf", "--no-pci", "--no-telemetry",
		"--lcores=0@0", "--log-level=lib.*:error", "-m", memory, "--file-prefix", prefix,
		NULL};
	CHECK(rte_eal_init((int)(sizeof(argv) / sizeof(argv[0])) - 1, argv) >= 0);
}

/* count workers with counters, events and hand-over; a pool of buffers is shared. */
static inline void test_workers_new(struct worker **out, unsigned count, unsigned slots)
{
	static struct counters counters;
	struct rte_mempool *pool = mbuf_pool_new("test", 4095, 2048);

	CHECK(pool != NULL);
	CHECK(counters_create(count, slots, &counters) >= 0);
	for (unsigned i = 0; i < count; i++) {
		struct worker *w = calloc(1, sizeof(*w));
		CHECK(w != NULL);
		w->index = i;
		w->count = count;
		w->counters = &counters;
		w->stat = counters_worker(&counters, i);
		w->drop = counters_drop(&counters, i);
		w->pool = pool;
		w->events = event_ring_new(i);
		CHECK(w->events != NULL);
		worker_clock(w, 0);
		out[i] = w;
	}
	CHECK_INT(handover_init(out, count, HANDOVER_RING), 0);
}

static inline void test_workers_free(struct worker **workers, unsigned count)
{
	handover_fini(workers, count);
	mbuf_pool_free(workers[0]->pool);
	counters_unmap(workers[0]->counters);
	for (unsigned i = 0; i < count; i++) {
		event_ring_free(workers[i]->events);
		free(workers[i]);
	}
}

#endif
