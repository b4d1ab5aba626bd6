/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two workers that the test drives by hand, on the network of net_fake.h with one server, 10.0.2.11:
 * behind 10.0.1.100:80 (SNAT none), 10.0.1.100:81 (SNAT pool 10.0.2.50), 10.0.1.101 (any port and protocol),
 * one port of 10.0.2.50, and a virtual server that forwards everything else. 10.0.1.100:82 translates nothing;
 * its pool are two routers, 10.0.2.11 and 10.0.2.12.
 */
#include "net/net_fake.h"

#include "core/event.h"
#include "flow/listener.h"
#include "flow/owner.h"
#include "l4/l4_internal.h"
#include "lb/lb.h"
#include "lb/live.h"

enum { WEB, SNATTED, ANY, ON_SNAT, FORWARD, ROUTED, VIRTUALS };
enum {
	ID_PROFILE = 50,
	ID_NODE,
	ID_POOL,
	ID_MEMBER,
	ID_SNATPOOL,
	ID_WILDCARD,
	ID_SNAT_VADDR,
	ID_NODE2,
	ID_ROUTERS,
	ID_ROUTER, /* and the next */
	ID_VIRTUAL = ID_ROUTER + 2
};

static uint16_t listening = 1024; /* the port of 10.0.2.50 */
static uint16_t server_port;	  /* such that a packet's source alone would make it worker 1's */
static const struct snap_live usable = {.ratio = 1, .avail = LIVE_BITS};

static void virtual_add(
	struct snap_header *h, unsigned i, const char *source, struct snap_virtual v)
{
	v.id = ID_VIRTUAL + i;
	v.source = addr(source);
	v.translate_address = v.translate_port = v.type == SNAP_VIRTUAL_FASTL4 && i != ROUTED;
	v.live = usable;
	ROW(h, SNAP_VIRTUAL, struct snap_virtual)[i] = v;
}

static struct snap_header *snapshot(void)
{
	const uint32_t more[SNAP_KINDS] = {[SNAP_NODE] = 2,
		[SNAP_POOL] = 2,
		[SNAP_MEMBER] = 3,
		[SNAP_VADDR] = 2,
		[SNAP_VIRTUAL] = VIRTUALS,
		[SNAP_PROFILE] = 1,
		[SNAP_SNATPOOL] = 1};
	struct snap_header *h = fake_snapshot_with(more);

	*ROW(h, SNAP_PROFILE, struct snap_profile) = (struct snap_profile){.id = ID_PROFILE,
		.reset_on_timeout = 1,
		.idle_timeout = 300,
		.handshake_timeout = 5,
		.close_timeout = 5};
	*ROW(h, SNAP_NODE, struct snap_node) =
		(struct snap_node){.id = ID_NODE, .addr = addr("10.0.2.11"), .live = usable};
	*ROW(h, SNAP_POOL, struct snap_pool) = (struct snap_pool){
		.id = ID_POOL, .members = 1, .allow_snat = 1, .response_time = 3};
	*ROW(h, SNAP_MEMBER, struct snap_member) =
		(struct snap_member){.id = ID_MEMBER, .port = server_port, .live = usable};
	ROW(h, SNAP_NODE, struct snap_node)
	[1] = (struct snap_node){.id = ID_NODE2, .addr = addr("10.0.2.12"), .live = usable};
	ROW(h, SNAP_POOL, struct snap_pool)
	[1] = (struct snap_pool){.id = ID_ROUTERS, .first_member = 1, .members = 2};
	for (uint32_t i = 0; i < 2; i++)
		ROW(h, SNAP_MEMBER, struct snap_member)
	[1 + i] = (struct snap_member){.id = ID_ROUTER + i, .pool = 1, .node = i, .live = usable};
	*ROW(h, SNAP_SNATPOOL, struct snap_snatpool) =
		(struct snap_snatpool){.id = ID_SNATPOOL, .addrs = 1};
	ROW(h, SNAP_VADDR, struct snap_vaddr)
	[5] = (struct snap_vaddr){.id = ID_WILDCARD, .addr = addr("0.0.0.0"), .enabled = 1};
	ROW(h, SNAP_VADDR, struct snap_vaddr)
	[6] = (struct snap_vaddr){
		.id = ID_SNAT_VADDR, .addr = addr("10.0.2.50"), .prefix = 32, .enabled = 1};
	virtual_add(h, WEB, "0.0.0.0",
		(struct snap_virtual){
			.vaddr = 0, .proto = PROTO_TCP, .port = 80, .snatpool = SNAP_NIL});
	virtual_add(h, SNATTED, "0.0.0.0",
		(struct snap_virtual){.vaddr = 0,
			.proto = PROTO_TCP,
			.port = 81,
			.snat = SNAP_SNAT_POOL,
			.source_port = SNAP_PORT_CHANGE});
	virtual_add(h, ANY, "0.0.0.0", (struct snap_virtual){.vaddr = 1, .snatpool = SNAP_NIL});
	virtual_add(h, ON_SNAT, "0.0.0.0",
		(struct snap_virtual){
			.vaddr = 6, .proto = PROTO_TCP, .port = listening, .snatpool = SNAP_NIL});
	virtual_add(h, FORWARD, "0.0.0.0",
		(struct snap_virtual){.vaddr = 5,
			.type = SNAP_VIRTUAL_FORWARD_IP,
			.pool = SNAP_NIL,
			.snatpool = SNAP_NIL});
	virtual_add(h, ROUTED, "0.0.0.0",
		(struct snap_virtual){.vaddr = 0, .pool = 1, .port = 82, .snatpool = SNAP_NIL});
	return h;
}

static void commit(struct snap_header *h)
{
	struct view old = view;

	fake_commit(h);
	live_sync(h, worker[0]->counters);
	view.listeners = listener_table_new(h);
	view.snat = snat_table_new(h, 2);
	view.lb = lb_table_new(h, worker[0]->counters, 1);
	CHECK(view.listeners && view.snat && view.lb);
	listener_table_free(old.listeners);
	snat_table_free(old.snat);
	lb_table_free(old.lb);
}

/* Lets worker i take what the other handed to it. */
static void serve(unsigned i)
{
	struct rte_mbuf *got[PKT_BURST], *l4[PKT_BURST];
	unsigned n, kept = 0;

	handover_flush(worker[!i]);
	n = handover_receive(worker[i], got, PKT_BURST);
	for (unsigned k = 0; k < n; k++) {
		if (pkt_of(got[k])->stage == PKT_NEIGHBOUR)
			rte_pktmbuf_free(got[k]);
		else
			l4[kept++] = got[k];
	}
	l4_input(worker[i], l4, kept);
}

/* One packet, received by worker i, until all have done with it. */
static void pass(unsigned i, struct rte_mbuf *m)
{
	l4_input(worker[i], &m, 1);
	serve(!i);
	serve(i);
	serve(!i);
}

static struct rte_mbuf *tcp(uint8_t port, const char *from, uint16_t src_port, const char *to,
	uint16_t dst_port, uint8_t flags)
{
	struct rte_mbuf *m = fake_ip(port, from, to, PROTO_TCP, src_port, dst_port, 0);

	((struct tcp_hdr *)pkt_l4(m))->flags = flags;
	pkt_of(m)->wire.tcp_flags = flags;
	return m;
}

/* The next port, from `from` on, that makes (host, port) worker i's. */
static uint16_t port_of(const char *host, unsigned i, uint16_t from)
{
	struct ip_addr a = addr(host);

	while (owner_of_end(&a, from, 2) != i)
		from++;
	return from;
}

static void neighbours_ready(void)
{
	static const char *hosts[] = {"10.0.1.10", "10.0.2.11", "10.0.2.12"};

	for (unsigned i = 0; i < 2; i++)
		for (uint8_t n = 0; n < 3; n++) {
			struct ip_addr host = addr(hosts[n]);
			net_nexthop_put(worker[i], net_route_get(worker[i], &host));
			fake_input(worker[i],
				fake_arp(n != 0, ARP_REPLY, hosts[n], n == 2 ? mac_other : mac_peer,
					n ? "10.0.2.1" : "10.0.1.1"));
		}
	serve(0);
	serve(1);
	sent_count = 0;
}

static uint32_t flows(void)
{
	return worker[0]->flow->used + worker[1]->flow->used;
}

static void end_all(void)
{
	for (unsigned i = 0; i < 2; i++)
		for (uint32_t k = 0; k < worker[i]->flow->high; k++)
			if (worker[i]->flow->flows[k].flags & FLOW_USED)
				l4_end(worker[i], k);
	CHECK_INT(flows(), 0);
	CHECK_INT(worker_shared(worker[0], ID_MEMBER)->current, 0);
	CHECK_INT(worker_shared(worker[0], ID_NODE)->current, 0);
	for (unsigned i = 0; i < VIRTUALS; i++)
		CHECK_INT(worker_shared(worker[0], ID_VIRTUAL + i)->current, 0);
	sent_count = 0;
}

/* A flow that ends within a burst does not send the others of the burst astray: replies without SNAT are
 * looked up here first, and the second worker knows nothing of them. */
static void test_burst_after_an_end(void)
{
	uint16_t ending = port_of("10.0.1.10", 0, 1000),
		 staying = port_of("10.0.1.10", 0, ending + 1);

	pass(0, tcp(0, "10.0.1.10", ending, "10.0.1.100", 80, TCP_SYN));
	pass(0, tcp(0, "10.0.1.10", staying, "10.0.1.100", 80, TCP_SYN));
	CHECK_INT(worker[0]->flow->used, 2);
	sent_count = 0;
	struct rte_mbuf *burst[] = {
		tcp(1, "10.0.2.11", server_port, "10.0.1.10", ending, TCP_RST | TCP_ACK),
		tcp(1, "10.0.2.11", server_port, "10.0.1.10", staying, TCP_SYN | TCP_ACK)};
	uint64_t handed = worker[0]->stat[WORKER_HANDED_OVER];
	l4_input(worker[0], burst, 2);
	handover_flush(worker[0]);
	CHECK_INT(worker[0]->stat[WORKER_HANDED_OVER], handed);
	CHECK_INT(sent_count, 2);
	CHECK_INT(sent[1].port, 0);
	CHECK_INT(sent[1].wire.tcp_flags, TCP_SYN | TCP_ACK);
	end_all();
}

static struct rte_mbuf *icmp_error(
	uint8_t port, const char *from, const char *to, const struct rte_mbuf *about)
{
	struct rte_mbuf *m = fake_ip(port, from, to, PROTO_ICMP, ICMP_UNREACHABLE, 0, 28);
	struct wire_info *i = &pkt_of(m)->wire;
	uint8_t *base = rte_pktmbuf_mtod(m, uint8_t *);

	memcpy(base + i->payload, rte_pktmbuf_mtod_offset(about, void *, ETH_HEADER), 28);
	csum_l4_write(base, i);
	CHECK(i->flags & WIRE_ICMP_ERROR);
	return m;
}

/* iqiyi/dpvs#793: an error finds its flow from any worker, also where only the other end names the owner. */
static void test_error_for_the_second_owner(void)
{
	uint16_t server = port_of("10.0.2.11", 1, 5000), client = port_of("10.0.1.10", 0, 5000);

	pass(1, fake_ip(0, "10.0.1.10", "10.0.2.11", PROTO_UDP, client, server, 20));
	CHECK_INT(worker[0]->flow->used, 1);
	sent_count = 0;
	struct rte_mbuf *reply =
		fake_ip(0, "10.0.2.11", "10.0.1.10", PROTO_UDP, server, client, 20);
	pass(1, icmp_error(0, "10.0.1.10", "10.0.2.11", reply));
	CHECK_INT(sent_count, 1);
	CHECK_INT(sent[0].port, 1);
	CHECK(csum_l4_right(sent[0].frame, &sent[0].wire));
	/* one hop more would be its last */
	struct rte_mbuf *m = icmp_error(0, "10.0.1.10", "10.0.2.11", reply);
	((struct ip4_hdr *)pkt_l3(m))->ttl = 1;
	pass(1, m);
	CHECK_INT(sent_count, 1);
	CHECK_INT(worker[0]->drop[DROP_TTL], 1);
	rte_pktmbuf_free(reply);
	end_all();
}

/* A row of a view that is gone: VLANs came and went while the packet waited in a ring. */
static void test_stale_vlan(void)
{
	struct rte_mbuf *m =
		tcp(0, "10.0.1.10", port_of("10.0.1.10", 0, 1000), "10.0.1.100", 80, TCP_SYN);

	pkt_of(m)->vlan = 60000;
	pass(0, m);
	CHECK_INT(flows(), 1);
	m = tcp(0, "10.0.1.10", port_of("10.0.1.10", 0, 2000), "10.0.1.100", 80, TCP_SYN);
	pkt_of(m)->wire.tag = 77;
	pass(0, m);
	CHECK_INT(flows(), 1);
	CHECK_INT(worker[0]->drop[DROP_UNKNOWN_VLAN], 1);
	end_all();
}

/* ICMPv6 in IPv4 has no header that we know: it must not get a flow by way of a fragment. */
static void test_fragments_open_no_odd_flows(void)
{
	static const uint8_t protos[] = {PROTO_ICMP6, PROTO_ICMP};

	for (unsigned i = 0; i < RTE_DIM(protos); i++) {
		struct rte_mbuf *m =
			fake_ip(0, "10.0.1.10", "10.0.1.101", PROTO_ICMP, ICMP_UNREACHABLE, 0, 8);
		struct wire_info *wire = &pkt_of(m)->wire;
		wire->proto = protos[i];
		wire->flags = WIRE_FRAGMENT | WIRE_FRAGMENT_LATER;
		pass(0, m);
		CHECK_INT(flows(), 0);
	}
	sent_count = 0;
}

/* A SNAT address may be a listener's address too: that port's replies would go to another worker. */
static void test_snat_port_of_a_listener(void)
{
	unsigned opened = 0;

	for (unsigned i = 0; i < 2; i++) {
		uint16_t first, count;
		snat_block(SNAT_POOL, i, 2, &first, &count);
		listening = first;
		commit(snapshot());
		worker[i]->l4->port_cursor = 0;
		pass(i, tcp(0, "10.0.1.10", port_of("10.0.1.10", i, 1000), "10.0.1.100", 81,
				TCP_SYN));
		CHECK_INT(flows(), ++opened);
		CHECK_INT(wire_get16(sent[sent_count - 1].frame + sent[sent_count - 1].wire.l4),
			first + 1);
	}
	end_all();
}

/* Replies of a protocol without ports are found: no port of the member's is put into their key. */
static void test_protocol_without_ports(void)
{
	for (unsigned i = 0; i < 2; i++) {
		struct rte_mbuf *m = fake_ip(i, i ? "10.0.2.11" : "10.0.1.10",
			i ? "10.0.1.10" : "10.0.1.101", PROTO_UDP, 0, 0, 12);
		struct ip4_hdr *ip = pkt_l3(m);
		ip->proto = 47;
		ip->csum = 0;
		ip->csum = csum_of(ip, sizeof(*ip));
		CHECK_INT(wire_parse(rte_pktmbuf_mtod(m, uint8_t *), m->data_len, &pkt_of(m)->wire),
			WIRE_OK);
		pass(0, m);
		CHECK_INT(sent_count, i + 1);
		CHECK_INT(sent[i].port, !i);
		CHECK_INT(flows(), 1);
	}
	struct ip_addr src = wire_src(sent[1].frame, &sent[1].wire), virtual = addr("10.0.1.101");
	CHECK(ip_equal(&src, &virtual));
	end_all();
}

/* A full table makes room at the cost of who was never answered, and of its own family. */
static void test_eviction(void)
{
	const uint16_t seen = port_of("10.0.1.10", 0, 1);
	uint16_t port = seen;
	uint32_t limit = worker[0]->flow->limit[0];

	worker[0]->flow->limit[0] = 64;
	pass(0, fake_ip(0, "10.0.1.10", "10.0.2.11", PROTO_UDP, seen, 53, 1));
	pass(0, fake_ip(1, "10.0.2.11", "10.0.1.10", PROTO_UDP, 53, seen, 1));
	for (unsigned i = 0; i < 64 + 20; i++) {
		port = port_of("10.0.1.10", 0, port + 1);
		pass(0, fake_ip(0, "10.0.1.10", "10.0.2.11", PROTO_UDP, port, 53, 1));
		sent_count = 0;
	}
	CHECK_INT(flows(), 64);
	CHECK_INT(worker[0]->stat[WORKER_FLOWS_EVICTED], 21);
	CHECK(!l4_evict(worker[0], true));
	pass(0, fake_ip(1, "10.0.2.11", "10.0.1.10", PROTO_UDP, 53, seen, 1));
	CHECK_INT(flows(), 64);
	CHECK_INT(sent_count, 1);
	CHECK_INT(sent[0].port, 0);
	worker[0]->flow->limit[0] = limit;
	end_all();
}

/* Thousands of connections that stay do not hide the free ports behind theirs. */
static void test_long_row_of_ports_in_use(void)
{
	uint16_t port = 0;

	worker[0]->l4->port_cursor = 0;
	for (unsigned i = 0; i < 5000; i++) {
		port = port_of("10.0.1.10", 0, port + 1);
		pass(0, tcp(0, "10.0.1.10", port, "10.0.1.100", 81, TCP_SYN));
		sent_count = 0;
	}
	worker[0]->l4->port_cursor = 0;
	port = port_of("10.0.1.10", 0, port + 1);
	pass(0, tcp(0, "10.0.1.10", port, "10.0.1.100", 81, TCP_SYN));
	CHECK_INT(flows(), 5001);
	end_all();
}

/* --- connections that the member does not take ---------------------------------------------------- */

/* Failures that worker 0 tells of, by kind; how many events that took. */
static unsigned failures(unsigned count[CONNECT_FAILURES])
{
	static struct event_row row[EVENT_RING_ROWS];
	unsigned events = 0;
	uint64_t lost;

	memset(count, 0, CONNECT_FAILURES * sizeof(*count));
	unsigned n = event_ring_take(worker[0]->events, row, EVENT_RING_ROWS, &lost);
	for (unsigned i = 0; i < n; i++) {
		if (row[i].type != EVENT_CONNECT_FAILED)
			continue;
		CHECK_INT(row[i].object, ID_MEMBER);
		CHECK(row[i].kind < CONNECT_FAILURES && row[i].detail > 0);
		count[row[i].kind] += row[i].detail;
		events++;
	}
	return events;
}

static void expect_failures(unsigned refused, unsigned unreachable, unsigned silent)
{
	unsigned count[CONNECT_FAILURES];

	failures(count);
	CHECK_INT(count[CONNECT_REFUSED], refused);
	CHECK_INT(count[CONNECT_UNREACHABLE], unreachable);
	CHECK_INT(count[CONNECT_SILENT], silent);
}

/* Upkeep of worker 0 in steps of a tick. */
static void house(uint64_t from_ms, uint64_t to_ms)
{
	for (uint64_t t = from_ms; t <= to_ms; t += 10) {
		fake_clock(t);
		l4_house(worker[0]);
	}
}

static uint16_t connect_from(uint16_t port)
{
	port = port_of("10.0.1.10", 0, port);
	pass(0, tcp(0, "10.0.1.10", port, "10.0.1.100", 80, TCP_SYN));
	return port;
}

static void test_refused_connections(uint64_t now)
{
	unsigned count[CONNECT_FAILURES];
	uint16_t port = 1000;

	house(now, now + 1000);
	failures(count); /* of the tests before */
	for (unsigned i = 0; i < 50; i++) {
		port = connect_from(port + 1);
		pass(0, tcp(1, "10.0.2.11", server_port, "10.0.1.10", port, TCP_RST | TCP_ACK));
		sent_count = 0;
	}
	CHECK_INT(flows(), 0);
	expect_failures(1, 0, 0);
	house(now + 1010, now + 1200);
	CHECK_INT(failures(count), 1);
	CHECK_INT(count[CONNECT_REFUSED], 49);
	/* Its client goes away, or the connection is made first: nobody refused it. */
	port = connect_from(port + 1);
	pass(0, tcp(0, "10.0.1.10", port, "10.0.1.100", 80, TCP_RST));
	port = connect_from(port + 1);
	pass(0, tcp(1, "10.0.2.11", server_port, "10.0.1.10", port, TCP_SYN | TCP_ACK));
	pass(0, tcp(1, "10.0.2.11", server_port, "10.0.1.10", port, TCP_RST));
	house(now + 1210, now + 1500);
	expect_failures(0, 0, 0);
	end_all();
}

static struct rte_mbuf *unreachable(uint16_t port)
{
	struct rte_mbuf *syn = tcp(0, "10.0.1.10", port, "10.0.2.11", server_port, TCP_SYN);
	struct rte_mbuf *m = icmp_error(1, "10.0.2.254", "10.0.1.10", syn);

	rte_pktmbuf_free(syn);
	return m;
}

/* Also of a connection that took the place of one with the same port. */
static void test_unreachable_again(uint64_t now)
{
	uint16_t port;

	house(now, now + 1000);
	port = connect_from(1000);
	for (uint32_t i = 0; i < worker[0]->flow->high; i++)
		if (worker[0]->flow->flows[i].flags & FLOW_USED)
			worker[0]->flow->flows[i].state = FLOW_CLOSING;
	CHECK_INT(connect_from(port), port);
	CHECK_INT(flows(), 1);
	pass(0, unreachable(port));
	expect_failures(0, 1, 0);
	end_all();
}

static void test_unreachable_server(uint64_t now)
{
	uint16_t port;

	house(now, now + 1000);
	port = connect_from(1000);
	struct rte_mbuf *syn = tcp(0, "10.0.1.10", port, "10.0.2.11", server_port, TCP_SYN);
	pass(0, icmp_error(1, "10.0.2.254", "10.0.1.10", syn));
	pass(0, icmp_error(1, "10.0.2.254", "10.0.1.10", syn));
	/* Whoever does not know the SYN's number has not seen it. */
	uint16_t other = connect_from(port + 1);
	((struct tcp_hdr *)pkt_l4(syn))->src = htons(other);
	((struct tcp_hdr *)pkt_l4(syn))->seq = htonl(77);
	pass(0, icmp_error(1, "10.0.2.254", "10.0.1.10", syn));
	rte_pktmbuf_free(syn);
	CHECK_INT(worker[0]->stat[WORKER_ICMP_TRANSLATED], 1 + 3);
	house(now + 1010, now + 1200);
	expect_failures(0, 1, 0);
	end_all();
}

/* Told when the response time is over, once, whatever becomes of the connection. */
static void test_silent_server(uint64_t now)
{
	uint16_t port;

	house(now, now + 1000);
	port = connect_from(1000);
	house(now + 1010, now + 3000);
	expect_failures(0, 0, 0);
	pass(0, tcp(0, "10.0.1.10", port, "10.0.1.100", 80, TCP_SYN));
	house(now + 3010, now + 6000);
	expect_failures(0, 0, 1);
	CHECK_INT(flows(), 1);
	house(now + 6010, now + 9500);
	CHECK_INT(flows(), 0);
	expect_failures(0, 0, 0);
	sent_count = 0;
}

static unsigned scan_down(enum scan_action action)
{
	struct flow_filter filter = {.member_id = ID_MEMBER, .down = 1};
	uint32_t place = 0;

	return l4_scan(worker[0], action, &filter, &place, UINT32_MAX, NULL, UINT32_MAX);
}

/* A member that may have connections keeps them, whatever was asked when it was down. */
static void test_scan_of_a_member_that_is_down(void)
{
	struct counter_shared *line = worker_shared(worker[0], ID_MEMBER);

	connect_from(connect_from(1000) + 1);
	CHECK_INT(scan_down(SCAN_DELETE), 0);
	line->avail = LIVE_PERSISTED;
	CHECK_INT(scan_down(SCAN_DELETE), 0);
	line->avail = 0;
	CHECK_INT(scan_down(SCAN_COUNT), 2);
	CHECK_INT(scan_down(SCAN_DELETE), 2);
	CHECK_INT(flows(), 0);
	line->avail = LIVE_BITS;
	end_all();
}

static void set_avail(uint32_t id, uint8_t avail)
{
	struct live_row row = {.id = id, .live = {.ratio = 1, .avail = avail}};

	CHECK(live_apply(worker[0]->counters, &row, 1) != LIVE_UNKNOWN);
	CHECK(lb_touch(view.lb, id));
	lb_garbage_free(lb_refresh(view.lb, 1));
}

/* The router that the packet just sent went to. */
static unsigned router_of_packet(void)
{
	bool second = memcmp(sent[sent_count - 1].frame, mac_other, 6) == 0;

	CHECK(second || memcmp(sent[sent_count - 1].frame, mac_peer, 6) == 0);
	CHECK_INT(sent[sent_count - 1].port, 1);
	return second;
}

/* A connection through a router that is gone goes on through another; through none it waits. */
static void test_reselect(void)
{
	uint16_t port = port_of("10.0.1.10", 0, 1000);
	struct flow_filter filter = {.down = 1};
	uint32_t place = 0;

	pass(0, tcp(0, "10.0.1.10", port, "10.0.1.100", 82, TCP_SYN));
	CHECK_INT(flows(), 1);
	unsigned first = router_of_packet();
	filter.member_id = ID_ROUTER + first;
	set_avail(ID_ROUTER + first, 0);
	CHECK_INT(l4_scan(worker[0], SCAN_RESELECT, &filter, &place, UINT32_MAX, NULL, UINT32_MAX),
		1);
	CHECK_INT(worker_shared(worker[0], ID_ROUTER + first)->current, 0);
	CHECK_INT(worker_shared(worker[0], ID_ROUTER + !first)->current, 1);
	pass(0, tcp(0, "10.0.1.10", port, "10.0.1.100", 82, TCP_ACK));
	CHECK_INT(router_of_packet(), !first);
	CHECK_INT(flows(), 1);
	filter.member_id = ID_ROUTER + !first;
	set_avail(ID_ROUTER + !first, 0);
	place = 0;
	CHECK_INT(l4_scan(worker[0], SCAN_RESELECT, &filter, &place, UINT32_MAX, NULL, UINT32_MAX),
		1);
	pass(0, tcp(0, "10.0.1.10", port, "10.0.1.100", 82, TCP_ACK));
	CHECK_INT(router_of_packet(), !first);
	for (unsigned i = 0; i < 2; i++)
		set_avail(ID_ROUTER + i, LIVE_BITS);
	end_all();
}

/* Silenced: no packet passes, no reset, its counts are given back. */
static void test_silence(void)
{
	uint16_t port = connect_from(1000);
	struct flow_filter filter = {.member_id = ID_MEMBER};
	uint32_t place = 0;

	sent_count = 0;
	CHECK_INT(l4_scan(worker[0], SCAN_DROP, &filter, &place, UINT32_MAX, NULL, UINT32_MAX), 1);
	CHECK_INT(worker_shared(worker[0], ID_MEMBER)->current, 0);
	uint64_t dropped = worker[0]->drop[DROP_MEMBER_DOWN];
	pass(0, tcp(0, "10.0.1.10", port, "10.0.1.100", 80, TCP_ACK));
	pass(0, tcp(1, "10.0.2.11", server_port, "10.0.1.10", port, TCP_SYN | TCP_ACK));
	CHECK_INT(sent_count, 0);
	CHECK_INT(worker[0]->drop[DROP_MEMBER_DOWN], dropped + 2);
	CHECK_INT(flows(), 1);
	end_all();
}

int main(void)
{
	const struct l4_config config = {8192, 64};

	fake_start();
	for (unsigned i = 0; i < 2; i++)
		CHECK_INT(l4_worker_init(worker[i], &config), 0);
	server_port = port_of("10.0.2.11", 1, 80);
	commit(snapshot());
	l4_house(worker[0]);
	fake_settle();
	neighbours_ready();
	test_burst_after_an_end();
	test_error_for_the_second_owner();
	test_stale_vlan();
	test_fragments_open_no_odd_flows();
	test_snat_port_of_a_listener();
	test_protocol_without_ports();
	test_eviction();
	test_long_row_of_ports_in_use();
	test_scan_of_a_member_that_is_down();
	test_reselect();
	test_silence();
	test_refused_connections(20000);
	test_unreachable_server(30000);
	test_silent_server(40000);
	test_unreachable_again(60000);
	for (unsigned i = 0; i < 2; i++)
		l4_worker_fini(worker[i]);
	listener_table_free(view.listeners);
	snat_table_free(view.snat);
	lb_table_free(view.lb);
	fake_stop();
	return 0;
}
