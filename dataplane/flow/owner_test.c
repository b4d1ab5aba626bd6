/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow/owner.h"

#include "api/test_snapshot.h"
#include "flow/listener.h"

static struct snap_header *snapshot(void)
{
	const uint32_t counts[SNAP_KINDS] = {[SNAP_SETTINGS] = 1,
		[SNAP_VLAN] = 1,
		[SNAP_SELF] = 1,
		[SNAP_VADDR] = 1,
		[SNAP_VIRTUAL] = 1,
		[SNAP_PROFILE] = 1,
		[SNAP_SNATPOOL] = 1,
		[SNAP_SNAT_ADDR] = 1};
	struct snap_header *h = test_snapshot_new(counts);

	*TEST_ROW(h, SNAP_VLAN, struct snap_vlan, 0) =
		(struct snap_vlan){.id = 1, .tag = 10, .mtu = 1500, .tap = "a"};
	*TEST_ROW(h, SNAP_SELF, struct snap_self, 0) =
		(struct snap_self){.id = 2, .addr = test_addr("10.0.0.1"), .prefix = 24};
	*TEST_ROW(h, SNAP_PROFILE, struct snap_profile, 0) = (struct snap_profile){.id = 3};
	*TEST_ROW(h, SNAP_VADDR, struct snap_vaddr, 0) = (struct snap_vaddr){
		.id = 4, .addr = test_addr("10.0.0.80"), .prefix = 32, .enabled = 1};
	*TEST_ROW(h, SNAP_VIRTUAL, struct snap_virtual, 0) = (struct snap_virtual){.id = 5,
		.pool = SNAP_NIL,
		.snatpool = SNAP_NIL,
		.source = test_addr("0.0.0.0"),
		.proto = 6,
		.port = 80,
		.live = test_live};
	*TEST_ROW(h, SNAP_SNATPOOL, struct snap_snatpool, 0) =
		(struct snap_snatpool){.id = 6, .addrs = 1};
	*TEST_ROW(h, SNAP_SNAT_ADDR, struct snap_snat_addr, 0) =
		(struct snap_snat_addr){.id = 7, .addr = test_addr("10.0.0.90")};
	test_snapshot_seal(h);
	return h;
}

static struct owner owner(const struct view *v, unsigned workers, const char *src,
	uint16_t src_port, const char *dst, uint16_t dst_port)
{
	struct owner_packet p = {test_addr(src), test_addr(dst), src_port, dst_port, 6};

	return flow_owner(v, &p, workers);
}

/* Both directions of a flow must name one worker, for every client port and number of workers. */
static void test_both_ways(const struct view *v, unsigned workers)
{
	unsigned seen = 0;

	for (unsigned port = 1; port < 65536; port += 7) {
		struct owner to = owner(v, workers, "1.2.3.4", (uint16_t)port, "10.0.0.80", 80);
		struct owner from = owner(v, workers, "10.0.1.1", 80, "1.2.3.4", (uint16_t)port);
		CHECK_INT(to.first, to.second);
		CHECK_INT(from.first, to.first);
		CHECK(to.first < workers);
		seen |= 1u << to.first;
		/* A wildcard virtual server: the opener is found second from the client, first from behind. */
		struct owner wild = owner(v, workers, "1.2.3.4", (uint16_t)port, "8.8.8.8", 443);
		struct owner back = owner(v, workers, "8.8.8.8", 443, "1.2.3.4", (uint16_t)port);
		CHECK_INT(wild.second, back.first);
	}
	CHECK_INT(seen, (1u << workers) - 1);
}

static void test_translated_ports(const struct view *v, unsigned workers)
{
	static const struct {
		const char *addr;
		enum snat_kind kind;
	} cases[] = {{"10.0.0.1", SNAT_AUTOMAP}, {"10.0.0.90", SNAT_POOL}};

	for (unsigned c = 0; c < 2; c++)
		for (unsigned i = 0; i < workers; i++) {
			uint16_t first, count;
			struct ip_addr a = test_addr(cases[c].addr);
			unsigned who = 99;
			snat_block(cases[c].kind, i, workers, &first, &count);
			CHECK(first >= SNAT_PORT_FIRST && first + count - 1 <= (c ? 65535 : 49151));
			CHECK_INT(snat_owner(v->snat, &a, first, &who), cases[c].kind);
			CHECK_INT(who, i);
			CHECK_INT(snat_owner(v->snat, &a, first + count - 1, &who), cases[c].kind);
			CHECK_INT(who, i);
			CHECK_INT(owner(v, workers, "10.0.1.1", 80, cases[c].addr, first).first, i);
		}
}

static void test_not_translated(const struct view *v)
{
	struct ip_addr self = test_addr("10.0.0.1"), pool = test_addr("10.0.0.90"),
		       other = test_addr("10.0.0.2");
	unsigned who;

	CHECK_INT(snat_owner(v->snat, &self, 1023, &who), SNAT_NOT);
	CHECK_INT(snat_owner(v->snat, &self, 49152, &who), SNAT_NOT);
	CHECK_INT(snat_owner(v->snat, &pool, 1023, &who), SNAT_NOT);
	CHECK_INT(snat_owner(v->snat, &other, 5000, &who), SNAT_NOT);
}

int main(void)
{
	struct snap_header *h = snapshot();

	for (unsigned workers = 1; workers <= 16; workers++) {
		struct view v = {.snap = h,
			.listeners = listener_table_new(h),
			.snat = snat_table_new(h, workers)};
		CHECK(v.listeners && v.snat);
		test_both_ways(&v, workers);
		test_translated_ports(&v, workers);
		test_not_translated(&v);
		listener_table_free(v.listeners);
		snat_table_free(v.snat);
	}
	free(h);
	return 0;
}
