/* SPDX-License-Identifier: BSD-3-Clause */
/* Fragments in (dpvs#890, loxilb#393) and out (grout#336). */
#include "net/net_fake.h"

static uint64_t now = 10000;
static uint16_t next_id = 1;

/* The worker that keeps datagrams with that id between the two hosts. */
static struct worker *keeper;

/* Bytes [from, to) of a UDP datagram of `all` bytes with header, as a fragment. */
static struct rte_mbuf *piece(uint16_t id, unsigned from, unsigned to, unsigned all, uint8_t proto)
{
	struct ip_addr src = addr("192.0.2.7"), dst = addr("10.0.1.100");
	struct udp_hdr udp = {htons(1000), htons(53), htons((uint16_t)all), htons(0x1234)};
	uint8_t body[2048] = {0};
	struct ip4_hdr *ip = (struct ip4_hdr *)body;

	emit_ip4(body, &src, &dst, proto, 64, (uint16_t)(to - from));
	ip->id = htons(id);
	ip->fragment = htons((uint16_t)(from / 8 | (to < all ? IP4_MF : 0)));
	ip->csum = 0;
	ip->csum = csum_of(ip, 20);
	if (from == 0)
		memcpy(body + 20, &udp, 8);
	return fake_wrap(0, ports[0].mac, mac_peer, ETH_TYPE_IP4, body, 20 + to - from);
}

static struct rte_mbuf *piece6(uint32_t id, unsigned from, unsigned to, unsigned all)
{
	struct ip_addr src = addr("2001:db8:9::7"), dst = addr("2001:db8:1::100");
	struct udp_hdr udp = {htons(1000), htons(53), htons((uint16_t)all), htons(0x1234)};
	struct ip6_fragment_hdr fh = {.proto = PROTO_UDP,
		.offset = htons((uint16_t)(from | (to < all))),
		.id = htonl(id)};
	uint8_t body[2048] = {0};

	emit_ip6(body, &src, &dst, PROTO_FRAGMENT, 64, (uint16_t)(8 + to - from));
	memcpy(body + 40, &fh, 8);
	if (from == 0)
		memcpy(body + 48, &udp, 8);
	return fake_wrap(0, ports[0].mac, mac_peer, ETH_TYPE_IP6, body, 48 + to - from);
}

/* Gives m to worker 0, and to worker 1 if that is the keeper. Packets that came out; checks their ports. */
static unsigned input(struct rte_mbuf *m)
{
	struct rte_mbuf *got[PKT_BURST];
	unsigned n = fake_input(worker[0], m);

	keeper = worker[0];
	handover_flush(worker[0]);
	unsigned handed = handover_receive(worker[1], got, PKT_BURST);
	if (handed) {
		CHECK_INT(n, 0);
		CHECK_INT(pkt_of(got[0])->stage, PKT_FRAGMENT);
		keeper = worker[1];
		n = net_input(worker[1], got, handed, passed);
	}
	for (unsigned i = 0; i < n; i++) {
		CHECK_INT(pkt_of(passed[i])->wire.src_port, htons(1000));
		CHECK_INT(pkt_of(passed[i])->wire.dst_port, htons(53));
		CHECK_INT(pkt_of(passed[i])->wire.proto, PROTO_UDP);
		rte_pktmbuf_free(passed[i]);
	}
	return n;
}

static void test_in_order(void)
{
	unsigned keepers[2] = {0};

	for (unsigned i = 0; i < 64; i++) {
		uint16_t id = next_id++;
		CHECK_INT(input(piece(id, 0, 800, 2000, PROTO_UDP)), 1);
		struct worker *first = keeper;
		CHECK_INT(input(piece(id, 800, 1600, 2000, PROTO_UDP)), 1);
		CHECK_INT(input(piece(id, 1600, 2000, 2000, PROTO_UDP)), 1);
		CHECK(keeper == first); /* whole datagrams stay together */
		keepers[keeper->index]++;
	}
	CHECK(keepers[0] > 8 && keepers[1] > 8);
	CHECK_INT(net_private(worker[0])->fragments.used, 0); /* complete: forgotten */
	CHECK_INT(net_private(worker[1])->fragments.used, 0);
}

static void test_out_of_order(void)
{
	uint16_t id = next_id++;

	CHECK_INT(input(piece(id, 1600, 2000, 2000, PROTO_UDP)), 0);
	CHECK_INT(input(piece(id, 800, 1600, 2000, PROTO_UDP)), 0);
	CHECK_INT(input(piece(id, 0, 800, 2000, PROTO_UDP)), 3);
	id = next_id++;
	CHECK_INT(input(piece(id, 1600, 2000, 2000, PROTO_UDP)), 0);
	CHECK_INT(input(piece(id, 0, 800, 2000, PROTO_UDP)), 2);
	CHECK_INT(input(piece(id, 800, 1600, 2000, PROTO_UDP)), 1);
}

static void test_ip6(void)
{
	CHECK_INT(input(piece6(7, 800, 1600, 2000)), 0);
	CHECK_INT(input(piece6(7, 0, 800, 2000)), 2);
	CHECK_INT(input(piece6(7, 1600, 2000, 2000)), 1);
	/* atomic (RFC 6946): no fragment at all */
	CHECK_INT(input(piece6(8, 0, 800, 800)), 1);
	CHECK_INT(
		net_private(worker[0])->fragments.used + net_private(worker[1])->fragments.used, 0);
}

static uint64_t bad_count(void)
{
	return worker[0]->drop[DROP_FRAGMENT_BAD] + worker[1]->drop[DROP_FRAGMENT_BAD];
}

static void check_bad(struct rte_mbuf *m, unsigned dropped)
{
	uint64_t before = bad_count();

	CHECK_INT(input(m), 0);
	CHECK_INT(bad_count() - before, dropped);
}

static void test_refused(void)
{
	uint16_t id = next_id++;

	/* overlap: the datagram is done for, with what waits of it (RFC 5722) */
	CHECK_INT(input(piece(id, 0, 800, 2000, PROTO_UDP)), 1);
	check_bad(piece(id, 792, 1600, 2000, PROTO_UDP), 1);
	check_bad(piece(id, 800, 1600, 2000, PROTO_UDP), 1);
	id = next_id++;
	CHECK_INT(input(piece(id, 1600, 2000, 2000, PROTO_UDP)), 0);
	check_bad(piece(id, 1592, 1608, 2000, PROTO_UDP), 2);
	/* an exact copy, as a link may make, harms only itself */
	id = next_id++;
	CHECK_INT(input(piece(id, 0, 800, 2000, PROTO_UDP)), 1);
	check_bad(piece(id, 0, 800, 2000, PROTO_UDP), 1);
	CHECK_INT(input(piece(id, 800, 1600, 2000, PROTO_UDP)), 1);
	/* behind the end */
	CHECK_INT(input(piece(id, 1600, 2000, 2000, PROTO_UDP)), 1);
	id = next_id++;
	CHECK_INT(input(piece(id, 0, 800, 1600, PROTO_UDP)), 1);
	CHECK_INT(input(piece(id, 1600, 2000, 2000, PROTO_UDP)), 1);
	check_bad(piece(id, 2000, 2400, 4000, PROTO_UDP), 1);
	/* not whole units of 8; TCP flags in the second fragment (RFC 3128); no ports in the first */
	check_bad(piece(next_id++, 800, 1601, 2000, PROTO_UDP), 1);
	check_bad(piece(next_id++, 8, 800, 2000, PROTO_TCP), 1);
	check_bad(piece(next_id++, 0, 16, 2000, PROTO_TCP), 1);
	/* beyond 64 KB */
	check_bad(piece(next_id++, 65528, 65536, 65536, PROTO_UDP), 1);
}

static void test_bounded(void)
{
	uint64_t full = 0, late = 0;
	unsigned held = 0;

	for (unsigned i = 0; i < 2; i++) {
		full += worker[i]->drop[DROP_FRAGMENT_TABLE_FULL];
		late += worker[i]->drop[DROP_FRAGMENT_TIMEOUT];
	}
	for (unsigned i = 0; i < 1500; i++)
		CHECK_INT(input(piece(next_id++, 800, 1600, 2000, PROTO_UDP)), 0);
	for (unsigned i = 0; i < 2; i++) {
		full = worker[i]->drop[DROP_FRAGMENT_TABLE_FULL] - full;
		held += net_private(worker[i])->fragments.held;
	}
	CHECK_INT(held, 2 * FRAGMENT_HELD);
	CHECK(full > 0);
	for (uint64_t t = now; t < now + 7000; t += 10) {
		fake_clock(t);
		net_house(worker[0]);
		net_house(worker[1]);
	}
	now += 7000;
	for (unsigned i = 0; i < 2; i++) {
		CHECK_INT(net_private(worker[i])->fragments.used, 0);
		CHECK_INT(net_private(worker[i])->fragments.held, 0);
		late -= worker[i]->drop[DROP_FRAGMENT_TIMEOUT];
	}
	CHECK_INT(-(int64_t)late, 2 * FRAGMENT_HELD);
	sent_count = 0;
}

/* A burst of firsts, each with others waiting, never overruns what the caller offers. */
static void test_release_bounded(void)
{
	struct rte_mbuf *in[PKT_BURST];
	unsigned n = 0, first = next_id;

	worker[0]->count = 1;
	for (unsigned i = 0; i < 8; i++)
		for (unsigned k = 1; k <= 20; k++)
			CHECK_INT(fake_input(worker[0], piece((uint16_t)(first + i), k * 8,
								k * 8 + 8, 4000, PROTO_UDP)),
				0);
	for (unsigned i = 0; i < 8; i++)
		in[n++] = piece((uint16_t)(first + i), 0, 8, 4000, PROTO_UDP);
	unsigned out = net_input(worker[0], in, n, passed);
	CHECK(out >= 8 && out <= 2 * PKT_BURST);
	rte_pktmbuf_free_bulk(passed, out);
	worker[0]->count = 2;
	next_id += 8;
}

static void test_out(void)
{
	struct ip_addr dst = addr("10.0.2.9");
	uint8_t data[1472] = {0};
	unsigned sum = 0;

	uint32_t n = net_route_get(worker[0], &dst);
	CHECK_INT(
		fake_input(worker[0], fake_arp(1, ARP_REPLY, "10.0.2.9", mac_peer, "10.0.2.2")), 0);
	sent_count = 0;
	struct rte_mbuf *m = fake_ip(0, "192.0.2.7", "10.0.2.9", PROTO_UDP, 1000, 53, 1472);
	struct ip4_hdr *ip = pkt_l3(m);
	ip->fragment = 0;
	ip->id = htons(77);
	pkt_of(m)->wire.flags = 0;
	net_output(worker[0], m, n);
	CHECK_INT(sent_count, 2); /* 1500 bytes through 1400 */
	for (unsigned i = 0; i < 2; i++) {
		const struct wire_info *wi = &sent[i].wire;
		CHECK_INT(wi->fragment_id, htons(77));
		CHECK(wi->l3_end - wi->l3 <= 1400);
		CHECK_INT(wi->tag, 20);
		for (unsigned k = i ? wi->l4 : wi->payload; k < wi->l3_end; k++)
			data[sum++] = sent[i].frame[k];
	}
	CHECK_INT(sent[0].wire.flags, WIRE_FRAGMENT | WIRE_FRAGMENT_MORE);
	CHECK_INT(sent[1].wire.flags, WIRE_FRAGMENT | WIRE_FRAGMENT_LATER);
	CHECK_INT(sent[1].wire.fragment_offset, 1376);
	CHECK_INT(sum, 1472);
	for (unsigned k = 0; k < sum; k++)
		CHECK_INT(data[k], (uint8_t)k);
	sent_count = 0;
	/* with DF: nobody cuts it */
	net_output(worker[0], fake_ip(0, "192.0.2.7", "10.0.2.9", PROTO_UDP, 1000, 53, 1472), n);
	CHECK_INT(sent_count, 0);
	CHECK_INT(worker[0]->drop[DROP_TOO_BIG], 1);
	net_nexthop_put(worker[0], n);
}

/* Options with the copied flag are in every fragment, others only in the first (RFC 791). */
static void test_out_options(void)
{
	static const uint8_t options[] = {
		0x07, 7, 4, 0, 0, 0, 0, 1, 0x94, 4, 0, 0}; /* RR, NOP, RTRALT */
	struct ip_addr src = addr("192.0.2.7"), dst = addr("10.0.2.9");
	uint8_t body[1600] = {0};
	struct ip4_hdr *ip = (struct ip4_hdr *)body;

	emit_ip4(body, &src, &dst, PROTO_UDP, 64, sizeof(options) + 1460);
	ip->version_ihl = 0x48;
	ip->fragment = htons(IP4_MF | 100); /* a fragment already */
	memcpy(body + 20, options, sizeof(options));
	ip->csum = 0;
	ip->csum = csum_of(ip, 32);
	struct rte_mbuf *m = fake_wrap(0, ports[0].mac, mac_peer, ETH_TYPE_IP4, body, 32 + 1456);
	ip = rte_pktmbuf_mtod_offset(m, struct ip4_hdr *, 14);
	ip->length = htons(32 + 1456);
	ip->csum = 0;
	ip->csum = csum_of(ip, 32);
	CHECK_INT(
		wire_parse(rte_pktmbuf_mtod(m, uint8_t *), m->data_len, &pkt_of(m)->wire), WIRE_OK);
	net_output_routed(worker[0], m);
	CHECK_INT(sent_count, 2);
	CHECK_INT(sent[0].wire.l4 - sent[0].wire.l3, 32);
	CHECK_INT(sent[1].wire.l4 - sent[1].wire.l3, 24);
	CHECK_INT(sent[1].frame[sent[1].wire.l3 + 20], 0x94);
	CHECK_INT(sent[0].wire.fragment_offset, 800);
	CHECK_INT(sent[1].wire.fragment_offset, 800 + 1368);
	CHECK(sent[1].wire.flags & WIRE_FRAGMENT_MORE);
	sent_count = 0;
}

int main(void)
{
	fake_start();
	fake_settle();
	test_in_order();
	test_out_of_order();
	test_ip6();
	test_refused();
	test_bounded();
	test_release_bounded();
	test_out();
	test_out_options();
	fake_stop();
	return 0;
}
