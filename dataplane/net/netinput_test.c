/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes in: destinations, martians, ARP, NDP and echo for our addresses, announcements, conflicts. */
#include "net/net_fake.h"

static struct worker *w;

/* The packet must end with that drop reason and no answer. */
static void check_drop(struct rte_mbuf *m, enum drop_reason reason)
{
	uint64_t before = w->drop[reason];

	CHECK_INT(fake_input(w, m), 0);
	CHECK_INT(w->drop[reason] - before, 1);
	CHECK_INT(sent_count, 0);
}

static void check_pass(struct rte_mbuf *m)
{
	CHECK_INT(fake_input(w, m), 1);
	CHECK(passed[0] == m);
	CHECK_INT(pkt_of(m)->stage, PKT_DISPATCH);
	rte_pktmbuf_free(m);
}

static struct rte_mbuf *udp(const char *src, const char *dst)
{
	return fake_ip(0, src, dst, PROTO_UDP, 1000, 53, 20);
}

static void test_destination(void)
{
	struct rte_mbuf *m = udp("192.0.2.7", "10.0.1.100");

	check_pass(m);
	m = udp("192.0.2.7", "10.0.1.100");
	memcpy(rte_pktmbuf_mtod(m, uint8_t *), mac_other, 6); /* promiscuous port */
	check_drop(m, DROP_NOT_FOR_US);
	m = udp("192.0.2.7", "10.0.1.100");
	memcpy(rte_pktmbuf_mtod(m, uint8_t *), mac_all, 6); /* RFC 1122, 3.3.6 */
	check_drop(m, DROP_NOT_FOR_US);
	m = udp("192.0.2.7", "10.0.1.100");
	memcpy(rte_pktmbuf_mtod(m, uint8_t *) + 6, mac_all,
		6); /* the answer would go to everybody */
	check_drop(m, DROP_MARTIAN);
	m = fake_ip(1, "10.0.2.7", "10.0.1.100", PROTO_TCP, 1, 2, 0);
	pkt_of(m)->port = 0; /* tagged, where none is */
	check_drop(m, DROP_UNKNOWN_VLAN);
}

static void test_martians(void)
{
	static const struct {
		const char *src, *dst;
	} bad[] = {
		{"127.0.0.1", "10.0.1.100"},
		{"0.0.0.0", "10.0.1.100"},
		{"224.0.0.5", "10.0.1.100"},
		{"255.255.255.255", "10.0.1.100"},
		{"240.0.0.1", "10.0.1.100"},
		{"10.0.1.100", "10.0.1.100"},
		{"203.0.113.5", "203.0.113.5"}, /* land */
		{"10.0.1.1", "10.0.1.100"},	/* ourselves from outside */
		{"10.0.2.50", "10.0.1.100"},
		{"192.0.2.7", "127.0.0.1"},
		{"192.0.2.7", "0.0.0.0"},
		{"::", "2001:db8:1::100"},
		{"::1", "2001:db8:1::100"},
		{"ff02::1", "2001:db8:1::100"},
		{"2001:db8:1::7", "::1"},
		{"2001:db8:1::1", "2001:db8:1::100"},
	};

	for (unsigned i = 0; i < RTE_DIM(bad); i++)
		check_drop(udp(bad[i].src, bad[i].dst), DROP_MARTIAN);
	/* ::ffff:10.0.1.100 on the wire must not pass for the IPv4 address */
	struct rte_mbuf *m = udp("2001:db8:1::7", "2001:db8:1::100");
	struct ip_addr mapped = addr("10.0.1.100");
	memcpy(rte_pktmbuf_mtod_offset(m, uint8_t *, 14 + 24), mapped.b, 16);
	check_drop(m, DROP_MARTIAN);
}

static void test_damaged(void)
{
	struct rte_mbuf *m = udp("192.0.2.7", "10.0.1.100");

	*rte_pktmbuf_mtod_offset(m, uint8_t *, 24) ^= 1;
	check_drop(m, DROP_BAD_HEADER_CHECKSUM);
	m = udp("192.0.2.7", "10.0.1.100");
	mbuf_trim(m, 1);
	check_drop(m, DROP_BAD_TOTAL_LENGTH);
	m = udp("192.0.2.7", "10.0.1.100");
	*rte_pktmbuf_mtod_offset(m, uint8_t *, 12) = 0x99;
	check_drop(m, DROP_UNKNOWN_ETHERTYPE);
	/* a wrong UDP checksum is none of our business */
	m = udp("192.0.2.7", "10.0.1.100");
	*rte_pktmbuf_mtod_offset(m, uint8_t *, 45) ^= 1;
	check_pass(m);
	/* an ICMP error is judged, since we act on it */
	m = fake_ip(0, "192.0.2.7", "10.0.1.100", PROTO_ICMP, ICMP_UNREACHABLE, 0, 28);
	check_pass(m);
	m = fake_ip(0, "192.0.2.7", "10.0.1.100", PROTO_ICMP, ICMP_UNREACHABLE, 0, 28);
	*rte_pktmbuf_mtod_offset(m, uint8_t *, 50) ^= 1;
	check_drop(m, DROP_BAD_ICMP);
	check_drop(fake_ip(0, "192.0.2.7", "10.0.1.100", PROTO_ICMP, ICMP_REDIRECT, 0, 28),
		DROP_BAD_ICMP);
}

/* A chain whose headers lie in two buffers is joined. */
static void test_chained(void)
{
	struct rte_mbuf *m = udp("192.0.2.7", "10.0.1.100"), *tail = mbuf_new(w->pool);
	uint16_t all = m->data_len, first = 20;

	memcpy(mbuf_append(tail, all - first), rte_pktmbuf_mtod_offset(m, void *, first),
		all - first);
	mbuf_trim(m, all - first);
	CHECK_INT(rte_pktmbuf_chain(m, tail), 0);
	CHECK_INT(fake_input(w, m), 1);
	CHECK_INT(passed[0]->nb_segs, 1);
	CHECK_INT(passed[0]->pkt_len, all);
	CHECK_INT(pkt_of(passed[0])->wire.dst_port, htons(53));
	rte_pktmbuf_free(passed[0]);
}

/* FDio/vpp#2684: a checksum that the sender left to the device is finished; without the device's word a wrong
 * one is carried as it is, and none at all stays none. */
static void test_unfinished_checksum(void)
{
	for (int flagged = 0; flagged < 2; flagged++) {
		struct rte_mbuf *m = udp("192.0.2.7", "10.0.1.100");
		uint8_t *csum = rte_pktmbuf_mtod_offset(m, uint8_t *, 14 + 20 + 6);
		csum[0] ^= 0x5a;
		m->ol_flags |= flagged ? RTE_MBUF_F_RX_L4_CKSUM_NONE : 0;
		CHECK_INT(fake_input(w, m), 1);
		CHECK_INT(csum_l4_right(rte_pktmbuf_mtod(m, uint8_t *), &pkt_of(m)->wire), flagged);
		rte_pktmbuf_free(m);
	}
	struct rte_mbuf *m = udp("192.0.2.7", "10.0.1.100");
	uint8_t *csum = rte_pktmbuf_mtod_offset(m, uint8_t *, 14 + 20 + 6);
	csum[0] = csum[1] = 0;
	m->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_NONE;
	CHECK_INT(fake_input(w, m), 1);
	CHECK(csum[0] == 0 && csum[1] == 0);
	rte_pktmbuf_free(m);
}

static void check_arp(const char *target, uint8_t port, bool answered)
{
	fake_input(w, fake_arp(port, ARP_REQUEST, "10.0.1.77", mac_peer, target));
	CHECK_INT(sent_count, answered);
	if (answered) {
		CHECK_INT(ntohs(sent_arp(0)->op), ARP_REPLY);
		CHECK_INT(sent_arp(0)->sender, addr(target).w[3]);
		CHECK(memcmp(sent_arp(0)->sender_mac, ports[port].mac, 6) == 0);
		CHECK(memcmp(sent[0].frame, mac_peer, 6) == 0);
		CHECK_INT(sent[0].port, port);
	}
	sent_count = 0;
}

static void test_arp_answers(void)
{
	check_arp("10.0.1.1", 0, true);
	check_arp("10.0.1.1", 1, false); /* not on another VLAN */
	check_arp("10.0.1.100", 0, true);
	check_arp("10.0.1.101", 0, false); /* arp disabled */
	check_arp("10.0.1.102", 0, false); /* disabled */
	check_arp("10.0.2.50", 1, true);   /* SNAT */
	check_arp("192.0.2.100", 0, true); /* in no network of ours */
	check_arp("10.0.1.99", 0, false);
	struct rte_mbuf *m = fake_arp(0, ARP_REQUEST, "10.0.1.77", mac_peer, "10.0.1.1");
	*rte_pktmbuf_mtod_offset(m, uint8_t *, 18) = 7; /* hardware length */
	check_drop(m, DROP_BAD_ARP);
	check_drop(fake_arp(0, ARP_REQUEST, "10.0.1.77", ports[0].mac, "10.0.1.1"), DROP_BAD_ARP);
}

static void test_ndp_answers(void)
{
	struct ip_addr us = addr("2001:db8:1::100"), who = addr("2001:db8:1::77"), any = addr("::");
	struct ip_addr group = wire_solicited_node(&us);
	uint8_t body[128], group_mac[6];
	unsigned n = emit_ndp_solicit(body, &who, &group, &us, mac_peer);

	wire_group_mac(&group, group_mac);
	fake_input(w, fake_wrap(0, group_mac, mac_peer, ETH_TYPE_IP6, body, n));
	CHECK_INT(sent_count, 1);
	CHECK_INT(sent[0].wire.icmp_type, ICMP6_ADVERT);
	CHECK(memcmp(sent[0].frame, mac_peer, 6) == 0);
	CHECK_INT(sent[0].frame[sent[0].wire.l4 + 4], 0x60); /* solicited, override */
	CHECK(csum_l4_right(sent[0].frame, &sent[0].wire));
	sent_count = 0;
	/* somebody about to take our address (RFC 4862, 5.4.3): told on all nodes */
	n = emit_ndp_solicit(body, &any, &group, &us, NULL);
	fake_clock(20000);
	fake_input(w, fake_wrap(0, group_mac, mac_peer, ETH_TYPE_IP6, body, n));
	CHECK_INT(sent_count, 2); /* and we defend it */
	CHECK(memcmp(sent[1].frame, "\x33\x33\0\0\0\1", 6) == 0);
	CHECK_INT(sent[1].frame[sent[1].wire.l4 + 4], 0x20);
	sent_count = 0;
}

static void check_echo(const char *dst, unsigned payload, bool answered)
{
	struct ip_addr a = addr(dst);
	bool v4 = ip_is_v4(&a);
	struct rte_mbuf *m = fake_ip(0, v4 ? "192.0.2.7" : "2001:db8:9::7", dst,
		v4 ? PROTO_ICMP : PROTO_ICMP6, v4 ? ICMP_ECHO : ICMP6_ECHO, 0x1234, payload);
	unsigned n = fake_input(w, m);

	CHECK_INT(n, !answered);
	CHECK_INT(sent_count, answered);
	if (answered) {
		CHECK_INT(sent[0].wire.icmp_type, v4 ? ICMP_ECHO_REPLY : ICMP6_ECHO_REPLY);
		CHECK(csum_l4_right(sent[0].frame, &sent[0].wire));
		CHECK(memcmp(sent[0].frame, mac_peer, 6) == 0);
		CHECK_INT(sent[0].wire.l3_end - sent[0].wire.payload, payload);
	} else {
		rte_pktmbuf_free(passed[0]);
	}
	sent_count = 0;
}

static void test_echo(void)
{
	check_echo("10.0.1.1", 56, true);
	check_echo("10.0.1.100", 0, true);
	check_echo("10.0.1.100", 1472, true);
	check_echo("10.0.1.101", 56, false); /* icmp-echo disabled */
	check_echo("10.0.2.50", 56, false);
	check_echo("2001:db8:1::1", 56, true);
	check_echo("2001:db8:1::100", 1400, true);
}

static unsigned conflicts(void)
{
	struct event_row rows[64];
	uint64_t lost;
	unsigned n = event_ring_take(w->events, rows, 64, &lost), found = 0;

	for (unsigned i = 0; i < n; i++)
		found += rows[i].type == EVENT_ADDRESS_CONFLICT && rows[i].object == 20 &&
			 memcmp(rows[i].mac, mac_peer, 6) == 0;
	return found;
}

static void test_conflict(void)
{
	conflicts();
	fake_clock(30000);
	for (unsigned i = 0; i < 5; i++)
		fake_input(w, fake_arp(0, ARP_REQUEST, "10.0.1.100", mac_peer, "10.0.1.100"));
	CHECK_INT(conflicts(), 1);
	CHECK_INT(sent_count, 1); /* defended once (RFC 5227, 2.4) */
	CHECK_INT(sent_arp(0)->sender, sent_arp(0)->target);
	CHECK(memcmp(sent_arp(0)->sender_mac, ports[0].mac, 6) == 0);
	sent_count = 0;
}

static unsigned said(const char *who, bool v4)
{
	unsigned n = 0;

	for (unsigned i = 0; i < sent_count; i++) {
		if (v4 && sent[i].wire.ethertype == ETH_TYPE_ARP)
			n += sent_arp(i)->target == addr(who).w[3];
		if (!v4 && sent[i].wire.ip_version == 6)
			n += memcmp(sent[i].frame + sent[i].wire.l4 + 8, addr(who).b, 16) == 0;
	}
	return n;
}

/* keepalived#166: announced, repeated, also for IPv6; what was there stays silent at the next commit. */
static void test_announce(void)
{
	struct snap_header *h = fake_snapshot();

	fake_run(0, 10000);
	CHECK_INT(said("10.0.1.1", true), 4); /* probe and three announcements */
	CHECK_INT(said("10.0.1.100", true), 4);
	CHECK_INT(said("10.0.1.101", true), 0);
	CHECK_INT(said("10.0.2.50", true), 4);
	CHECK_INT(said("192.0.2.100", true), 0); /* nobody there to hear it */
	CHECK_INT(said("2001:db8:1::100", false), 4);
	unsigned first = 0;
	while (sent[first].wire.ethertype != ETH_TYPE_ARP)
		first++;
	CHECK_INT(sent_arp(first)->sender, 0); /* a probe comes first */
	sent_count = 0;
	fake_commit(fake_snapshot());
	fake_run(10000, 12000);
	CHECK_INT(sent_count, 0);
	ROW(h, SNAP_VADDR, struct snap_vaddr)[2].enabled = 1;
	fake_commit(h);
	fake_run(12000, 18000);
	CHECK_INT(sent_count, 4);
	CHECK_INT(said("10.0.1.102", true), 4);
	fake_commit(fake_snapshot());
	fake_run(18000, 19000);
	sent_count = 0;
}

static void available(bool is)
{
	worker_shared(w, 20)->id = 20;
	worker_shared(w, 20)->avail = is ? LIVE_BITS : 0;
	net_addresses_turned(view.net);
}

static struct snap_header *selective_snapshot(void)
{
	struct snap_header *h = fake_snapshot();
	struct snap_vaddr *v = ROW(h, SNAP_VADDR, struct snap_vaddr);

	v->arp = v->icmp_echo = SNAP_ANSWER_SELECTIVE;
	return h;
}

/* A selective address speaks while it is available, and is announced anew each time it becomes so; one that
 * is enabled speaks always. */
static void test_selective(void)
{
	available(false);
	fake_commit(selective_snapshot());
	fake_run(40000, 45000);
	sent_count = 0;
	check_arp("10.0.1.100", 0, false);
	check_echo("10.0.1.100", 56, false);
	conflicts();
	fake_input(w, fake_arp(0, ARP_REPLY, "10.0.1.100", mac_peer, "10.0.1.77"));
	CHECK_INT(conflicts(), 0); /* another may have it meanwhile */
	sent_count = 0;
	for (unsigned i = 0; i < 2; i++) {
		uint64_t t = 50000 + 20000 * i;
		available(true);
		fake_run(t, t + 5000);
		CHECK_INT(said("10.0.1.100", true), 4);
		CHECK_INT(sent_count, 4);
		sent_count = 0;
		check_arp("10.0.1.100", 0, true);
		check_echo("10.0.1.100", 56, true);
		available(false);
		fake_run(t + 5010, t + 10000);
		CHECK_INT(sent_count, 0);
		check_arp("10.0.1.100", 0, false);
		fake_commit(selective_snapshot());
		fake_run(t + 10010, t + 15000);
		CHECK_INT(sent_count, 0);
	}
	fake_commit(fake_snapshot());
	fake_run(90000, 95000);
	CHECK_INT(said("10.0.1.100", true), 4);
	sent_count = 0;
	check_arp("10.0.1.100", 0, true);
	check_echo("10.0.1.100", 56, true);
}

static void test_not_configured(void)
{
	w->view = NULL;
	check_drop(udp("192.0.2.7", "10.0.1.100"), DROP_NO_SNAPSHOT);
	w->view = &view;
}

int main(void)
{
	fake_start();
	w = worker[0];
	test_announce();
	test_destination();
	test_martians();
	test_damaged();
	test_chained();
	test_unfinished_checksum();
	test_arp_answers();
	test_ndp_answers();
	test_echo();
	test_conflict();
	test_selective();
	test_not_configured();
	fake_stop();
	return 0;
}
