/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "core/test_eal.h"

static struct worker *w[3];

static struct rte_mbuf *numbered(uint32_t number)
{
	struct rte_mbuf *m = mbuf_new(w[0]->pool);
	CHECK(m != NULL);
	pkt_of(m)->owner_hash = number;
	return m;
}

static void test_order_and_stage(void)
{
	struct rte_mbuf *got[PKT_BURST];

	for (uint32_t i = 0; i < 5; i++)
		handover_send(w[0], 1, numbered(i), PKT_MISSED);
	CHECK_INT(handover_receive(w[1], got, PKT_BURST), 0);
	handover_flush(w[0]);
	CHECK_INT(handover_receive(w[2], got, PKT_BURST), 0);
	CHECK_INT(handover_receive(w[1], got, PKT_BURST), 5);
	for (uint32_t i = 0; i < 5; i++) {
		CHECK_INT(pkt_of(got[i])->owner_hash, i);
		CHECK_INT(pkt_of(got[i])->stage, PKT_MISSED);
		rte_pktmbuf_free(got[i]);
	}
	CHECK_INT(w[0]->stat[WORKER_HANDED_OVER], 5);
	CHECK_INT(w[1]->stat[WORKER_HANDED_IN], 5);
}

/* A full burst leaves without a flush. */
static void test_burst(void)
{
	struct rte_mbuf *got[2 * PKT_BURST];

	for (uint32_t i = 0; i < PKT_BURST + 1; i++)
		handover_send(w[0], 1, numbered(i), PKT_DISPATCH);
	CHECK_INT(handover_receive(w[1], got, 2 * PKT_BURST), PKT_BURST);
	handover_flush(w[0]);
	CHECK_INT(handover_receive(w[1], got + PKT_BURST, PKT_BURST), 1);
	rte_pktmbuf_free_bulk(got, PKT_BURST + 1);
}

/* Two senders that always fill the receiver's burst: both come through. */
static void test_fair(void)
{
	struct rte_mbuf *got[PKT_BURST];
	unsigned from[2] = {0, 0};

	for (uint32_t i = 0; i < 4 * PKT_BURST; i++) {
		handover_send(w[0], 2, numbered(0), PKT_DISPATCH);
		handover_send(w[1], 2, numbered(1), PKT_DISPATCH);
	}
	for (unsigned turn = 0; turn < 4; turn++) {
		CHECK_INT(handover_receive(w[2], got, PKT_BURST), PKT_BURST);
		for (unsigned i = 0; i < PKT_BURST; i++) {
			from[pkt_of(got[i])->owner_hash]++;
			rte_pktmbuf_free(got[i]);
		}
	}
	CHECK(from[0] >= PKT_BURST && from[1] >= PKT_BURST);
	while (handover_receive(w[2], got, 1))
		rte_pktmbuf_free(got[0]);
}

static void test_full_ring_drops_counted(void)
{
	struct rte_mbuf *m;
	uint64_t sent = w[0]->stat[WORKER_HANDED_OVER];
	unsigned got = 0;

	for (uint32_t i = 0; i < HANDOVER_RING + 100; i++)
		handover_send(w[0], 1, numbered(i), PKT_DISPATCH);
	handover_flush(w[0]);
	CHECK_INT(w[0]->drop[DROP_HANDOVER_FULL], 100);
	CHECK_INT(w[0]->stat[WORKER_HANDED_OVER] - sent, HANDOVER_RING);
	while (handover_receive(w[1], &m, 1)) {
		CHECK_INT(pkt_of(m)->owner_hash, got);
		got++;
		rte_pktmbuf_free(m);
	}
	CHECK_INT(got, HANDOVER_RING);
}

/* What waits at the end goes back to its pool. */
static void test_fini(unsigned available)
{
	for (uint32_t i = 0; i < PKT_BURST + 3; i++)
		handover_send(w[0], 1, numbered(i), PKT_DISPATCH);
	handover_fini(w, 3);
	CHECK_INT(rte_mempool_avail_count(w[0]->pool), available);
}

int main(void)
{
	test_eal_init(64);
	test_workers_new(w, 3, 8);
	unsigned available = rte_mempool_avail_count(w[0]->pool);
	test_order_and_stage();
	test_burst();
	test_fair();
	test_full_ring_drops_counted();
	CHECK_INT(rte_mempool_avail_count(w[0]->pool), available);
	test_fini(available);
	test_workers_free(w, 3);
	return 0;
}
