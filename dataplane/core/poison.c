/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/poison.h"

#include <rte_eal.h>
#include <rte_mbuf_pool_ops.h>

#include "core/pkt.h"

/*
 * As rte_pktmbuf_pool_create_by_ops, but without PCI devices buffers lie side by side. By default DPDK
 * keeps each within a page, and the pool is longer than the (buffers x size) that the af_xdp driver
 * registers with the kernel, which then throws away every buffer behind that.
 */
static struct rte_mempool *pool_new(
	const char *name, unsigned n, unsigned cache, uint16_t room, const char *ops)
{
	struct rte_pktmbuf_pool_private data = {
		.mbuf_data_room_size = room, .mbuf_priv_size = PKT_PRIV};
	unsigned flags = rte_eal_has_pci() ? 0 : RTE_MEMPOOL_F_NO_IOVA_CONTIG;
	struct rte_mempool *mp =
		rte_mempool_create_empty(name, n, sizeof(struct rte_mbuf) + PKT_PRIV + room, cache,
			sizeof(data), SOCKET_ID_ANY, flags);

	if (!mp)
		return NULL;
	if (rte_mempool_set_ops_byname(mp, ops, NULL) < 0) {
		rte_mempool_free(mp);
		return NULL;
	}
	rte_pktmbuf_pool_init(mp, &data);
	if (rte_mempool_populate_default(mp) < 0) {
		rte_mempool_free(mp);
		return NULL;
	}
	rte_mempool_obj_iter(mp, rte_pktmbuf_init, NULL);
	return mp;
}

#ifndef WEIR_SANITIZE

struct rte_mempool *poison_pool_new(const char *name, unsigned n, unsigned cache, uint16_t room)
{
	return pool_new(name, n, cache, room, rte_mbuf_best_mempool_ops());
}

void poison_pool_free(struct rte_mempool *pool)
{
	rte_mempool_free(pool);
}

#else

#include <sanitizer/asan_interface.h>

#include <rte_errno.h>
#include <rte_ring.h>

/*
 * Every get and put of the pool passes the operations below: such a pool has no per-core cache, which
 * would lie before them. Until the pool is armed its buffers are initialised by DPDK and stay open.
 */
struct poison_pool {
	struct rte_ring *ring;
	bool armed;
};

static int pool_alloc(struct rte_mempool *mp)
{
	char name[RTE_RING_NAMESIZE];
	struct poison_pool *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	snprintf(name, sizeof(name), "PP_%.24s", mp->name);
	p->ring = rte_ring_create(name, mp->size, mp->socket_id, RING_F_EXACT_SZ);
	if (!p->ring) {
		free(p);
		return -rte_errno;
	}
	mp->pool_data = p;
	return 0;
}

static void pool_free(struct rte_mempool *mp)
{
	struct poison_pool *p = mp->pool_data;

	rte_ring_free(p->ring);
	free(p);
}

static int pool_enqueue(struct rte_mempool *mp, void *const *objects, unsigned n)
{
	struct poison_pool *p = mp->pool_data;

	for (unsigned i = 0; p->armed && i < n; i++)
		ASAN_POISON_MEMORY_REGION(objects[i], mp->elt_size);
	return rte_ring_mp_enqueue_bulk(p->ring, objects, n, NULL) ? 0 : -ENOBUFS;
}

static int pool_dequeue(struct rte_mempool *mp, void **objects, unsigned n)
{
	struct poison_pool *p = mp->pool_data;

	if (!rte_ring_mc_dequeue_bulk(p->ring, objects, n, NULL))
		return -ENOBUFS;
	for (unsigned i = 0; i < n; i++)
		ASAN_UNPOISON_MEMORY_REGION(objects[i], mp->elt_size);
	return 0;
}

static unsigned pool_count(const struct rte_mempool *mp)
{
	const struct poison_pool *p = mp->pool_data;

	return rte_ring_count(p->ring);
}

static const struct rte_mempool_ops poison_ops = {
	.name = "weir_poison",
	.alloc = pool_alloc,
	.free = pool_free,
	.enqueue = pool_enqueue,
	.dequeue = pool_dequeue,
	.get_count = pool_count,
};

RTE_MEMPOOL_REGISTER_OPS(poison_ops);

static void poison_object(struct rte_mempool *mp, void *opaque, void *object, unsigned index)
{
	ASAN_POISON_MEMORY_REGION(object, mp->elt_size);
}

static void open_object(struct rte_mempool *mp, void *opaque, void *object, unsigned index)
{
	ASAN_UNPOISON_MEMORY_REGION(object, mp->elt_size);
}

struct rte_mempool *poison_pool_new(const char *name, unsigned n, unsigned cache, uint16_t room)
{
	struct rte_mempool *mp = pool_new(name, n, 0, room, poison_ops.name);

	if (!mp)
		return NULL;
	((struct poison_pool *)mp->pool_data)->armed = true;
	rte_mempool_obj_iter(mp, poison_object, NULL);
	return mp;
}

void poison_pool_free(struct rte_mempool *pool)
{
	if (!pool)
		return;
	rte_mempool_obj_iter(pool, open_object, NULL);
	rte_mempool_free(pool);
}

void poison_open(struct rte_mbuf *m)
{
	for (; m; m = m->next)
		ASAN_UNPOISON_MEMORY_REGION(m->buf_addr, m->buf_len);
}

void poison_window(struct rte_mbuf *m)
{
	for (; m; m = m->next) {
		char *data = rte_pktmbuf_mtod(m, char *);

		ASAN_POISON_MEMORY_REGION(m->buf_addr, m->buf_len);
		ASAN_UNPOISON_MEMORY_REGION(data, m->data_len);
	}
}

#endif
