/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/holder.h"

#include <stdlib.h>
#include <time.h>

#include <rte_malloc.h>

#define WAIT_STEP_NS                                                                               \
	20000 /* shorter than a worker's nap: the control thread shares its core with them */

struct view_holder *view_holder_new(unsigned workers)
{
	struct view_holder *h = calloc(1, sizeof(*h));
	if (!h)
		return NULL;
	h->qsbr = rte_zmalloc("qsbr", rte_rcu_qsbr_get_memsize(workers), RTE_CACHE_LINE_SIZE);
	if (!h->qsbr || rte_rcu_qsbr_init(h->qsbr, workers) != 0) {
		view_holder_free(h);
		return NULL;
	}
	for (unsigned i = 0; i < workers; i++)
		rte_rcu_qsbr_thread_register(h->qsbr, i);
	return h;
}

void view_holder_free(struct view_holder *h)
{
	if (!h)
		return;
	rte_free(h->qsbr);
	free(h);
}

void view_holder_wait(struct view_holder *h)
{
	const struct timespec step = {.tv_nsec = WAIT_STEP_NS};
	uint64_t token = rte_rcu_qsbr_start(h->qsbr);

	while (rte_rcu_qsbr_check(h->qsbr, token, false) == 0)
		nanosleep(&step, NULL);
}

const struct view *view_holder_swap(struct view_holder *h, const struct view *v)
{
	const struct view *old = h->view;

	__atomic_store_n(&h->view, v, __ATOMIC_RELEASE);
	view_holder_wait(h);
	return old;
}
