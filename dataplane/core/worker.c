/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/worker.h"

#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "core/holder.h"
#include "core/idle.h"

#define TICK_NS (1000000000u / TICKS_PER_SECOND)
#define CPU_TIME_TICKS                                                                             \
	(TICKS_PER_SECOND / 10) /* refresh of WORKER_CPU_NS: it costs a system call */

void worker_clock(struct worker *w, uint64_t now_ns)
{
	uint32_t now = (uint32_t)((now_ns - w->start_ns) / TICK_NS) + 1;

	w->now_ns = now_ns;
	w->now = now ? now : 1;
}

static void refresh_cpu_time(struct worker *w)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	w->stat[WORKER_CPU_NS] = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void wake_control(struct worker *w)
{
	const uint64_t one = 1;

	w->wake = false;
	if (write(w->wake_fd, &one, sizeof(one)) < 0)
		return; /* full counter: it is awake anyway */
}

static void nap(struct worker *w, uint32_t ns)
{
	const struct timespec ts = {.tv_nsec = ns};

	view_holder_offline(w->holder, w->index);
	nanosleep(&ts, NULL);
	view_holder_online(w->holder, w->index);
	w->stat[WORKER_SLEEPS]++;
}

void worker_run(struct worker *w, const struct worker_ops *ops, const bool *stop)
{
	uint32_t empty = 0, cpu_time = 0;

	/* The default slack of 50 us would double the short nap. */
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	view_holder_online(w->holder, w->index);
	while (!__atomic_load_n(stop, __ATOMIC_RELAXED)) {
		worker_clock(w, clock_ns());
		w->view = view_holder_get(w->holder);
		w->busy = false;
		unsigned handled = ops->poll(w);
		ops->house(w);
		w->stat[WORKER_TURNS]++;
		if (unlikely(w->wake))
			wake_control(w);
		if (w->now - cpu_time >= CPU_TIME_TICKS) {
			cpu_time = w->now;
			refresh_cpu_time(w);
		}
		view_holder_quiescent(w->holder, w->index);
		uint32_t ns = 0;
		if (w->idle == WORKER_BACKOFF)
			ns = idle_next(&empty, handled > 0 || w->busy);
		if (ns)
			nap(w, ns);
	}
	w->view = NULL;
	view_holder_offline(w->holder, w->index);
}
