/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/test_eal.h"

static struct rte_mempool *pool;

/* A chain of segments that holds the bytes 0, 1, 2, ... */
static struct rte_mbuf *chain(const unsigned *lengths, unsigned segments)
{
	struct rte_mbuf *head = NULL;
	uint8_t next = 0;

	for (unsigned i = 0; i < segments; i++) {
		struct rte_mbuf *m = mbuf_new(pool);
		CHECK(m != NULL);
		uint8_t *p = mbuf_append(m, (uint16_t)lengths[i]);
		CHECK(p != NULL);
		for (unsigned j = 0; j < lengths[i]; j++)
			p[j] = next++;
		if (head)
			CHECK_INT(rte_pktmbuf_chain(head, m), 0);
		else
			head = m;
	}
	return head;
}

static void check_bytes(struct rte_mbuf *m, unsigned length)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);

	CHECK_INT(m->nb_segs, 1);
	CHECK_INT(m->pkt_len, length);
	CHECK_INT(m->data_len, length);
	for (unsigned i = 0; i < length; i++)
		CHECK_INT(p[i], (uint8_t)i);
}

static void test_join(void)
{
	const unsigned lengths[] = {54, 700, 1, 745};
	struct rte_mbuf *m = chain(lengths, 4);

	pkt_of(m)->vlan = 77;
	m = mbuf_join(m, pool);
	CHECK(m != NULL);
	check_bytes(m, 1500);
	CHECK_INT(pkt_of(m)->vlan, 77);
	CHECK(mbuf_join(m, pool) == m);
	rte_pktmbuf_free(m);
}

static void test_join_too_long(void)
{
	const unsigned lengths[] = {1500, 1500};
	struct rte_mbuf *m = chain(lengths, 2);

	CHECK(mbuf_join(m, pool) == NULL);
	CHECK_INT(m->nb_segs, 2);
	CHECK_INT(m->pkt_len, 3000);
	rte_pktmbuf_free(m);
}

static void test_copy(void)
{
	const unsigned lengths[] = {100};
	struct rte_mbuf *m = chain(lengths, 1);

	pkt_of(m)->wire.l3 = 14;
	struct rte_mbuf *copy = mbuf_copy(m, pool);
	CHECK(copy != NULL && copy != m);
	*rte_pktmbuf_mtod(m, uint8_t *) = 99;
	check_bytes(copy, 100);
	CHECK_INT(pkt_of(copy)->wire.l3, 14);
	rte_pktmbuf_free(copy);
	rte_pktmbuf_free(m);
}

static void test_no_buffer(void)
{
	const unsigned lengths[] = {10, 10};
	struct rte_mbuf *m = chain(lengths, 2), *taken[64];
	unsigned n = 0;

	while (n < 64 && (taken[n] = mbuf_new(pool)))
		n++;
	CHECK(n < 64);
	CHECK(mbuf_copy(m, pool) == NULL);
	CHECK(mbuf_join(m, pool) == NULL);
	CHECK_INT(m->nb_segs, 2);
	rte_pktmbuf_free_bulk(taken, n);
	rte_pktmbuf_free(m);
}

static void test_grow_and_shrink(void)
{
	const unsigned lengths[] = {100};
	struct rte_mbuf *m = chain(lengths, 1);

	CHECK(mbuf_prepend(m, 4) != NULL);
	memset(rte_pktmbuf_mtod(m, void *), 0xee, 4);
	CHECK(mbuf_adj(m, 4) != NULL);
	CHECK_INT(mbuf_trim(m, 20), 0);
	check_bytes(m, 80);
	CHECK(mbuf_prepend(m, RTE_PKTMBUF_HEADROOM + 1) == NULL);
	CHECK(mbuf_append(m, 4000) == NULL);
	CHECK(mbuf_adj(m, 81) == NULL);
	CHECK_INT(mbuf_trim(m, 81), -1);
	check_bytes(m, 80);
	rte_pktmbuf_free(m);
}

static void widen(struct rte_mempool *mp, void *opaque, void *object, unsigned index)
{
	uintptr_t *range = opaque, at = (uintptr_t)object;

	range[0] = RTE_MIN(range[0], at);
	range[1] = RTE_MAX(range[1], at);
}

/* What af_xdp tells the kernel about a pool holds: (buffers x size) covers every buffer. */
static void test_no_gaps(void)
{
	uintptr_t range[2] = {UINTPTR_MAX, 0};
	uint32_t size = rte_mempool_calc_obj_size(pool->elt_size, pool->flags, NULL);

	rte_mempool_obj_iter(pool, widen, range);
	CHECK_INT(range[1] - range[0], (uintptr_t)size * (pool->populated_size - 1));
}

int main(void)
{
	test_eal_init(64);
	pool = mbuf_pool_new("few", 63, 1500);
	CHECK(pool != NULL);
	test_no_gaps();
	test_join();
	test_join_too_long();
	test_copy();
	test_no_buffer();
	test_grow_and_shrink();
	CHECK_INT(rte_mempool_avail_count(pool), 63);
	mbuf_pool_free(pool);
	return 0;
}
