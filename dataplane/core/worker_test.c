/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop itself, on the test's own thread: its stages end it after a number of turns. */
#include <sys/eventfd.h>

#include "core/holder.h"
#include "core/test_eal.h"

static bool stop;
static unsigned turns, work_until, end_at, events_at;
static const struct view *seen;

static unsigned poll_stage(struct worker *w)
{
	seen = w->view;
	turns++;
	CHECK(w->now != 0);
	return turns <= work_until;
}

static void house_stage(struct worker *w)
{
	CHECK(!w->wake);
	if (turns == events_at) {
		worker_event(w, EVENT_LIMIT_REACHED, 1, 0, NULL, NULL);
		worker_event(w, EVENT_LIMIT_REACHED, 2, 0, NULL, NULL);
	}
	if (turns >= end_at)
		stop = true;
}

static const struct worker_ops ops = {poll_stage, house_stage};

static void run(struct worker *w, enum worker_idle idle, unsigned work, unsigned end)
{
	stop = false;
	turns = 0;
	work_until = work;
	end_at = end;
	w->idle = idle;
	memset(w->stat, 0, WORKER_COUNTERS * sizeof(uint64_t));
	worker_run(w, &ops, &stop);
	CHECK_INT(w->stat[WORKER_TURNS], end);
}

static void test_idle_policies(struct worker *w)
{
	run(w, WORKER_BACKOFF, 0, 100);
	CHECK_INT(w->stat[WORKER_SLEEPS], 100 - 64);
	run(w, WORKER_BACKOFF, 90, 100);
	CHECK_INT(w->stat[WORKER_SLEEPS], 0);
	run(w, WORKER_POLL, 0, 5000);
	CHECK_INT(w->stat[WORKER_SLEEPS], 0);
	CHECK(w->stat[WORKER_CPU_NS] > 0);
}

static void test_view(struct worker *w)
{
	struct view v = {0};

	run(w, WORKER_POLL, 0, 2);
	CHECK(seen == NULL);
	CHECK(view_holder_swap(w->holder, &v) ==
		NULL); /* off-line after the loop: nothing to wait for */
	run(w, WORKER_POLL, 0, 2);
	CHECK(seen == &v);
	CHECK(w->view == NULL);
	CHECK(view_holder_swap(w->holder, NULL) == &v);
}

/* Two events of a turn wake the control thread once. */
static void test_wake(struct worker *w)
{
	uint64_t count = 0;

	events_at = 3;
	run(w, WORKER_POLL, 0, 5);
	CHECK_INT(read(w->wake_fd, &count, sizeof(count)), sizeof(count));
	CHECK_INT(count, 1);
	CHECK(read(w->wake_fd, &count, sizeof(count)) < 0);
}

/* Ticks are 10 ms, start at 1 and never show 0, also when they wrap after 497 days. */
static void test_clock(struct worker *w)
{
	const uint64_t tick = 10000000, wrap = (1ull << 32) * tick;

	w->start_ns = 12345;
	worker_clock(w, 12345);
	CHECK_INT(w->now, 1);
	worker_clock(w, 12345 + tick - 1);
	CHECK_INT(w->now, 1);
	worker_clock(w, 12345 + 100 * tick);
	CHECK_INT(w->now, 101);
	CHECK_INT(w->now_ns, 12345 + 100 * tick);
	worker_clock(w, 12345 + wrap - tick);
	CHECK_INT(w->now, 1);
	worker_clock(w, 12345 + wrap);
	CHECK_INT(w->now, 1);
	worker_clock(w, 12345 + wrap + tick);
	CHECK_INT(w->now, 2);
	w->start_ns = 0;
}

int main(void)
{
	struct worker *w[1];

	test_eal_init(64);
	test_workers_new(w, 1, 8);
	w[0]->holder = view_holder_new(1);
	w[0]->wake_fd = eventfd(0, EFD_NONBLOCK);
	CHECK(w[0]->holder != NULL && w[0]->wake_fd >= 0);
	test_idle_policies(w[0]);
	test_view(w[0]);
	test_wake(w[0]);
	test_clock(w[0]);
	close(w[0]->wake_fd);
	view_holder_free(w[0]->holder);
	test_workers_free(w, 1);
	return 0;
}
