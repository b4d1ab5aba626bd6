/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMP errors that we send, and the kernel's traffic. */
#include "api/tap_hop.h"
#include "net/net_fake.h"

static struct worker *w;
static uint64_t now = 10000;

static void check_error(uint8_t type, uint8_t code, const char *src, unsigned mtu)
{
	char text[IP_ADDR_TEXT];

	CHECK_INT(sent_count, 1);
	const struct wire_info *i = &sent[0].wire;
	struct ip_addr a = wire_src(sent[0].frame, i);
	CHECK_INT(i->icmp_type, type);
	CHECK_INT(i->icmp_code, code);
	CHECK_STR(ip_format(&a, text), src);
	CHECK_INT(wire_get16(sent[0].frame + i->l4 + 6), mtu);
	CHECK(csum_l4_right(sent[0].frame, i));
	CHECK(memcmp(sent[0].frame, mac_peer, 6) == 0);
	CHECK(!(i->flags & WIRE_FRAGMENT));
	sent_count = 0;
}

static void refill(void)
{
	now += 1000;
	fake_clock(now);
}

static void test_errors(void)
{
	net_icmp_error(
		w, fake_ip(0, "192.0.2.7", "10.0.1.100", PROTO_UDP, 1, 2, 1000), NET_TOO_BIG, 1400);
	check_error(ICMP_UNREACHABLE, ICMP_TOO_BIG, "10.0.1.100", 1400);
	net_icmp_error(w, fake_ip(0, "192.0.2.7", "203.0.113.5", PROTO_UDP, 1, 2, 10),
		NET_TTL_EXCEEDED, 0);
	check_error(ICMP_TIME_EXCEEDED, 0, "10.0.1.1", 0);
	net_icmp_error(w, fake_ip(0, "192.0.2.7", "10.0.1.100", PROTO_UDP, 1, 2, 10),
		NET_PORT_UNREACHABLE, 0);
	check_error(ICMP_UNREACHABLE, ICMP_PORT_UNREACHABLE, "10.0.1.100", 0);
	net_icmp_error(w, fake_ip(0, "192.0.2.7", "203.0.113.5", PROTO_UDP, 1, 2, 10),
		NET_ADMIN_PROHIBITED, 0);
	check_error(ICMP_UNREACHABLE, ICMP_PROHIBITED, "10.0.1.1", 0);
	net_icmp_error(w, fake_ip(0, "2001:db8:9::7", "2001:db8:1::100", PROTO_TCP, 1, 2, 1400),
		NET_TOO_BIG, 1380);
	check_error(ICMP6_TOO_BIG, 0, "2001:db8:1::100", 1380);
	net_icmp_error(w, fake_ip(0, "2001:db8:9::7", "2001:db8:5::5", PROTO_TCP, 1, 2, 0),
		NET_HOST_UNREACHABLE, 0);
	check_error(ICMP6_UNREACHABLE, ICMP6_ADDR_UNREACHABLE, "2001:db8:1::1", 0);
}

static void test_never(void)
{
	struct rte_mbuf *m =
		fake_ip(0, "192.0.2.7", "10.0.1.100", PROTO_ICMP, ICMP_UNREACHABLE, 0, 28);

	net_icmp_error(w, m, NET_TTL_EXCEEDED, 0);
	m = fake_ip(0, "192.0.2.7", "10.0.1.100", PROTO_UDP, 1, 2, 10);
	pkt_of(m)->wire.flags |= WIRE_FRAGMENT_LATER;
	net_icmp_error(w, m, NET_TTL_EXCEEDED, 0);
	m = fake_ip(0, "192.0.2.7", "10.0.1.100", PROTO_UDP, 1, 2, 10);
	memcpy(rte_pktmbuf_mtod(m, void *), mac_all, 6);
	net_icmp_error(w, m, NET_TTL_EXCEEDED, 0);
	CHECK_INT(sent_count, 0);
}

static void test_rate(void)
{
	unsigned answered;

	refill();
	for (unsigned second = 0; second < 3; second++) {
		for (unsigned i = 0, n = answered = 0; i < 1000; i++) {
			net_icmp_error(w,
				fake_ip(0, "192.0.2.7", "10.0.1.100", PROTO_UDP, 1, 2, 10),
				NET_PORT_UNREACHABLE, 0);
			answered += sent_count - n;
			sent_count = 0;
		}
		CHECK_INT(answered, ICMP_RATE);
		refill();
	}
	CHECK_INT(w->drop[DROP_RATE_LIMITED_ICMP], 3 * (1000 - ICMP_RATE));
}

/* Without auto last hop the answer goes as routes say. */
static void test_routed_answer(void)
{
	struct snap_header *h = fake_snapshot();

	ROW(h, SNAP_VLAN, struct snap_vlan)[0].auto_lasthop = SNAP_DISABLED;
	fake_commit(h);
	net_icmp_error(w, fake_ip(0, "192.0.2.7", "10.0.1.100", PROTO_UDP, 1, 2, 10),
		NET_PORT_UNREACHABLE, 0);
	CHECK_INT(sent_count, 1);
	CHECK_INT(sent_arp(0)->target, addr("10.0.1.254").w[3]);
	sent_count = 0;
	CHECK_INT(fake_input(w, fake_arp(0, ARP_REPLY, "10.0.1.254", mac_other, "10.0.1.1")), 0);
	CHECK_INT(sent_count, 1);
	CHECK(memcmp(sent[0].frame, mac_other, 6) == 0);
	CHECK_INT(sent[0].wire.icmp_type, ICMP_UNREACHABLE);
	sent_count = 0;
	fake_commit(fake_snapshot());
}

/* --- the kernel ----------------------------------------------------------------------------------- */

static void to_kernel(struct rte_mbuf *m, bool let_in)
{
	struct ip_addr dst = wire_dst(rte_pktmbuf_mtod(m, uint8_t *), &pkt_of(m)->wire);
	uint64_t refused = w->drop[DROP_SERVICE_NOT_ALLOWED];
	uint32_t row;

	CHECK_INT(net_owner_of(&view, &dst, &row), NET_SELF);
	net_to_kernel(w, m, row);
	CHECK_INT(sent_count, let_in);
	if (let_in)
		CHECK(sent[0].tap);
	CHECK_INT(w->drop[DROP_SERVICE_NOT_ALLOWED] - refused, !let_in);
	sent_count = 0;
}

static struct rte_mbuf *tcp(const char *dst, uint16_t port, uint8_t flags)
{
	struct rte_mbuf *m = fake_ip(0, "192.0.2.7", dst, PROTO_TCP, 1000, port, 0);

	pkt_of(m)->wire.tcp_flags = flags;
	return m;
}

static void test_allow_service(void)
{
	to_kernel(tcp("10.0.1.1", 22, TCP_SYN), true);
	to_kernel(tcp("10.0.1.1", 443, TCP_SYN), false);
	to_kernel(fake_ip(0, "192.0.2.7", "10.0.1.1", PROTO_UDP, 1000, 22, 0), false);
	to_kernel(fake_ip(0, "192.0.2.7", "10.0.1.1", 89, 0, 0, 20), true); /* any port */
	to_kernel(tcp("10.0.2.1", 22, TCP_SYN), false);
	/* what answers a connection of the kernel's own */
	to_kernel(tcp("10.0.2.1", 50000, TCP_SYN | TCP_ACK), true);
	to_kernel(tcp("10.0.2.1", 50000, TCP_ACK), true);
	to_kernel(tcp("10.0.2.1", 50000, TCP_SYN), false);
	to_kernel(tcp("10.0.2.1", 40000, TCP_ACK), false);
}

static void from_kernel(struct rte_mbuf *m)
{
	pkt_of(m)->port = PORT_NONE;
	net_from_kernel(w, m);
}

static void learn_peer(void)
{
	struct ip_addr a = addr("10.0.2.9");
	uint32_t n = net_route_get(w, &a);

	CHECK_INT(fake_input(w, fake_arp(1, ARP_REPLY, "10.0.2.9", mac_peer, "10.0.2.2")), 0);
	net_nexthop_put(w, n);
	sent_count = 0;
}

/* UDP and echo: only whom the kernel has spoken to, on whatever worker, for a minute. */
static void test_conversations(void)
{
	learn_peer();
	to_kernel(fake_ip(1, "10.0.2.9", "10.0.2.1", PROTO_UDP, 53, 50001, 20), false);
	from_kernel(fake_ip(1, "10.0.2.1", "10.0.2.9", PROTO_UDP, 50001, 53, 20));
	CHECK_INT(sent_count, 1);
	CHECK_INT(sent[0].port, 1);
	CHECK(memcmp(sent[0].frame, mac_peer, 6) == 0);
	sent_count = 0;
	w = worker[1];
	to_kernel(fake_ip(1, "10.0.2.9", "10.0.2.1", PROTO_UDP, 53, 50001, 20), true);
	to_kernel(fake_ip(1, "10.0.2.8", "10.0.2.1", PROTO_UDP, 53, 50001, 20), false);
	to_kernel(fake_ip(1, "10.0.2.9", "10.0.2.1", PROTO_UDP, 54, 50001, 20), false);
	w = worker[0];
	from_kernel(fake_ip(1, "10.0.2.1", "10.0.2.9", PROTO_ICMP, ICMP_ECHO, 0x77, 20));
	sent_count = 0;
	to_kernel(fake_ip(1, "10.0.2.9", "10.0.2.1", PROTO_ICMP, ICMP_ECHO_REPLY, 0x77, 20), true);
	to_kernel(fake_ip(1, "10.0.2.9", "10.0.2.1", PROTO_ICMP, ICMP_ECHO_REPLY, 0x78, 20), false);
	now += 61000;
	fake_clock(now);
	to_kernel(fake_ip(1, "10.0.2.9", "10.0.2.1", PROTO_UDP, 53, 50001, 20), false);
}

/* An ICMP error that quotes a packet of the given source port. */
static struct rte_mbuf *quoting(uint16_t src_port)
{
	struct rte_mbuf *m = fake_ip(1, "10.0.2.1", "10.0.2.9", PROTO_TCP, src_port, 80, 0);
	struct ip_addr router = addr("10.0.2.254");
	uint8_t body[600];
	unsigned n = emit_icmp_error(body, &router, ICMP_UNREACHABLE, ICMP_HOST_UNREACHABLE, 0,
		rte_pktmbuf_mtod(m, uint8_t *), &pkt_of(m)->wire);
	rte_pktmbuf_free(m);
	m = fake_wrap(1, ports[1].mac, mac_peer, ETH_TYPE_IP4, body, n);
	CHECK_INT(
		wire_parse(rte_pktmbuf_mtod(m, uint8_t *), m->data_len, &pkt_of(m)->wire), WIRE_OK);
	return m;
}

static void test_errors_for_kernel(void)
{
	to_kernel(quoting(50000), true);
	to_kernel(quoting(179), true);
	to_kernel(quoting(20000), false); /* automap's */
}

static void test_from_kernel_refused(void)
{
	from_kernel(fake_ip(1, "10.0.2.77", "10.0.2.9", PROTO_UDP, 50001, 53, 20));
	CHECK_INT(w->drop[DROP_MARTIAN], 1);
	CHECK_INT(sent_count, 0);
	/* no route, too big: the kernel is told by its tap */
	from_kernel(fake_ip(1, "10.0.2.1", "10.66.0.1", PROTO_UDP, 50001, 53, 20));
	CHECK_INT(sent_count, 1);
	CHECK(sent[0].tap);
	CHECK_INT(sent[0].wire.icmp_type, ICMP_UNREACHABLE);
	sent_count = 0;
	from_kernel(fake_ip(1, "10.0.2.1", "10.0.2.9", PROTO_UDP, 50001, 53, 1450));
	CHECK_INT(sent_count, 1);
	CHECK(sent[0].tap);
	CHECK_INT(sent[0].wire.icmp_code, ICMP_TOO_BIG);
	sent_count = 0;
}

/* The kernel may name the next hop itself (api/tap_hop.h): there the packet goes, whatever the routes say. */
static void test_from_kernel_through(void)
{
	struct ip_addr hop = addr("10.0.2.9");
	struct rte_mbuf *m = fake_ip(1, "10.0.2.1", "10.66.0.1", PROTO_ICMP, ICMP_ECHO, 0x77, 20);

	learn_peer();
	tap_hop_write(rte_pktmbuf_mtod(m, struct eth_hdr *)->dst, &hop);
	pkt_of(m)->vlan = net_vlan_of(w->view, 1, 20);
	from_kernel(m);
	CHECK_INT(sent_count, 1);
	CHECK_INT(sent[0].port, 1);
	CHECK(memcmp(sent[0].frame, mac_peer, 6) == 0);
	sent_count = 0;
	/* No device's own address, which all other packets of the kernel carry, can name one. */
	uint8_t mac[6];
	tap_hop_write(mac, &hop);
	CHECK(mac[0] & 1);
	/* Ourselves, or a VLAN that is gone: no way, and the kernel is told. */
	m = fake_ip(1, "10.0.2.1", "10.0.2.9", PROTO_ICMP, ICMP_ECHO, 0x77, 20);
	hop = addr("10.0.2.1");
	tap_hop_write(rte_pktmbuf_mtod(m, struct eth_hdr *)->dst, &hop);
	pkt_of(m)->vlan = net_vlan_of(w->view, 1, 20);
	from_kernel(m);
	CHECK_INT(sent_count, 1);
	CHECK(sent[0].tap);
	sent_count = 0;
}

int main(void)
{
	fake_start();
	fake_settle();
	w = worker[0];
	test_errors();
	test_never();
	test_rate();
	test_routed_answer();
	test_allow_service();
	test_conversations();
	test_errors_for_kernel();
	test_from_kernel_refused();
	test_from_kernel_through();
	fake_stop();
	return 0;
}
