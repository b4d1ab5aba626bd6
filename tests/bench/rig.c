/* SPDX-License-Identifier: BSD-3-Clause */
#include "rig.h"

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_malloc.h>

#include "base/clock.h"
#include "core/event.h"
#include "core/handover.h"
#include "core/heap.h"
#include "core/mbuf.h"
#include "flow/flow.h"
#include "flow/listener.h"
#include "flow/snat.h"
#include "lb/lb.h"
#include "lb/live.h"
#include "net/net.h"
#include "port/port.h"
#include "port/tap.h"
#include "wire/csum.h"
#include "wire/headers.h"

#define PAYLOAD 6u /* frames of 60 bytes */

struct rig rig;

static const uint8_t router_mac[6] = {2, 0, 0, 0, 0, 1};
static struct port ports[2] = {
	{.name = "1.1", .mac = {2, 0, 0, 0, 1, 1}, .mtu_max = 1500},
	{.name = "1.2", .mac = {2, 0, 0, 0, 1, 2}, .mtu_max = 1500},
};

/* --- ports of memory ------------------------------------------------------------------------------ */

unsigned port_count(void)
{
	return 2;
}

const struct port *port_at(unsigned index)
{
	return &ports[index];
}

uint8_t port_by_name(const char *name)
{
	for (uint8_t i = 0; i < 2; i++)
		if (!strcmp(ports[i].name, name))
			return i;
	return PORT_NONE;
}

unsigned port_receive(struct worker *w, struct rte_mbuf **out)
{
	unsigned n = RTE_MIN(rig.in_count - rig.in_next, (unsigned)PKT_BURST);

	for (unsigned i = 0; i < n; i++) {
		out[i] = rig.in[rig.in_next + i];
		pkt_of(out[i])->port = rig.in_port[rig.in_next + i];
		pkt_of(out[i])->stage = PKT_DISPATCH;
	}
	rig.in_next += n;
	w->stat[WORKER_RX_PACKETS] += n;
	return n;
}

void port_send(struct worker *w, struct rte_mbuf *m, uint8_t port)
{
	const struct eth_hdr *eth = rte_pktmbuf_mtod(m, const struct eth_hdr *);

	pkt_of(m)->port = port;
	/* The worker's own announcements and solicitations are not looked at. */
	if (eth->type != htons(ETH_TYPE_IP4)) {
		rte_pktmbuf_free(m);
		return;
	}
	CHECK(rig.out_count < 4 * RIG_BATCH);
	rig.out[rig.out_count++] = m;
}

void port_flush(struct worker *w)
{
	rig.out_total += rig.out_count;
}

void tap_send(struct worker *w, struct rte_mbuf *m, uint16_t vlan)
{
	rte_pktmbuf_free(m);
}

unsigned tap_receive(struct worker *w, struct rte_mbuf **out, unsigned max)
{
	return 0;
}

/* --- the worker ----------------------------------------------------------------------------------- */

uint32_t rig_server(uint32_t member)
{
	return htonl(0x0a020001u + member);
}

void rig_client(uint32_t flow, uint32_t *addr, uint16_t *port)
{
	/* Many clients, several connections each. */
	*addr = htonl(0x0b000000u + flow / 4);
	*port = htons((uint16_t)(1024 + flow % 4 * 9973));
}

static void snapshot_fill(struct snap_header *h, uint32_t members, enum snap_lb lb)
{
	const char *names[2] = {"1.1", "1.2"}, *selfs[2] = {"10.1.0.254", "10.2.0.254"};

	for (uint32_t i = 0; i < 2; i++) {
		struct snap_interface *f = TEST_ROW(h, SNAP_INTERFACE, struct snap_interface, i);
		*f = (struct snap_interface){.id = 1 + i, .enabled = 1};
		strcpy(f->name, names[i]);
		*TEST_ROW(h, SNAP_VLAN, struct snap_vlan, i) = (struct snap_vlan){.id = 3 + i,
			.tag = (uint16_t)(10 + i),
			.mtu = 1500,
			.first_member = i,
			.members = 1,
			.tap = {'v', (char)('0' + i)}};
		*TEST_ROW(h, SNAP_VLAN_MEMBER, struct snap_vlan_member, i) =
			(struct snap_vlan_member){.interface = i};
		*TEST_ROW(h, SNAP_SELF, struct snap_self, i) = (struct snap_self){
			.id = 5 + i, .vlan = i, .addr = test_addr(selfs[i]), .prefix = 16};
	}
	*TEST_ROW(h, SNAP_ROUTE, struct snap_route, 0) = (struct snap_route){.id = 7,
		.vlan = SNAP_NIL,
		.network = test_addr("0.0.0.0"),
		.gateway = test_addr("10.1.0.1")};
	*TEST_ROW(h, SNAP_POOL, struct snap_pool, 0) =
		(struct snap_pool){.id = 8, .lb = lb, .members = members};
	for (uint32_t i = 0; i < RIG_MEMBERS; i++)
		*TEST_ROW(h, SNAP_NODE, struct snap_node, i) = (struct snap_node){
			.id = 20 + i, .addr = ip_addr_v4(rig_server(i)), .live = test_live};
	for (uint32_t i = 0; i < members; i++)
		*TEST_ROW(h, SNAP_MEMBER, struct snap_member, i) = (struct snap_member){
			.id = 40 + i, .node = i, .port = 8080, .live = test_live};
	*TEST_ROW(h, SNAP_PROFILE, struct snap_profile, 0) = (struct snap_profile){
		.id = 9, .idle_timeout = 86400, .handshake_timeout = 86400, .close_timeout = 5};
	*TEST_ROW(h, SNAP_VADDR, struct snap_vaddr, 0) = (struct snap_vaddr){.id = 10,
		.addr = test_addr("10.1.0.80"),
		.prefix = 32,
		.arp = 1,
		.icmp_echo = 1,
		.enabled = 1};
	*TEST_ROW(h, SNAP_VIRTUAL, struct snap_virtual, 0) = (struct snap_virtual){.id = 11,
		.snatpool = SNAP_NIL,
		.source = test_addr("0.0.0.0"),
		.proto = IPPROTO_TCP,
		.port = RIG_VIRTUAL_PORT,
		.translate_address = 1,
		.translate_port = 1,
		.auto_lasthop = SNAP_ENABLED,
		.live = test_live};
}

void rig_commit(uint32_t members, enum snap_lb lb)
{
	const uint32_t counts[SNAP_KINDS] = {[SNAP_SETTINGS] = 1,
		[SNAP_INTERFACE] = 2,
		[SNAP_VLAN] = 2,
		[SNAP_VLAN_MEMBER] = 2,
		[SNAP_SELF] = 2,
		[SNAP_ROUTE] = 1,
		[SNAP_NODE] = RIG_MEMBERS,
		[SNAP_POOL] = 1,
		[SNAP_MEMBER] = members,
		[SNAP_VADDR] = 1,
		[SNAP_VIRTUAL] = 1,
		[SNAP_PROFILE] = 1};
	struct view old = rig.view;
	struct snap_header *snap = test_snapshot_new(counts);

	snapshot_fill(snap, members, lb);
	snap->generation = ++rig.generation;
	test_snapshot_seal(snap);
	rig.view = (struct view){.snap = snap,
		.length = snap->length,
		.net = net_tables_new(snap, old.net, clock_ns()),
		.listeners = listener_table_new(snap),
		.snat = snat_table_new(snap, 1)};
	live_sync(snap, &rig.counters);
	rig.view.lb = lb_table_new(snap, &rig.counters, (uint32_t)(clock_ns() / 1000000000u));
	CHECK(rig.view.net && rig.view.listeners && rig.view.snat && rig.view.lb);
	net_tables_free(old.net);
	listener_table_free(old.listeners);
	snat_table_free(old.snat);
	lb_table_free(old.lb);
	free((void *)(uintptr_t)old.snap);
}

static void eal_init(uint32_t flows, bool hugepages)
{
	char memory[16], prefix[48];
	unsigned megabytes = 128 + (unsigned)((uint64_t)flow_slots(flows) * 60 >> 20);

	snprintf(memory, sizeof(memory), "%u", megabytes);
	snprintf(prefix, sizeof(prefix), "weir-bench-%d", (int)getpid());
	char *argv[] = {"bench", "--no-shconf", "--no-pci", "--no-telemetry", "--lcores=0@0",
		"--log-level=lib.*:error", "-m", memory, "--file-prefix", prefix,
		hugepages ? "--huge-unlink" : "--no-huge", NULL};
	CHECK(rte_eal_init((int)(sizeof(argv) / sizeof(argv[0])) - 1, argv) >= 0);
	CHECK(hugepages || heap_use_huge_pages() > 0);
}

void rig_init(uint32_t flows, bool hugepages)
{
	eal_init(flows, hugepages);
	struct worker *w = rte_zmalloc(NULL, sizeof(*w), 64);
	CHECK(w != NULL && counters_create(1, 4096, &rig.counters) >= 0);
	w->count = 1;
	w->counters = &rig.counters;
	w->stat = counters_worker(&rig.counters, 0);
	w->drop = counters_drop(&rig.counters, 0);
	w->pool = mbuf_pool_new("bench", 16383, 1600);
	w->events = event_ring_new(0);
	w->now = 1;
	rig.start = clock_ns();
	CHECK(w->pool && w->events && net_worker_init(w, 65536) == 0);
	struct l4_config config = {.flows = flows, .flows6 = 64};
	CHECK(l4_worker_init(w, &config) == 0);
	rig.w = w;
	rig_commit(RIG_MEMBERS, SNAP_LB_RATIO_MEMBER);
}

/* --- packets -------------------------------------------------------------------------------------- */

static void segment(uint8_t port, const uint8_t src_mac[6], uint32_t src, uint32_t dst,
	uint16_t src_port, uint16_t dst_port, uint8_t flags, uint32_t seq, uint32_t ack)
{
	const unsigned length =
		sizeof(struct eth_hdr) + sizeof(struct ip4_hdr) + sizeof(struct tcp_hdr) + PAYLOAD;
	struct rte_mbuf *m = mbuf_new(rig.w->pool);
	struct wire_info info;

	CHECK(m != NULL && rig.in_count < RIG_BATCH);
	uint8_t *p = mbuf_append(m, length);
	struct eth_hdr *eth = (void *)p;
	struct ip4_hdr *ip = (void *)(eth + 1);
	struct tcp_hdr *tcp = (void *)(ip + 1);

	CHECK(p != NULL);
	memset(p, 0, length);
	memcpy(eth->dst, ports[port].mac, 6);
	memcpy(eth->src, src_mac, 6);
	eth->type = htons(ETH_TYPE_IP4);
	*ip = (struct ip4_hdr){.version_ihl = 0x45,
		.length = htons(length - sizeof(*eth)),
		.ttl = 64,
		.proto = IPPROTO_TCP,
		.src = src,
		.dst = dst,
		.fragment = htons(IP4_DF)};
	*tcp = (struct tcp_hdr){.src = src_port,
		.dst = dst_port,
		.seq = htonl(seq),
		.ack = htonl(ack),
		.offset = 0x50,
		.flags = flags,
		.window = htons(1000)};
	ip->csum = csum_of(ip, sizeof(*ip));
	CHECK(wire_parse(p, length, &info) == WIRE_OK);
	csum_l4_write(p, &info);
	rig.in_port[rig.in_count] = port;
	rig.in[rig.in_count++] = m;
}

static const uint8_t *server_mac(uint32_t member)
{
	static uint8_t mac[6] = {2, 0, 0, 0, 2, 0};

	mac[5] = (uint8_t)member;
	return mac;
}

void rig_client_segment(uint32_t flow, uint8_t flags, uint32_t seq, uint32_t ack)
{
	uint32_t addr;
	uint16_t port;

	rig_client(flow, &addr, &port);
	segment(0, router_mac, addr, htonl(0x0a010050), port, htons(RIG_VIRTUAL_PORT), flags, seq,
		ack);
}

void rig_server_segment(uint32_t flow, uint32_t member, uint8_t flags, uint32_t seq, uint32_t ack)
{
	uint32_t addr;
	uint16_t port;

	rig_client(flow, &addr, &port);
	segment(1, server_mac(member), rig_server(member), addr, htons(8080), port, flags, seq,
		ack);
}

static void turn(struct worker *w)
{
	struct rte_mbuf *in[PKT_BURST], *out[2 * PKT_BURST];
	unsigned n = port_receive(w, in);

	n = net_input(w, in, n, out);
	l4_input(w, out, n);
	port_flush(w);
	net_house(w);
	l4_house(w);
}

static void turn_floor(struct worker *w)
{
	struct rte_mbuf *in[PKT_BURST];
	unsigned n = port_receive(w, in);

	for (unsigned i = 0; i < n; i++)
		port_send(w, in[i], !pkt_of(in[i])->port);
	port_flush(w);
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint64_t run(void (*one)(struct worker *w))
{
	uint64_t start = cpu_ns();

	rig.w->view = &rig.view;
	while (rig.in_next < rig.in_count) {
		rig.w->now_ns = clock_ns();
		one(rig.w);
	}
	rig.in_next = rig.in_count = 0;
	return cpu_ns() - start;
}

uint64_t rig_run(void)
{
	rig.w->now = 1 + (uint32_t)((clock_ns() - rig.start) / (1000000000u / TICKS_PER_SECOND));
	return run(turn);
}

uint64_t rig_run_floor(void)
{
	return run(turn_floor);
}

void rig_clear(void)
{
	rte_pktmbuf_free_bulk(rig.out, rig.out_count);
	rig.out_count = 0;
}

/* Answers the solicitations of the servers' addresses, so that their next hops are known. */
static void answer_arp(void)
{
	for (uint32_t member = 0; member < RIG_MEMBERS; member++) {
		struct rte_mbuf *m = mbuf_new(rig.w->pool);
		uint8_t *p = mbuf_append(m, 60);
		struct eth_hdr *eth = (void *)p;
		struct arp_hdr *arp = (void *)(eth + 1);
		CHECK(p != NULL);
		memset(p, 0, 60);
		memcpy(eth->dst, ports[1].mac, 6);
		memcpy(eth->src, server_mac(member), 6);
		eth->type = htons(ETH_TYPE_ARP);
		*arp = (struct arp_hdr){.hardware = htons(1),
			.protocol = htons(ETH_TYPE_IP4),
			.hardware_length = 6,
			.protocol_length = 4,
			.op = htons(ARP_REPLY),
			.sender = rig_server(member),
			.target = htonl(0x0a0200fe)};
		memcpy(arp->sender_mac, server_mac(member), 6);
		memcpy(arp->target_mac, ports[1].mac, 6);
		rig.in_port[rig.in_count] = 1;
		rig.in[rig.in_count++] = m;
	}
	rig_run();
	rig_clear();
}

/* Says why packets are missing. */
static void drops_print(uint32_t flow)
{
	for (unsigned i = 0; i < DROP_REASONS; i++)
		if (rig.w->drop[i] != 0)
			fprintf(stderr, "flow %u: %s %llu\n", flow, drop_reason_name[i],
				(unsigned long long)rig.w->drop[i]);
}

static void establish_batch(uint32_t first, uint32_t n, uint8_t *member)
{
	for (uint32_t i = 0; i < n; i++)
		rig_client_segment(first + i, TCP_SYN, 100, 0);
	rig_run();
	if (rig.out_count != n)
		drops_print(first);
	CHECK_INT(rig.out_count, n);
	for (uint32_t i = 0; i < n; i++)
		member[i] = (uint8_t)rig_verify(i, true, first + i);
	rig_clear();
	for (uint32_t i = 0; i < n; i++)
		rig_server_segment(first + i, member[i], TCP_SYN | TCP_ACK, 500, 101 + PAYLOAD);
	rig_run();
	rig_clear();
	for (uint32_t i = 0; i < n; i++)
		rig_client_segment(first + i, TCP_ACK, 101 + PAYLOAD, 501);
	rig_run();
	rig_clear();
}

void rig_establish(uint32_t first, uint32_t n, uint8_t *member)
{
	static bool resolved;

	if (!resolved) {
		/* The first connections make the worker ask for the servers. */
		for (uint32_t i = 0; i < RIG_MEMBERS; i++)
			rig_client_segment(UINT32_MAX / 2 + i, TCP_SYN, 100, 0);
		rig_run();
		rig_clear();
		answer_arp();
		resolved = true;
	}
	for (uint32_t i = 0; i < n; i += RIG_BATCH)
		establish_batch(first + i, RTE_MIN(n - i, RIG_BATCH), member + i);
}

uint32_t rig_verify(unsigned out, bool from_client, uint32_t flow)
{
	struct rte_mbuf *m = rig.out[out];
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
	const struct eth_hdr *eth = (const void *)p;
	const struct ip4_hdr *ip = (const void *)(eth + 1);
	const struct tcp_hdr *tcp = (const void *)(ip + 1);
	struct wire_info info;
	uint32_t addr, member;
	uint16_t port;

	rig_client(flow, &addr, &port);
	CHECK(wire_parse(p, rte_pktmbuf_pkt_len(m), &info) == WIRE_OK && csum_l4_right(p, &info));
	CHECK_INT(ip->ttl, 63);
	CHECK_INT(pkt_of(m)->port, from_client);
	CHECK(!memcmp(eth->src, ports[from_client].mac, 6));
	if (!from_client) {
		CHECK(ip->src == htonl(0x0a010050) && tcp->src == htons(RIG_VIRTUAL_PORT));
		CHECK(ip->dst == addr && tcp->dst == port && !memcmp(eth->dst, router_mac, 6));
		return SNAP_NIL;
	}
	CHECK(ip->src == addr && tcp->src == port && tcp->dst == htons(8080));
	member = ntohl(ip->dst) - 0x0a020001u;
	CHECK(member < RIG_MEMBERS && !memcmp(eth->dst, server_mac(member), 6));
	return member;
}

uint32_t rig_random(void)
{
	static uint64_t x = 0x9e3779b97f4a7c15ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (uint32_t)(x >> 32);
}

long rig_switches(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_nivcsw;
}

uint32_t rig_places(uint32_t flows)
{
	return (uint32_t)((uint64_t)(flow_slots(flows) + 1) * 3 / 8);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

double rig_median(double *values, unsigned n)
{
	qsort(values, n, sizeof(*values), by_value);
	return values[n / 2];
}

static int run_apart(uint32_t flows, bool hugepages, void (*bench)(uint32_t flows, bool hugepages))
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		bench(flows, hugepages);
		fflush(stdout);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int rig_main(
	int argc, char **argv, const char *defaults, void (*bench)(uint32_t flows, bool hugepages))
{
	bool hugepages = argc > 1 && !strcmp(argv[1], "--hugepages");
	char *list = strdup(defaults), *state = NULL;
	int first = hugepages ? 2 : 1, failed = 0;

	CHECK(list != NULL);
	for (int i = first; i < argc; i++)
		failed |= run_apart((uint32_t)strtoul(argv[i], NULL, 10), hugepages, bench);
	if (first >= argc)
		for (char *s = strtok_r(list, " ", &state); s; s = strtok_r(NULL, " ", &state))
			failed |= run_apart((uint32_t)strtoul(s, NULL, 10), hugepages, bench);
	free(list);
	return failed;
}
