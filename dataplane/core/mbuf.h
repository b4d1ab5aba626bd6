/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packet buffers. In the sanitizer build free buffers, headroom and tailroom are poisoned (poison.h);
 * whoever grows or shrinks a packet uses these functions, so that the limits move with it.
 */
#ifndef WEIR_CORE_MBUF_H
#define WEIR_CORE_MBUF_H

#include "core/pkt.h"
#include "core/poison.h"

/* A pool of n buffers with room for frames of frame_max bytes in one segment, and PKT_PRIV bytes of
 * private area. NULL with rte_errno set. */
struct rte_mempool *mbuf_pool_new(const char *name, unsigned n, unsigned frame_max);
void mbuf_pool_free(struct rte_mempool *pool);

/* An empty packet, or NULL. The private area is zero. */
static inline struct rte_mbuf *mbuf_new(struct rte_mempool *pool)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	if (likely(m != NULL)) {
		memset(pkt_of(m), 0, sizeof(struct pkt));
		poison_window(m);
	}
	return m;
}

/* n more bytes in front; NULL if the headroom is shorter. */
static inline void *mbuf_prepend(struct rte_mbuf *m, uint16_t n)
{
	void *p = rte_pktmbuf_prepend(m, n);
	poison_window(m);
	return p;
}

/* n more bytes behind; NULL if the tailroom is shorter. */
static inline void *mbuf_append(struct rte_mbuf *m, uint16_t n)
{
	void *p = rte_pktmbuf_append(m, n);
	poison_window(m);
	return p;
}

/* Cuts n bytes in front; NULL if the (first) segment is shorter. */
static inline void *mbuf_adj(struct rte_mbuf *m, uint16_t n)
{
	void *p = rte_pktmbuf_adj(m, n);
	poison_window(m);
	return p;
}

/* Cuts n bytes behind; -1 if the last segment is shorter. */
static inline int mbuf_trim(struct rte_mbuf *m, uint16_t n)
{
	int r = rte_pktmbuf_trim(m, n);
	poison_window(m);
	return r;
}

/* A deep copy in one segment, private area included; NULL if there is no buffer or it does not fit. */
struct rte_mbuf *mbuf_copy(const struct rte_mbuf *m, struct rte_mempool *pool);

/* m in one segment: m itself, or a copy from pool (m is freed then). NULL if there is no buffer or it
 * does not fit; m is untouched then. */
struct rte_mbuf *mbuf_join(struct rte_mbuf *m, struct rte_mempool *pool);

#endif
