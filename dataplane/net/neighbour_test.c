/* SPDX-License-Identifier: BSD-3-Clause */
/* Resolution, ageing, probing, failure, change of MAC, eviction; next hops over a change of routes. */
#include "net/net_fake.h"

static uint64_t now = 10000; /* ms */

static uint32_t get(const char *dst)
{
	struct ip_addr a = addr(dst);
	uint32_t n = net_route_get(worker[0], &a);
	CHECK(n != NEXTHOP_NONE);
	return n;
}

static void pass(uint64_t ms)
{
	fake_run(now, now + ms);
	now += ms;
}

static void output(uint32_t nexthop)
{
	net_output(worker[0], fake_ip(0, "10.0.1.7", "10.0.2.9", PROTO_UDP, 1, 2, 10), nexthop);
}

static unsigned event_count(uint32_t type)
{
	struct event_row rows[64];
	uint64_t lost;
	unsigned n = event_ring_take(worker[0]->events, rows, 64, &lost), found = 0;

	for (unsigned i = 0; i < n; i++)
		found += rows[i].type == type;
	return found;
}

static void answer(const char *who, const uint8_t mac[6])
{
	CHECK_INT(fake_input(worker[0], fake_arp(1, ARP_REPLY, who, mac, "10.0.2.2")), 0);
}

static void test_resolve(void)
{
	uint32_t n = get("10.0.2.9");

	/* asked at once, in the VLAN, from its floating self IP */
	CHECK_INT(sent_count, 1);
	CHECK_INT(sent[0].port, 1);
	CHECK_INT(sent[0].wire.tag, 20);
	CHECK_INT(ntohs(sent_arp(0)->op), ARP_REQUEST);
	CHECK_INT(sent_arp(0)->sender, addr("10.0.2.2").w[3]);
	CHECK_INT(sent_arp(0)->target, addr("10.0.2.9").w[3]);
	CHECK(memcmp(sent[0].frame, mac_all, 6) == 0);
	CHECK_INT(net_nexthop(worker[0], n)->state, NEXTHOP_INCOMPLETE);
	output(n);
	output(n);
	CHECK_INT(sent_count, 1);
	answer("10.0.2.9", mac_peer);
	CHECK_INT(sent_count, 3); /* what waited went out, re-tagged */
	CHECK(memcmp(sent[1].frame, mac_peer, 6) == 0);
	CHECK(memcmp(sent[1].frame + 6, ports[1].mac, 6) == 0);
	CHECK_INT(sent[1].wire.tag, 20);
	CHECK_INT(sent[1].wire.l3, 18);
	CHECK_INT(net_nexthop(worker[0], n)->state, NEXTHOP_READY);
	output(n);
	CHECK_INT(sent_count, 4);
	net_nexthop_put(worker[0], n);
	sent_count = 0;
}

/* dpvs#202, #278: a replaced server's new MAC is used at once, in place. */
static void test_new_mac(void)
{
	uint32_t n = get("10.0.2.9");

	CHECK_INT(sent_count, 0); /* known */
	CHECK_INT(
		fake_input(worker[0], fake_arp(1, ARP_REQUEST, "10.0.2.9", mac_other, "10.0.2.9")),
		0);
	output(n);
	CHECK_INT(sent_count, 1);
	CHECK(memcmp(sent[0].frame, mac_other, 6) == 0);
	net_nexthop_put(worker[0], n);
	sent_count = 0;
}

/* Used: asked by unicast before its time is over, then by broadcast, then given up. */
static void test_age(void)
{
	uint32_t n = get("10.0.2.9");
	struct nexthop *hot = net_nexthop(worker[0], n);
	unsigned unicast = 0, broadcast = 0;

	event_count(0);
	pass(292000);
	CHECK_INT(sent_count, 0);
	pass(12000);
	for (unsigned i = 0; i < sent_count; i++) {
		CHECK_INT(sent_arp(i)->target, addr("10.0.2.9").w[3]);
		if (memcmp(sent[i].frame, mac_other, 6) == 0)
			unicast++;
		else
			broadcast++;
	}
	CHECK_INT(unicast, 3);
	CHECK_INT(broadcast, 3);
	CHECK_INT(hot->state, NEXTHOP_FAILED);
	CHECK_INT(event_count(EVENT_NEIGHBOUR_FAILED), 1);
	/* traffic tries again, once a second at most, without a second event */
	uint64_t dropped = worker[0]->drop[DROP_NO_NEIGHBOUR];
	sent_count = 0;
	pass(2000);
	output(n);
	CHECK_INT(sent_count, 1);
	pass(5000);
	CHECK_INT(hot->state, NEXTHOP_FAILED);
	CHECK_INT(worker[0]->drop[DROP_NO_NEIGHBOUR], dropped + 1);
	CHECK_INT(event_count(EVENT_NEIGHBOUR_FAILED), 0);
	pass(2000);
	output(n);
	answer("10.0.2.9", mac_peer);
	CHECK_INT(hot->state, NEXTHOP_READY);
	net_nexthop_put(worker[0], n);
	sent_count = 0;
}

/* Who answers the first question stays known, and its traffic never waits. */
static void test_confirmed_stays(void)
{
	uint32_t n = get("10.0.2.9");
	unsigned asked = 0;

	for (unsigned second = 0; second < 1000; second++) {
		pass(1000);
		CHECK_INT(net_nexthop(worker[0], n)->state, NEXTHOP_READY);
		CHECK(sent_count <= 1);
		if (!sent_count)
			continue;
		CHECK(memcmp(sent[0].frame, mac_peer, 6) == 0);
		answer("10.0.2.9", mac_peer);
		sent_count = 0;
		asked++;
	}
	CHECK_INT(asked, 3);
	net_nexthop_put(worker[0], n);
}

/* Unused: forgotten without a question. */
static void test_unused(void)
{
	struct neighbour_row rows[16];
	uint32_t place = 0;

	pass(330000);
	CHECK_INT(sent_count, 0);
	CHECK_INT(net_neighbour_scan(worker[0], &place, 1000, rows, 16), 0);
	CHECK_INT(place, UINT32_MAX);
}

static void test_never_created_unasked(void)
{
	struct neighbour_row rows[16];
	uint32_t place = 0;

	answer("10.0.2.33", mac_peer);
	fake_input(worker[0], fake_arp(1, ARP_REQUEST, "10.0.2.34", mac_peer, "10.0.2.34"));
	CHECK_INT(net_neighbour_scan(worker[0], &place, 1000, rows, 16), 0);
	sent_count = 0;
}

static void test_queue_bounded(void)
{
	uint64_t full = worker[0]->drop[DROP_NEIGHBOUR_QUEUE_FULL];
	uint64_t dead = worker[0]->drop[DROP_NO_NEIGHBOUR];
	uint32_t n = get("10.0.2.40");

	for (unsigned i = 0; i < NEIGHBOUR_QUEUE + 3; i++)
		output(n);
	CHECK_INT(worker[0]->drop[DROP_NEIGHBOUR_QUEUE_FULL] - full, 3);
	pass(5000);
	CHECK_INT(sent_count, 3); /* questions */
	CHECK_INT(worker[0]->drop[DROP_NO_NEIGHBOUR] - dead, NEIGHBOUR_QUEUE);
	net_nexthop_put(worker[0], n);
	sent_count = 0;
}

/* A full table makes room of what nobody holds, never of what a flow holds. */
static void test_eviction(void)
{
	uint32_t held[256], count = 0;
	struct ip_addr a = addr("10.77.0.0");

	for (unsigned i = 0; i < 1000; i++) {
		a.w[3] = htonl(0x0a4d0000 + 256 + i);
		uint32_t n = net_route_get(worker[0], &a);
		CHECK(n != NEXTHOP_NONE);
		net_nexthop_put(worker[0], n);
		sent_count = 0;
	}
	for (unsigned i = 0; i < 300; i++) {
		a.w[3] = htonl(0x0a4d0000 + 4096 + i);
		uint32_t n = net_route_get(worker[0], &a);
		if (n != NEXTHOP_NONE)
			held[count++] = n;
		sent_count = 0;
	}
	CHECK_INT(count, 256);
	for (unsigned i = 0; i < count; i++)
		net_nexthop_put(worker[0], held[i]);
	for (unsigned i = 0; i < 6000; i++, sent_count = 0)
		pass(10);
}

/* A scan of addresses that nobody has leaves buffers for everybody else. */
static void test_scan_is_bounded(void)
{
	uint64_t full = worker[0]->drop[DROP_NEIGHBOUR_QUEUE_FULL];
	struct ip_addr a = addr("10.77.0.0");

	for (unsigned i = 0; i < 200 * NEIGHBOUR_QUEUE; i++) {
		a.w[3] = htonl(0x0a4d0000 + 8192 + i % 200);
		uint32_t n = net_route_get(worker[0], &a);
		CHECK(n != NEXTHOP_NONE);
		output(n);
		net_nexthop_put(worker[0], n);
		sent_count = 0;
	}
	CHECK_INT(worker[0]->drop[DROP_NEIGHBOUR_QUEUE_FULL] - full,
		200 * NEIGHBOUR_QUEUE - NEIGHBOUR_QUEUE_ALL);
	for (unsigned i = 0; i < 6000; i++, sent_count = 0)
		pass(10);
}

/* Clients that make up MACs do not take the places of servers and gateways. */
static void test_lasthops_have_a_share(void)
{
	uint32_t held[256], count = 0;

	for (unsigned i = 0; i < 256; i++) {
		struct rte_mbuf *m = fake_ip(0, "192.0.2.7", "10.0.1.100", PROTO_UDP, 1, 2, 10);
		rte_pktmbuf_mtod(m, uint8_t *)[11] = (uint8_t)i;
		uint32_t n = net_lasthop_get(worker[0], m);
		if (n != NEXTHOP_NONE)
			held[count++] = n;
		rte_pktmbuf_free(m);
	}
	CHECK_INT(count, 128);
	uint32_t server = get("10.0.2.61");
	net_nexthop_put(worker[0], server);
	for (unsigned i = 0; i < count; i++)
		net_nexthop_put(worker[0], held[i]);
	struct rte_mbuf *m = fake_ip(0, "192.0.2.7", "10.0.1.100", PROTO_UDP, 1, 2, 10);
	uint32_t n = net_lasthop_get(worker[0], m);
	CHECK(n != NEXTHOP_NONE);
	net_nexthop_put(worker[0], n);
	rte_pktmbuf_free(m);
	sent_count = 0;
}

/* Other workers hear the answer, too, and learn if they asked. */
static void test_shared(void)
{
	struct ip_addr a = addr("10.0.2.60");
	struct rte_mbuf *m[4];
	uint32_t mine = get("10.0.2.60"), theirs = net_route_get(worker[1], &a);

	handover_flush(worker[0]);
	while (handover_receive(worker[1], m, 1))
		rte_pktmbuf_free(m[0]);
	answer("10.0.2.60", mac_peer);
	CHECK_INT(net_nexthop(worker[0], mine)->state, NEXTHOP_READY);
	CHECK_INT(net_nexthop(worker[1], theirs)->state, NEXTHOP_INCOMPLETE);
	handover_flush(worker[0]);
	unsigned n = handover_receive(worker[1], m, 4);
	CHECK(n >= 1);
	CHECK_INT(pkt_of(m[n - 1])->stage, PKT_NEIGHBOUR);
	CHECK_INT(net_input(worker[1], m, n, passed), 0);
	CHECK_INT(net_nexthop(worker[1], theirs)->state, NEXTHOP_READY);
	handover_flush(worker[1]); /* a copy is not copied on */
	CHECK_INT(handover_receive(worker[0], m, 4), 0);
	net_nexthop_put(worker[0], mine);
	net_nexthop_put(worker[1], theirs);
	sent_count = 0;
}

/* A change of routes: who holds the old next hop is told; the neighbour need not be asked again. */
static void test_epoch(void)
{
	uint32_t old = get("10.8.1.1");
	struct snap_header *h = fake_snapshot();

	CHECK_INT(fake_input(worker[0], fake_arp(1, ARP_REPLY, "10.0.2.254", mac_peer, "10.0.2.2")),
		0);
	sent_count = 0;
	fake_commit(fake_snapshot()); /* the same again */
	net_house(worker[0]);
	pass(10);
	CHECK(net_nexthop_current(worker[0], old));
	ROW(h, SNAP_ROUTE, struct snap_route)[1].gateway = addr("10.0.2.253");
	fake_commit(h);
	pass(10);
	CHECK(!net_nexthop_current(worker[0], old));
	uint32_t other = get("10.8.1.1");
	CHECK(other != old);
	CHECK_INT(net_nexthop(worker[0], other)->state, NEXTHOP_INCOMPLETE);
	uint32_t direct = get("10.0.2.254");
	CHECK_INT(net_nexthop(worker[0], direct)->state, NEXTHOP_READY);
	CHECK(net_nexthop_current(worker[0], direct));
	CHECK(!net_nexthop_current(worker[0], old));
	net_nexthop_put(worker[0], old);
	net_nexthop_put(worker[0], other);
	net_nexthop_put(worker[0], direct);
	sent_count = 0;
}

static void test_lasthop(void)
{
	struct rte_mbuf *m = fake_ip(1, "192.0.2.7", "10.0.1.100", PROTO_UDP, 1, 2, 10);
	uint32_t n = net_lasthop_get(worker[0], m), again = net_lasthop_get(worker[0], m);
	struct snap_header *h = fake_snapshot();

	CHECK(n != NEXTHOP_NONE);
	CHECK_INT(n, again);
	CHECK_INT(net_nexthop(worker[0], n)->refs, 2);
	output(n);
	CHECK_INT(sent_count, 1);
	CHECK_INT(sent[0].port, 1);
	CHECK_INT(sent[0].wire.tag, 20);
	CHECK(memcmp(sent[0].frame, mac_peer, 6) == 0);
	/* routes do not matter to it, its VLAN does */
	ROW(h, SNAP_ROUTE, struct snap_route)[1].gateway = addr("10.0.2.251");
	fake_commit(h);
	pass(10);
	CHECK(net_nexthop_current(worker[0], n));
	h = fake_snapshot();
	ROW(h, SNAP_VLAN, struct snap_vlan)[1].id = 500;
	fake_commit(h);
	pass(10);
	CHECK(!net_nexthop_current(worker[0], n));
	net_nexthop_put(worker[0], n);
	net_nexthop_put(worker[0], n);
	fake_commit(fake_snapshot());
	pass(10000);
	rte_pktmbuf_free(m);
	sent_count = 0;
}

static void test_ndp(void)
{
	uint32_t n = get("2001:db8:2::9");
	uint8_t body[128];
	struct ip_addr who = addr("2001:db8:2::9"), us = addr("2001:db8:2::1");

	CHECK_INT(sent_count, 1);
	CHECK_INT(sent[0].wire.icmp_type, ICMP6_SOLICIT);
	CHECK(memcmp(sent[0].frame, "\x33\x33\xff\x00\x00\x09", 6) == 0);
	output(n);
	unsigned length =
		emit_ndp_advert(body, &who, &us, &who, mac_peer, NDP_SOLICITED | NDP_OVERRIDE);
	CHECK_INT(fake_input(worker[0],
			  fake_wrap(1, ports[1].mac, mac_peer, ETH_TYPE_IP6, body, length)),
		0);
	CHECK_INT(sent_count, 2);
	CHECK_INT(net_nexthop(worker[0], n)->state, NEXTHOP_READY);
	/* without the override flag a known MAC stays (RFC 4861, 7.2.5) */
	length = emit_ndp_advert(body, &who, &us, &who, mac_other, NDP_SOLICITED);
	fake_input(worker[0], fake_wrap(1, ports[1].mac, mac_other, ETH_TYPE_IP6, body, length));
	CHECK(memcmp(net_nexthop(worker[0], n)->header, mac_peer, 6) == 0);
	length = emit_ndp_advert(body, &who, &us, &who, mac_other, NDP_OVERRIDE);
	fake_input(worker[0], fake_wrap(1, ports[1].mac, mac_other, ETH_TYPE_IP6, body, length));
	CHECK(memcmp(net_nexthop(worker[0], n)->header, mac_other, 6) == 0);
	/* from beyond a router: refused */
	uint64_t bad = worker[0]->drop[DROP_BAD_NDP];
	body[7] = 254;
	fake_input(worker[0], fake_wrap(1, ports[1].mac, mac_peer, ETH_TYPE_IP6, body, length));
	body[7] = 255;
	body[43] ^= 1;
	fake_input(worker[0], fake_wrap(1, ports[1].mac, mac_peer, ETH_TYPE_IP6, body, length));
	CHECK_INT(worker[0]->drop[DROP_BAD_NDP] - bad, 2);
	net_nexthop_put(worker[0], n);
	sent_count = 0;
}

int main(void)
{
	fake_start();
	fake_settle();
	test_resolve();
	test_new_mac();
	test_age();
	test_confirmed_stays();
	test_unused();
	test_never_created_unasked();
	test_queue_bounded();
	test_eviction();
	test_scan_is_bounded();
	test_shared();
	test_epoch();
	test_lasthop();
	test_lasthops_have_a_share();
	test_ndp();
	fake_stop();
	return 0;
}
