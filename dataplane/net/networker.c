/* SPDX-License-Identifier: BSD-3-Clause */
/* Start, end and upkeep of a worker's network side. */
#include <errno.h>
#include <stdlib.h>

#include "net/netprivate.h"

int net_worker_init(struct worker *w, unsigned nexthops_max)
{
	w->net = calloc(1, sizeof(*w->net));
	if (!w->net)
		return -ENOMEM;
	w->net->private = calloc(1, sizeof(*w->net->private));
	if (w->net->private && neighbours_init(w, nexthops_max) == 0 && fragments_init(w) == 0) {
		net_private(w)->icmp_tokens = ICMP_RATE * TICKS_PER_SECOND;
		return 0;
	}
	net_worker_fini(w);
	return -ENOMEM;
}

void net_worker_fini(struct worker *w)
{
	if (!w->net)
		return;
	if (w->net->private) {
		neighbours_fini(w);
		fragments_fini(w);
	}
	free(w->net->private);
	free(w->net);
	w->net = NULL;
}

void net_sync(struct worker *w)
{
	struct net_private *p = net_private(w);
	const struct net_tables *t = w->view->net;

	if (likely(p->addresses == t->addresses && p->signature == t->signature))
		return;
	if (p->signature != t->signature) {
		w->net->epoch++;
		neighbours_sync(w);
	}
	p->signature = t->signature;
	p->addresses = t->addresses;
	p->announce_at = 0;
	p->announce_done = p->announce_pending = false;
}

void net_house(struct worker *w)
{
	struct net_private *p = net_private(w);

	if (!w->view || p->house_tick == w->now)
		return;
	p->house_tick = w->now;
	net_sync(w);
	neighbours_house(w);
	fragments_house(w);
	if (w->index == 0)
		announce_house(w);
}
