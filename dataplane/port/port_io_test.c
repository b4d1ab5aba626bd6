/* SPDX-License-Identifier: BSD-3-Clause */
/* Two workers on two in-memory ports, each a loop with one queue: port a is worker 0's, port b worker 1's. */
#include "core/test_eal.h"
#include "port/port.h"

static struct worker *w[2];
static uint8_t a, b;

static void open_ports(void)
{
	const struct port_setup setup = {w[0]->pool, 2, PORT_MTU_DEFAULT};
	struct port_config config[2];
	char reason[256];

	CHECK_INT(port_config_parse("1.1=net_ring", 0, 2, &config[0], reason, sizeof(reason)), 0);
	CHECK_INT(port_config_parse("1.1=net_ring", 1, 2, &config[1], reason, sizeof(reason)), 0);
	CHECK(port_open(config, 2, &setup, reason, sizeof(reason)) < 0);
	CHECK(strstr(reason, "1.1") && strstr(reason, "twice"));
	CHECK_INT(port_count(), 0);

	memcpy(config[1].name, "1.2", 4);
	CHECK_INT(port_open(config, 2, &setup, reason, sizeof(reason)), 0);
	CHECK_INT(port_count(), 2);
	a = port_by_name("1.1");
	b = port_by_name("1.2");
	CHECK(a != b && a != PORT_NONE && b != PORT_NONE);
	CHECK_INT(port_by_name("1.3"), PORT_NONE);
	CHECK_STR(port_at(a)->driver, "net_ring");
	CHECK(port_at(a)->up);
	CHECK_INT(port_worker_init(w[0]), 0);
	CHECK_INT(port_worker_init(w[1]), 0);
}

static struct rte_mbuf *frame(uint32_t number, uint16_t length)
{
	struct rte_mbuf *m = mbuf_new(w[0]->pool);

	CHECK(m != NULL);
	uint8_t *p = mbuf_append(m, length);
	CHECK(p != NULL);
	memset(p, 0, length);
	memcpy(p, &number, sizeof(number));
	return m;
}

static void expect(struct worker *worker, uint8_t port, uint32_t number)
{
	struct rte_mbuf *got[PKT_BURST];
	uint32_t is;

	CHECK_INT(port_receive(worker, got), 1);
	memcpy(&is, rte_pktmbuf_mtod(got[0], void *), sizeof(is));
	CHECK_INT(is, number);
	CHECK_INT(pkt_of(got[0])->port, port);
	CHECK_INT(pkt_of(got[0])->stage, PKT_DISPATCH);
	rte_pktmbuf_free(got[0]);
	CHECK_INT(port_receive(worker, got), 0);
}

/* Nothing leaves before the flush; a worker sees its own port only. */
static void test_own_queue(void)
{
	struct rte_mbuf *got[PKT_BURST];

	port_send(w[0], frame(1, 60), a);
	CHECK_INT(port_receive(w[0], got), 0);
	port_flush(w[0]);
	CHECK_INT(port_receive(w[1], got), 0);
	expect(w[0], a, 1);
	port_send(w[1], frame(2, 60), b);
	port_flush(w[1]);
	expect(w[1], b, 2);
	CHECK_INT(w[0]->stat[WORKER_TX_PACKETS], 1);
	CHECK_INT(w[0]->stat[WORKER_TX_BYTES], 60);
	CHECK_INT(w[0]->stat[WORKER_RX_PACKETS], 1);
	CHECK_INT(w[0]->stat[WORKER_RX_BYTES], 60);
}

/* Fewer queues than workers: the frame goes to the queue's owner by ring. */
static void test_foreign_queue(void)
{
	struct rte_mbuf *got[PKT_BURST];

	port_send(w[0], frame(3, 60), b);
	port_flush(w[0]);
	handover_flush(w[0]);
	CHECK_INT(handover_receive(w[1], got, PKT_BURST), 1);
	CHECK_INT(pkt_of(got[0])->stage, PKT_TRANSMIT);
	CHECK_INT(pkt_of(got[0])->port, b);
	port_send(w[1], got[0], pkt_of(got[0])->port);
	port_flush(w[1]);
	expect(w[1], b, 3);
}

static void test_burst_and_order(void)
{
	struct rte_mbuf *got[PKT_BURST];
	uint32_t next = 0;

	for (uint32_t i = 0; i < 3 * PKT_BURST + 1; i++)
		port_send(w[0], frame(i, 60), a);
	port_flush(w[0]);
	for (unsigned n; (n = port_receive(w[0], got)) > 0;) {
		for (unsigned i = 0; i < n; i++, next++) {
			CHECK_INT(*rte_pktmbuf_mtod(got[i], uint32_t *), next);
			rte_pktmbuf_free(got[i]);
		}
	}
	CHECK_INT(next, 3 * PKT_BURST + 1);
}

/* A port that cannot send chains gets joined frames; one that can gets them as they are. */
static void test_chains(void)
{
	struct port *port = (struct port *)(uintptr_t)port_at(a);
	struct rte_mbuf *got[PKT_BURST];

	for (int multi = 0; multi < 2; multi++) {
		struct rte_mbuf *m = frame(7, 100), *tail = frame(8, 50);
		port->multi_segs = multi;
		CHECK_INT(rte_pktmbuf_chain(m, tail), 0);
		port_send(w[0], m, a);
		CHECK_INT(w[0]->port != NULL, 1);
		port_flush(w[0]);
		/* Received chains are joined as well: here it is one segment either way. */
		CHECK_INT(port_receive(w[0], got), 1);
		CHECK_INT(got[0]->nb_segs, 1);
		CHECK_INT(got[0]->pkt_len, 150);
		CHECK_INT(*rte_pktmbuf_mtod_offset(got[0], uint32_t *, 100), 8);
		rte_pktmbuf_free(got[0]);
	}
}

static void test_too_big(void)
{
	uint16_t most = port_at(a)->mtu_max + PORT_FRAME_EXTRA;
	uint64_t dropped = w[0]->drop[DROP_TOO_BIG];
	struct rte_mbuf *m = frame(9, 1400);

	for (uint16_t length = 1400; length <= most; length += 1000) {
		struct rte_mbuf *more = frame(9, 1000);
		CHECK_INT(rte_pktmbuf_chain(m, more), 0);
	}
	port_send(w[0], m, a);
	CHECK_INT(w[0]->drop[DROP_TOO_BIG], dropped + 1);
}

static void test_down(void)
{
	struct port *port = (struct port *)(uintptr_t)port_at(a);
	struct rte_mbuf *got[PKT_BURST];

	port->up = false;
	port_send(w[0], frame(1, 60), a);
	port_flush(w[0]);
	CHECK_INT(w[0]->drop[DROP_TX_NO_PORT], 1);
	port->up = true;
	CHECK_INT(port_receive(w[0], got), 0);
}

/* A tag that the driver took out goes back into the data; one that it left there is not doubled. */
static void test_tag(void)
{
	struct port *port = (struct port *)(uintptr_t)port_at(a);
	struct rte_mbuf *got[PKT_BURST];
	const uint8_t want[] = {9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x81, 0, 0x20, 0x0a};

	for (int in_data = 0; in_data < 2; in_data++) {
		struct rte_mbuf *m = frame(9, 60);
		port->tag_in_data = in_data;
		m->ol_flags = RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
		m->vlan_tci = 0x200a;
		port_send(w[0], m, a);
		port_flush(w[0]);
		CHECK_INT(port_receive(w[0], got), 1);
		CHECK_INT(got[0]->pkt_len, in_data ? 60 : 64);
		if (!in_data)
			CHECK(memcmp(rte_pktmbuf_mtod(got[0], void *), want, sizeof(want)) == 0);
		CHECK_INT(got[0]->ol_flags, 0);
		rte_pktmbuf_free(got[0]);
	}
}

int main(void)
{
	test_eal_init(96);
	test_workers_new(w, 2, 8);
	unsigned available = rte_mempool_avail_count(w[0]->pool);
	open_ports();
	test_own_queue();
	test_foreign_queue();
	test_burst_and_order();
	test_chains();
	test_too_big();
	test_down();
	test_tag();
	port_worker_fini(w[0]);
	port_worker_fini(w[1]);
	port_close();
	CHECK_INT(rte_mempool_avail_count(w[0]->pool), available);
	test_workers_free(w, 2);
	return 0;
}
