/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reselect tries: a SYN is kept as the client sent it until its server has answered. If the server refuses,
 * or is silent until the client asks again, the flow is ended and the SYN opens it anew on another member.
 */
#include "l4/l4_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "core/mbuf.h"

#define KEPT_MAX 1024u /* SYNs at a time; a connection beyond has no second try */

struct kept {
	struct rte_mbuf *syn;
	uint16_t tries; /* left */
	uint16_t next;	/* free list */
};

struct l4_retry {
	struct kept kept[KEPT_MAX];
	uint16_t free;	/* first free place + 1, or 0 */
	uint32_t avoid; /* member that failed, while its connection is opened anew */
	uint16_t left;	/* tries of that connection */
};

int l4_retry_init(struct l4_worker *l4)
{
	struct l4_retry *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return -ENOMEM;
	for (uint16_t i = 0; i < KEPT_MAX; i++) {
		r->kept[i].next = r->free;
		r->free = i + 1;
	}
	l4->retry = r;
	return 0;
}

void l4_retry_fini(struct l4_worker *l4)
{
	if (l4->retry == NULL)
		return;
	for (uint16_t i = 0; i < KEPT_MAX; i++)
		rte_pktmbuf_free(l4->retry->kept[i].syn);
	free(l4->retry);
}

void l4_retry_keep(struct worker *w, uint32_t index, struct rte_mbuf *m, uint16_t tries)
{
	struct l4_retry *r = w->l4->retry;

	if (tries == 0 || r->free == 0)
		return;
	struct kept *k = &r->kept[r->free - 1];
	k->syn = mbuf_copy(m, w->pool);
	if (k->syn == NULL)
		return;
	k->tries = tries;
	w->flow->flows[index].kept = r->free;
	r->free = k->next;
}

/* Takes the SYN out of its place. */
static struct rte_mbuf *take(struct worker *w, struct flow *flow)
{
	struct l4_retry *r = w->l4->retry;
	struct kept *k = &r->kept[flow->kept - 1];
	struct rte_mbuf *syn = k->syn;

	k->syn = NULL;
	k->next = r->free;
	r->free = flow->kept;
	flow->kept = 0;
	return syn;
}

void l4_retry_forget(struct worker *w, struct flow *flow)
{
	if (flow->kept != 0)
		rte_pktmbuf_free(take(w, flow));
}

bool l4_retry(struct worker *w, uint32_t index, enum connect_failure kind)
{
	struct l4_retry *r = w->l4->retry;
	struct flow *flow = &w->flow->flows[index];

	if (flow->kept == 0)
		return false;
	r->left = r->kept[flow->kept - 1].tries - 1;
	r->avoid = flow->member_id;
	struct rte_mbuf *syn = take(w, flow);
	l4_failed(w, flow, kind);
	l4_end(w, index);
	index = l4_open(w, syn);
	r->avoid = ID_NONE;
	if (index != FLOW_NONE)
		l4_forward(w, syn, index, FLOW_CLIENT);
	return true;
}

uint32_t l4_retry_avoid(const struct worker *w)
{
	return w->l4->retry->avoid;
}

uint16_t l4_retry_tries(const struct worker *w, uint16_t pool_tries)
{
	const struct l4_retry *r = w->l4->retry;

	return r->avoid == ID_NONE ? pool_tries : r->left;
}

bool l4_retry_silent(const struct worker *w, uint32_t index)
{
	return w->flow->flows[index].kept != 0 &&
	       l4_second(w) - w->flow->cold[index].start >= L4_SILENCE;
}
