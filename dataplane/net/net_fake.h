/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small network around one or two workers for unit tests: two ports and taps that only note what they
 * are given, a clock that the test sets, and this configuration:
 *
 *   port 0 "1.1" untagged: VLAN 0 "external" (id 100)   10.0.1.1/24, 2001:db8:1::1/64, mtu 1500
 *   port 1 "1.2" tag 20:   VLAN 1 "internal" (id 101)   10.0.2.1/24, 10.0.2.2/24 floating,
 *                                                       2001:db8:2::1/64, mtu 1400
 *   virtual addresses 10.0.1.100, 2001:db8:1::100 (ARP, echo), 10.0.1.101 (neither), 10.0.1.102 (disabled),
 *   192.0.2.100 (in no network of ours); SNAT address 10.0.2.50
 *   routes: default via 10.0.1.254 and 2001:db8:1::fe; 10.8.0.0/16 via 10.0.2.254; 10.9.0.0/16 via
 *   10.8.0.1, mtu 1300; 10.66.0.0/16 nowhere; 10.77.0.0/16 on link in VLAN 1; 10.9.9.0/24 via 172.31.0.1
 *   of 172.16.0.0/12 via itself, which is unusable
 *   allow-service: VLAN 0 tcp:22 and every OSPF packet, VLAN 1 none
 */
#ifndef WEIR_NET_NET_FAKE_H
#define WEIR_NET_NET_FAKE_H

#include <arpa/inet.h>

#include "core/test_eal.h"
#include "net/netprivate.h"
#include "port/tap.h"
#include "wire/csum.h"

struct sent {
	uint8_t frame[2048];
	unsigned length;
	uint8_t port; /* of a tap: the VLAN */
	bool tap;
	struct wire_info wire;
};

static struct sent sent[256];
static unsigned sent_count;
static struct worker *worker[2];
static struct view view;
static struct port ports[2] = {
	{.name = "1.1", .mac = {2, 0, 0, 0, 0, 1}, .mtu_max = 9000},
	{.name = "1.2", .mac = {2, 0, 0, 0, 0, 2}, .mtu_max = 9000},
};
static const uint8_t mac_peer[6] = {2, 0, 0, 0, 0xbe, 0xef},
		     mac_other[6] = {2, 0, 0, 0, 0xbe, 0xee};
static const uint8_t mac_all[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

unsigned port_count(void)
{
	return 2;
}

const struct port *port_at(unsigned index)
{
	CHECK(index < 2);
	return &ports[index];
}

uint8_t port_by_name(const char *name)
{
	for (uint8_t i = 0; i < 2; i++)
		if (strcmp(ports[i].name, name) == 0)
			return i;
	return PORT_NONE;
}

static void note(struct rte_mbuf *m, uint8_t port, bool tap)
{
	struct sent *s = &sent[sent_count++];

	CHECK(sent_count < 256 && m->nb_segs == 1 && m->pkt_len <= sizeof(s->frame));
	memcpy(s->frame, rte_pktmbuf_mtod(m, void *), m->pkt_len);
	s->length = m->pkt_len;
	s->port = port;
	s->tap = tap;
	if (!tap)
		CHECK_INT(wire_parse(s->frame, s->length, &s->wire), WIRE_OK);
	else
		s->wire = pkt_of(m)->wire;
	rte_pktmbuf_free(m);
}

void port_send(struct worker *w, struct rte_mbuf *m, uint8_t port)
{
	note(m, port, false);
}

void port_flush(struct worker *w) {}

void tap_send(struct worker *w, struct rte_mbuf *m, uint16_t vlan)
{
	note(m, (uint8_t)vlan, true);
}

static inline struct ip_addr addr(const char *text)
{
	struct ip_addr a;
	CHECK(ip_parse(text, &a) == 0);
	return a;
}

/* --- the snapshot --------------------------------------------------------------------------------- */

#define ROW(h, kind, type) ((type *)(uintptr_t)SNAP_ROWS(h, kind, type))

static inline void fake_vlans(struct snap_header *h)
{
	struct snap_interface *i = ROW(h, SNAP_INTERFACE, struct snap_interface);
	struct snap_vlan *v = ROW(h, SNAP_VLAN, struct snap_vlan);
	struct snap_vlan_member *m = ROW(h, SNAP_VLAN_MEMBER, struct snap_vlan_member);

	i[0] = (struct snap_interface){.id = 1, .enabled = 1, .name = "1.1"};
	i[1] = (struct snap_interface){.id = 2, .enabled = 1, .name = "1.2"};
	v[0] = (struct snap_vlan){
		.id = 100, .tag = 10, .mtu = 1500, .members = 1, .tap = "external"};
	v[1] = (struct snap_vlan){.id = 101,
		.tag = 20,
		.mtu = 1400,
		.first_member = 1,
		.members = 1,
		.tap = "internal"};
	m[0] = (struct snap_vlan_member){.interface = 0};
	m[1] = (struct snap_vlan_member){.interface = 1, .tagged = 1};
}

static inline void fake_addresses(struct snap_header *h)
{
	struct snap_self *s = ROW(h, SNAP_SELF, struct snap_self);
	struct snap_vaddr *v = ROW(h, SNAP_VADDR, struct snap_vaddr);
	struct snap_service *allow = ROW(h, SNAP_SERVICE, struct snap_service);

	s[0] = (struct snap_self){.id = 10,
		.vlan = 0,
		.addr = addr("10.0.1.1"),
		.prefix = 24,
		.allow = SNAP_ALLOW_LIST,
		.services = 2};
	s[1] = (struct snap_self){.id = 11, .vlan = 0, .addr = addr("2001:db8:1::1"), .prefix = 64};
	s[2] = (struct snap_self){.id = 12, .vlan = 1, .addr = addr("10.0.2.1"), .prefix = 24};
	s[3] = (struct snap_self){
		.id = 13, .vlan = 1, .addr = addr("10.0.2.2"), .prefix = 24, .floating = 1};
	s[4] = (struct snap_self){.id = 14, .vlan = 1, .addr = addr("2001:db8:2::1"), .prefix = 64};
	allow[0] = (struct snap_service){.proto = PROTO_TCP, .port = 22};
	allow[1] = (struct snap_service){.proto = 89};
	v[0] = (struct snap_vaddr){.id = 20,
		.addr = addr("10.0.1.100"),
		.prefix = 32,
		.arp = 1,
		.icmp_echo = 1,
		.enabled = 1};
	v[1] = (struct snap_vaddr){
		.id = 21, .addr = addr("10.0.1.101"), .prefix = 32, .enabled = 1};
	v[2] = (struct snap_vaddr){.id = 22, .addr = addr("10.0.1.102"), .prefix = 32, .arp = 1};
	v[3] = (struct snap_vaddr){.id = 23,
		.addr = addr("2001:db8:1::100"),
		.prefix = 128,
		.arp = 1,
		.icmp_echo = 1,
		.enabled = 1};
	v[4] = (struct snap_vaddr){.id = 24,
		.addr = addr("192.0.2.100"),
		.prefix = 32,
		.arp = 1,
		.icmp_echo = 1,
		.enabled = 1};
	ROW(h, SNAP_SNAT_ADDR, struct snap_snat_addr)
	[0] = (struct snap_snat_addr){.id = 30, .addr = addr("10.0.2.50")};
}

static inline void fake_routes(struct snap_header *h)
{
	static const struct {
		const char *network, *gateway;
		uint8_t prefix, kind;
		uint16_t mtu;
	} routes[] = {
		{"0.0.0.0", "10.0.1.254", 0, SNAP_ROUTE_GATEWAY, 0},
		{"10.8.0.0", "10.0.2.254", 16, SNAP_ROUTE_GATEWAY, 0},
		{"10.9.0.0", "10.8.0.1", 16, SNAP_ROUTE_GATEWAY, 1300},
		{"10.66.0.0", "0.0.0.0", 16, SNAP_ROUTE_BLACKHOLE, 0},
		{"10.77.0.0", "0.0.0.0", 16, SNAP_ROUTE_VLAN, 0},
		{"::", "2001:db8:1::fe", 0, SNAP_ROUTE_GATEWAY, 0},
		{"10.9.9.0", "172.31.0.1", 24, SNAP_ROUTE_GATEWAY, 0},
		{"172.16.0.0", "172.31.0.1", 12, SNAP_ROUTE_GATEWAY, 0},
	};
	struct snap_route *r = ROW(h, SNAP_ROUTE, struct snap_route);

	CHECK_INT(SNAP_COUNT(h, SNAP_ROUTE), RTE_DIM(routes));
	for (unsigned i = 0; i < RTE_DIM(routes); i++)
		r[i] = (struct snap_route){.id = 40 + i,
			.network = addr(routes[i].network),
			.gateway = addr(routes[i].gateway),
			.prefix = routes[i].prefix,
			.kind = routes[i].kind,
			.mtu = routes[i].mtu,
			.vlan = routes[i].kind == SNAP_ROUTE_VLAN ? 1 : SNAP_NIL};
}

/* more: rows of each kind beyond those, for the caller to fill. */
static inline struct snap_header *fake_snapshot_with(const uint32_t more[SNAP_KINDS])
{
	uint32_t counts[SNAP_KINDS] = {[SNAP_SETTINGS] = 1,
		[SNAP_INTERFACE] = 2,
		[SNAP_VLAN] = 2,
		[SNAP_VLAN_MEMBER] = 2,
		[SNAP_SELF] = 5,
		[SNAP_SERVICE] = 2,
		[SNAP_ROUTE] = 8,
		[SNAP_VADDR] = 5,
		[SNAP_SNAT_ADDR] = 1};
	struct snap_header head, *h;

	for (unsigned i = 0; i < SNAP_KINDS; i++)
		counts[i] += more[i];
	h = calloc(1, snapshot_layout(&head, counts));
	CHECK(h != NULL);
	*h = head;
	*ROW(h, SNAP_SETTINGS, struct snap_settings) = (struct snap_settings){.auto_lasthop = 1,
		.reset_unmatched = 1,
		.arp_timeout = 300,
		.arp_retries = 3,
		.maximum_arp = 2048};
	fake_vlans(h);
	fake_addresses(h);
	fake_routes(h);
	return h;
}

static inline struct snap_header *fake_snapshot(void)
{
	return fake_snapshot_with((const uint32_t[SNAP_KINDS]){0});
}

/* Puts h into force; the old snapshot and tables are freed. */
static inline void fake_commit(struct snap_header *h)
{
	struct net_tables *old = view.net, *new = net_tables_new(h, old, worker[0]->now_ns);

	CHECK(new != NULL);
	free((void *)(uintptr_t)view.snap);
	view.snap = h;
	view.net = new;
	net_tables_free(old);
}

/* --- time and packets ----------------------------------------------------------------------------- */

static inline void fake_clock(uint64_t ms)
{
	for (unsigned i = 0; i < 2; i++) {
		worker[i]->now = (uint32_t)(1000 + ms / 10);
		worker[i]->now_ns = 1000000000u + ms * 1000000u;
	}
}

/* Upkeep in steps of a tick until ms. */
static inline void fake_run(uint64_t from_ms, uint64_t to_ms)
{
	for (uint64_t t = from_ms; t <= to_ms; t += 10) {
		fake_clock(t);
		net_house(worker[0]);
	}
}

static inline void fake_start(void)
{
	test_eal_init(64);
	test_workers_new(worker, 2, 64);
	fake_clock(0);
	fake_commit(fake_snapshot());
	for (unsigned i = 0; i < 2; i++) {
		CHECK_INT(net_worker_init(worker[i], 256), 0);
		worker[i]->view = &view;
	}
}

/* All that was announced at start is out of the way; the clock is at 10 s. */
static inline void fake_settle(void)
{
	fake_run(0, 10000);
	sent_count = 0;
}

static inline void fake_stop(void)
{
	for (unsigned i = 0; i < 2; i++)
		net_worker_fini(worker[i]);
	net_tables_free(view.net);
	free((void *)(uintptr_t)view.snap);
	unsigned size = worker[0]->pool->size;
	for (unsigned i = 0; i < 2; i++) { /* nothing was lost */
		struct rte_mbuf *m;
		handover_flush(worker[!i]);
		while (handover_receive(worker[i], &m, 1))
			rte_pktmbuf_free(m);
	}
	CHECK_INT(rte_mempool_avail_count(worker[0]->pool), size);
	test_workers_free(worker, 2);
}

/* A frame as the port delivers it. */
static inline struct rte_mbuf *fake_frame(const void *bytes, unsigned length, uint8_t port)
{
	struct rte_mbuf *m = mbuf_new(worker[0]->pool);
	void *data = m ? mbuf_append(m, (uint16_t)length) : NULL;

	CHECK(data != NULL);
	memcpy(data, bytes, length);
	pkt_of(m)->port = port;
	return m;
}

/* One packet through net_input; what passes is left in passed[]. */
static struct rte_mbuf *passed[2 * PKT_BURST];

static inline unsigned fake_input(struct worker *w, struct rte_mbuf *m)
{
	return net_input(w, &m, 1, passed);
}

/* An Ethernet frame for the port (VLAN 0 untagged, VLAN 1 tagged) around what is at body. */
static inline struct rte_mbuf *fake_wrap(uint8_t port, const uint8_t dst[6], const uint8_t src[6],
	uint16_t type, const uint8_t *body, unsigned length)
{
	uint8_t frame[4096];
	unsigned n = emit_eth(frame, dst, src, port ? 20 : WIRE_NO_TAG, type);

	memcpy(frame + n, body, length);
	return fake_frame(frame, n + length, port);
}

/* UDP, TCP or ICMP packet with `payload` bytes behind an 8- or 20-byte header; checksums right. */
static inline struct rte_mbuf *fake_ip(uint8_t port, const char *from, const char *to,
	uint8_t proto, uint16_t src_port, uint16_t dst_port, unsigned payload)
{
	struct ip_addr src = addr(from), dst = addr(to);
	bool v4 = ip_is_v4(&src);
	uint8_t body[4096] = {0};
	unsigned header = proto == PROTO_TCP ? 20 : 8;
	unsigned n = v4 ? emit_ip4(body, &src, &dst, proto, 64, (uint16_t)(header + payload))
			: emit_ip6(body, &src, &dst, proto, 64, (uint16_t)(header + payload));
	struct udp_hdr udp = {htons(src_port), htons(dst_port), htons((uint16_t)(8 + payload)), 0};
	struct tcp_hdr tcp = {
		.src = htons(src_port), .dst = htons(dst_port), .offset = 0x50, .flags = TCP_ACK};
	struct icmp_hdr icmp = {.type = (uint8_t)src_port, .echo.id = htons(dst_port)};

	if (proto == PROTO_TCP)
		memcpy(body + n, &tcp, 20);
	else if (proto == PROTO_UDP)
		memcpy(body + n, &udp, 8);
	else
		memcpy(body + n, &icmp, 8);
	for (unsigned i = 0; i < payload; i++)
		body[n + header + i] = (uint8_t)i;
	struct rte_mbuf *m = fake_wrap(port, ports[port].mac, mac_peer,
		v4 ? ETH_TYPE_IP4 : ETH_TYPE_IP6, body, n + header + payload);
	CHECK_INT(
		wire_parse(rte_pktmbuf_mtod(m, uint8_t *), m->data_len, &pkt_of(m)->wire), WIRE_OK);
	csum_l4_write(rte_pktmbuf_mtod(m, uint8_t *), &pkt_of(m)->wire);
	pkt_of(m)->vlan = port;
	return m;
}

static inline struct rte_mbuf *fake_arp(
	uint8_t port, uint16_t op, const char *sender, const uint8_t mac[6], const char *target)
{
	uint8_t body[28];
	struct ip_addr s = addr(sender), t = addr(target);

	emit_arp(body, op, mac, s.w[3], op == ARP_REPLY ? ports[port].mac : NULL, t.w[3]);
	return fake_wrap(
		port, op == ARP_REPLY ? ports[port].mac : mac_all, mac, ETH_TYPE_ARP, body, 28);
}

static inline const struct arp_hdr *sent_arp(unsigned i)
{
	CHECK(i < sent_count);
	CHECK_INT(sent[i].wire.ethertype, ETH_TYPE_ARP);
	return (const struct arp_hdr *)(sent[i].frame + sent[i].wire.l3);
}

#endif
