/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/handover.h"

#include <errno.h>
#include <stdlib.h>

#include <rte_errno.h>
#include <rte_ring.h>

struct handover {
	struct rte_ring *in[WORKERS_MAX];  /* by sender */
	struct rte_ring *out[WORKERS_MAX]; /* by receiver: the same ring as that one's in */
	struct rte_mbuf *queue[WORKERS_MAX][PKT_BURST];
	uint16_t queued[WORKERS_MAX];
	unsigned turn; /* whose ring is emptied first: nobody starves */
};

static int connect_pair(struct handover *from, struct handover *to, unsigned from_index,
	unsigned to_index, unsigned ring_size)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "hand_%u_%u", from_index, to_index);
	struct rte_ring *ring = rte_ring_create(
		name, ring_size, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	if (!ring)
		return -rte_errno;
	from->out[to_index] = ring;
	to->in[from_index] = ring;
	return 0;
}

int handover_init(struct worker *const *workers, unsigned count, unsigned ring_size)
{
	for (unsigned i = 0; i < count; i++) {
		workers[i]->handover = calloc(1, sizeof(struct handover));
		if (!workers[i]->handover)
			goto no_memory;
	}
	for (unsigned i = 0; i < count; i++) {
		for (unsigned j = 0; j < count; j++) {
			if (i != j && connect_pair(workers[i]->handover, workers[j]->handover, i, j,
					      ring_size) != 0)
				goto no_memory;
		}
	}
	return 0;
no_memory:
	handover_fini(workers, count);
	return -ENOMEM;
}

void handover_fini(struct worker *const *workers, unsigned count)
{
	struct rte_mbuf *m;

	for (unsigned i = 0; i < count; i++) {
		struct handover *h = workers[i]->handover;
		if (!h)
			continue;
		for (unsigned j = 0; j < count; j++) {
			rte_pktmbuf_free_bulk(h->queue[j], h->queued[j]);
			while (h->in[j] && rte_ring_sc_dequeue(h->in[j], (void **)&m) == 0)
				rte_pktmbuf_free(m);
			rte_ring_free(h->in[j]);
		}
		free(h);
		workers[i]->handover = NULL;
	}
}

static void send_queue(struct worker *w, unsigned to)
{
	struct handover *h = w->handover;
	unsigned n = h->queued[to];

	unsigned sent = rte_ring_sp_enqueue_burst(h->out[to], (void **)h->queue[to], n, NULL);
	w->stat[WORKER_HANDED_OVER] += sent;
	for (unsigned i = sent; i < n; i++)
		worker_drop(w, h->queue[to][i], DROP_HANDOVER_FULL);
	h->queued[to] = 0;
}

void handover_send(struct worker *w, unsigned to, struct rte_mbuf *m, enum pkt_stage stage)
{
	struct handover *h = w->handover;

	pkt_of(m)->stage = stage;
	h->queue[to][h->queued[to]++] = m;
	if (h->queued[to] == PKT_BURST)
		send_queue(w, to);
}

void handover_flush(struct worker *w)
{
	for (unsigned to = 0; to < w->count; to++) {
		if (w->handover->queued[to])
			send_queue(w, to);
	}
}

unsigned handover_receive(struct worker *w, struct rte_mbuf **out, unsigned max)
{
	struct handover *h = w->handover;
	unsigned n = 0, from = h->turn;

	for (unsigned i = 0; i < w->count && n < max; i++) {
		if (h->in[from])
			n += rte_ring_sc_dequeue_burst(
				h->in[from], (void **)&out[n], max - n, NULL);
		if (++from >= w->count)
			from = 0;
	}
	if (++h->turn >= w->count)
		h->turn = 0;
	w->stat[WORKER_HANDED_IN] += n;
	return n;
}
