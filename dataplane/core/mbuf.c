/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/mbuf.h"

#include <rte_errno.h>

#define MBUF_CACHE 256u
#define MBUF_ROOM_MIN 2048u

struct rte_mempool *mbuf_pool_new(const char *name, unsigned n, unsigned frame_max)
{
	unsigned room = RTE_ALIGN_CEIL(RTE_MAX(frame_max, MBUF_ROOM_MIN), RTE_CACHE_LINE_SIZE);

	room += RTE_PKTMBUF_HEADROOM;
	if (room > UINT16_MAX) {
		rte_errno = EINVAL;
		return NULL;
	}
	return poison_pool_new(name, n, RTE_MIN(MBUF_CACHE, n / 2), (uint16_t)room);
}

void mbuf_pool_free(struct rte_mempool *pool)
{
	poison_pool_free(pool);
}

struct rte_mbuf *mbuf_copy(const struct rte_mbuf *m, struct rte_mempool *pool)
{
	struct rte_mbuf *copy = mbuf_new(pool);

	if (!copy)
		return NULL;
	if (m->pkt_len > rte_pktmbuf_tailroom(copy)) {
		rte_pktmbuf_free(copy);
		return NULL;
	}
	char *to = mbuf_append(copy, (uint16_t)m->pkt_len);
	for (const struct rte_mbuf *s = m; s; s = s->next) {
		memcpy(to, rte_pktmbuf_mtod(s, const char *), s->data_len);
		to += s->data_len;
	}
	copy->port = m->port;
	*pkt_of(copy) = *(const struct pkt *)rte_mbuf_to_priv((struct rte_mbuf *)(uintptr_t)m);
	return copy;
}

struct rte_mbuf *mbuf_join(struct rte_mbuf *m, struct rte_mempool *pool)
{
	if (m->nb_segs == 1)
		return m;
	struct rte_mbuf *joined = mbuf_copy(m, pool);
	if (joined)
		rte_pktmbuf_free(m);
	return joined;
}
