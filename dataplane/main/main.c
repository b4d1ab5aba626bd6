/* SPDX-License-Identifier: BSD-3-Clause */
/* weir-dp: sets up in order, gives up privileges, serves, tears down in the reverse order. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include <rte_launch.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/event.h"
#include "core/handover.h"
#include "core/mbuf.h"
#include "l4/l4.h"
#include "main/control.h"
#include "main/eal.h"
#include "main/pipeline.h"
#include "main/privileges.h"
#include "main/view_build.h"
#include "net/net.h"
#include "port/tap.h"

#define NEXTHOPS_MAX 8192 /* neighbours and last hops of each worker */

static int fail(const char *what, int err)
{
	log_error("%s: %s", what, strerror(-err));
	return err;
}

static int worker_new(struct dataplane *dp, unsigned index, uint64_t start_ns)
{
	const struct l4_config l4 = {dp->options.flows, dp->options.flows6};
	struct worker *w =
		aligned_alloc(RTE_CACHE_LINE_SIZE, RTE_ALIGN_CEIL(sizeof(*w), RTE_CACHE_LINE_SIZE));

	if (!w)
		return -ENOMEM;
	*w = (struct worker){
		.index = index,
		.count = dp->options.workers,
		.lcore = eal_lcore(index),
		.idle = dp->options.idle,
		.start_ns = start_ns,
		.holder = dp->holder,
		.stat = counters_worker(&dp->counters, index),
		.drop = counters_drop(&dp->counters, index),
		.counters = &dp->counters,
		.pool = dp->pool,
		.wake_fd = dp->wake_fd,
	};
	dp->workers[index] = w;
	dp->count = index + 1;
	worker_clock(w, start_ns);
	w->events = event_ring_new(index);
	w->scan = scan_slot_new();
	if (!w->events || !w->scan)
		return -ENOMEM;
	int err = port_worker_init(w);
	if (err == 0)
		err = net_worker_init(w, NEXTHOPS_MAX);
	if (err == 0)
		err = l4_worker_init(w, &l4);
	return err;
}

static void worker_free(struct worker *w)
{
	l4_worker_fini(w);
	net_worker_fini(w);
	port_worker_fini(w);
	scan_slot_free(w->scan);
	event_ring_free(w->events);
	free(w);
}

static int workers_new(struct dataplane *dp)
{
	uint64_t start_ns = clock_ns();
	int err = 0;

	for (unsigned i = 0; err == 0 && i < dp->options.workers; i++)
		err = worker_new(dp, i, start_ns);
	if (err == 0)
		err = handover_init(dp->workers, dp->count, HANDOVER_RING);
	if (err == 0)
		err = tap_init(dp->workers, dp->count);
	return err ? fail("workers: set up", err) : 0;
}

static void workers_free(struct dataplane *dp)
{
	tap_fini();
	handover_fini(dp->workers, dp->count);
	while (dp->count > 0)
		worker_free(dp->workers[--dp->count]);
}

static int worker_main(void *arg)
{
	struct dataplane *dp = arg;
	unsigned index = rte_lcore_id() - eal_lcore(0);

	worker_run(dp->workers[index], &pipeline_ops, &dp->stop);
	return 0;
}

static int workers_launch(struct dataplane *dp)
{
	for (unsigned i = 0; i < dp->count; i++) {
		int err = rte_eal_remote_launch(worker_main, dp, eal_lcore(i));
		if (err)
			return fail("workers: start", err);
	}
	return 0;
}

static int memory_new(struct dataplane *dp)
{
	const struct options *o = &dp->options;

	dp->pool =
		mbuf_pool_new("packets", eal_mbufs(o), port_frame_max(o->port, o->ports, o->mtu));
	if (!dp->pool)
		return fail("memory: packet buffers", -ENOMEM);
	dp->holder = view_holder_new(o->workers);
	if (!dp->holder)
		return fail("memory: view", -ENOMEM);
	dp->counters_fd = counters_create(o->workers, ID_SLOTS_MAX, &dp->counters);
	if (dp->counters_fd < 0)
		return fail("memory: counters", dp->counters_fd);
	dp->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return dp->wake_fd < 0 ? fail("memory: eventfd", -errno) : 0;
}

static void memory_free(struct dataplane *dp)
{
	if (dp->wake_fd >= 0)
		close(dp->wake_fd);
	counters_unmap(&dp->counters);
	if (dp->counters_fd >= 0)
		close(dp->counters_fd);
	view_holder_free(dp->holder);
	mbuf_pool_free(dp->pool);
}

static int ports_open(struct dataplane *dp)
{
	const struct port_setup setup = {dp->pool, dp->options.workers, dp->options.mtu};
	char reason[512];

	int err = port_open(dp->options.port, dp->options.ports, &setup, reason, sizeof(reason));
	if (err)
		log_error("%s", reason);
	return err;
}

/* Everything is set up: serves until it is told to stop. */
static int serve(struct dataplane *dp)
{
	struct control control;
	struct identity id;
	int err = rights_identity("--user", dp->options.user, &id);

	if (err == 0)
		err = control_init(&control, dp, &id);
	if (err)
		return err;
	err = privileges_drop(&id);
	if (err == 0)
		err = workers_launch(dp);
	if (err == 0) {
		log_notice("serving: %u workers, %u ports", dp->count, port_count());
		control_run(&control);
	}
	__atomic_store_n(&dp->stop, true, __ATOMIC_RELAXED);
	rte_eal_mp_wait_lcore();
	control_fini(&control);
	view_free(view_holder_swap(dp->holder, NULL));
	return err;
}

static int run(struct dataplane *dp)
{
	int err = memory_new(dp);

	if (err == 0)
		err = ports_open(dp);
	if (err == 0)
		err = workers_new(dp);
	if (err == 0)
		err = serve(dp);
	workers_free(dp);
	port_close();
	memory_free(dp);
	return err;
}

/* Inherited by all threads: stop signals come to the control thread's descriptor alone. */
static void block_signals(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

int main(int argc, char **argv)
{
	struct dataplane dp = {.counters_fd = -1, .wake_fd = -1};

	log_init("weir-dp", LOG_LEVEL_NOTICE);
	switch (options_parse(argc, argv, &dp.options)) {
	case OPTIONS_HELP:
		return 0;
	case OPTIONS_BAD:
		return 2;
	case OPTIONS_RUN:
		break;
	}
	if (dp.options.verbose)
		log_init("weir-dp", LOG_LEVEL_DEBUG);
	block_signals();
	if (getrandom(&dp.instance, sizeof(dp.instance), 0) != sizeof(dp.instance))
		return 1;
	if (eal_start(&dp.options) < 0)
		return 1;
	int err = run(&dp);
	eal_stop(&dp.options);
	return err ? 1 : 0;
}
