/* SPDX-License-Identifier: BSD-3-Clause */
/* Readers that would notice a view freed under them: each view is filled with its number, and
 * overwritten before it is freed. */
#include <pthread.h>

#include "core/holder.h"
#include "core/test_eal.h"

#define READERS 2
#define SWAPS 2000

static struct view_holder *holder;
static bool stop;
static uint64_t turns[READERS];

static const struct view *view_numbered(size_t number)
{
	struct view *v = malloc(sizeof(*v));

	CHECK(v != NULL);
	v->length = number;
	v->snap = (const void *)(uintptr_t)number;
	return v;
}

static void *reader(void *arg)
{
	unsigned index = (unsigned)(uintptr_t)arg;
	size_t last = 0;

	view_holder_online(holder, index);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		const struct view *v = view_holder_get(holder);
		for (unsigned i = 0; v && i < 20; i++) {
			size_t number = *(volatile const size_t *)&v->length;
			CHECK(number >= last);
			CHECK_INT((uintptr_t)v->snap, number);
			last = number;
		}
		__atomic_fetch_add(&turns[index], 1, __ATOMIC_RELAXED);
		view_holder_quiescent(holder, index);
		if (index == 1 && turns[index] % 64 == 0) {
			view_holder_offline(holder, index);
			sched_yield();
			view_holder_online(holder, index);
		}
	}
	view_holder_offline(holder, index);
	return NULL;
}

static void free_view(const struct view *v)
{
	if (!v)
		return;
	memset((void *)(uintptr_t)v, 0, sizeof(*v));
	free((void *)(uintptr_t)v);
}

/* With a reader on-line that never reports, a swap does not end; it ends as soon as it reports. */
static bool swapped;

static void *swapper(void *arg)
{
	free_view(view_holder_swap(holder, view_numbered(SWAPS + 1)));
	__atomic_store_n(&swapped, true, __ATOMIC_RELEASE);
	return NULL;
}

static void test_waits_for_reader(void)
{
	const struct timespec moment = {.tv_nsec = 20000000};
	pthread_t thread;

	view_holder_online(holder, 0);
	CHECK_INT(pthread_create(&thread, NULL, swapper, NULL), 0);
	while (view_holder_get(holder)->length != SWAPS + 1)
		sched_yield();
	nanosleep(&moment, NULL);
	CHECK(!__atomic_load_n(&swapped, __ATOMIC_ACQUIRE));
	view_holder_quiescent(holder, 0);
	CHECK_INT(pthread_join(thread, NULL), 0);
	CHECK(swapped);
	view_holder_offline(holder, 0);
}

int main(void)
{
	pthread_t thread[READERS];

	test_eal_init(64);
	holder = view_holder_new(READERS);
	CHECK(holder != NULL);
	CHECK(view_holder_get(holder) == NULL);
	for (unsigned i = 0; i < READERS; i++) {
		CHECK_INT(pthread_create(&thread[i], NULL, reader, (void *)(uintptr_t)i), 0);
		while (__atomic_load_n(&turns[i], __ATOMIC_RELAXED) == 0)
			sched_yield();
	}
	for (size_t i = 1; i <= SWAPS; i++) {
		const struct view *old = view_holder_swap(holder, view_numbered(i));
		CHECK_INT(old ? old->length : 0, i - 1);
		free_view(old);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < READERS; i++)
		CHECK_INT(pthread_join(thread[i], NULL), 0);
	test_waits_for_reader();
	free_view(view_holder_swap(holder, NULL));
	view_holder_free(holder);
	return 0;
}
