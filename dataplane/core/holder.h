/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Holds the view in force. The control thread swaps one pointer and waits until every worker has passed
 * a quiescent point (QSBR); what it replaced may then be freed.
 */
#ifndef WEIR_CORE_HOLDER_H
#define WEIR_CORE_HOLDER_H

#include <rte_rcu_qsbr.h>

#include "core/view.h"

struct view_holder {
	const struct view *view;   /* control thread stores (release), workers load (acquire) */
	struct rte_rcu_qsbr *qsbr; /* workers report, control thread waits */
};

/* NULL on no memory. Every worker 0..workers-1 is registered and off-line. */
struct view_holder *view_holder_new(unsigned workers);
void view_holder_free(struct view_holder *h);

/* Control thread: publishes v, waits for quiescence. Returns what was in force before (NULL = none): no
 * worker can see it any more. */
const struct view *view_holder_swap(struct view_holder *h, const struct view *v);

/* Control thread: returns when no worker can still see anything that was unpublished before the call. */
void view_holder_wait(struct view_holder *h);

static inline const struct view *view_holder_get(const struct view_holder *h)
{
	return __atomic_load_n(&h->view, __ATOMIC_ACQUIRE);
}

static inline void view_holder_quiescent(struct view_holder *h, unsigned worker)
{
	rte_rcu_qsbr_quiescent(h->qsbr, worker);
}

static inline void view_holder_online(struct view_holder *h, unsigned worker)
{
	rte_rcu_qsbr_thread_online(h->qsbr, worker);
}

static inline void view_holder_offline(struct view_holder *h, unsigned worker)
{
	rte_rcu_qsbr_thread_offline(h->qsbr, worker);
}

#endif
