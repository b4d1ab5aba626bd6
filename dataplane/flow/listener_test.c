/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow/listener.h"

#include "api/test_snapshot.h"

/* One virtual server a line; the id is 100 + its place. */
struct want {
	const char *addr, *source;
	uint8_t prefix, source_prefix, proto;
	uint16_t port;
	uint8_t vlans;
};

static const struct want wants[] = {
	{"10.0.0.1", "0.0.0.0", 32, 0, 6, 80, SNAP_VLANS_ALL},	    /* 0 */
	{"10.0.0.1", "192.168.0.0", 32, 16, 6, 80, SNAP_VLANS_ALL}, /* 1: longer source */
	{"10.0.0.1", "0.0.0.0", 32, 0, 6, 0, SNAP_VLANS_ALL},	    /* 2: any port */
	{"10.0.0.0", "0.0.0.0", 24, 0, 6, 80, SNAP_VLANS_ALL},	    /* 3: network */
	{"10.0.0.2", "0.0.0.0", 32, 0, 6, 80, SNAP_VLANS_ONLY},	    /* 4: VLAN 0 only */
	{"0.0.0.0", "0.0.0.0", 0, 0, 0, 0, SNAP_VLANS_ALL},	    /* 5: everything of IPv4 */
	{"2001:db8::1", "::", 128, 0, 17, 53, SNAP_VLANS_ALL},	    /* 6 */
	{"10.0.0.3", "0.0.0.0", 32, 0, 6, 80, SNAP_VLANS_EXCEPT},   /* 7: not on VLAN 0 */
};

enum { N = sizeof(wants) / sizeof(wants[0]) };

static struct snap_header *snapshot(void)
{
	const uint32_t counts[SNAP_KINDS] = {[SNAP_SETTINGS] = 1,
		[SNAP_VLAN] = 2,
		[SNAP_VADDR] = N,
		[SNAP_VIRTUAL] = N,
		[SNAP_VLAN_REF] = 2,
		[SNAP_PROFILE] = 1};
	struct snap_header *h = test_snapshot_new(counts);
	uint32_t refs = 0;

	for (uint32_t i = 0; i < 2; i++)
		*TEST_ROW(h, SNAP_VLAN, struct snap_vlan, i) = (struct snap_vlan){.id = 1 + i,
			.tag = (uint16_t)(10 + i),
			.mtu = 1500,
			.tap = {(char)('a' + i)}};
	*TEST_ROW(h, SNAP_PROFILE, struct snap_profile, 0) = (struct snap_profile){
		.id = 3, .idle_timeout = 300, .handshake_timeout = 5, .close_timeout = 5};
	for (uint32_t i = 0; i < N; i++) {
		bool listed = wants[i].vlans != SNAP_VLANS_ALL;
		*TEST_ROW(h, SNAP_VADDR, struct snap_vaddr, i) = (struct snap_vaddr){.id = 50 + i,
			.addr = test_addr(wants[i].addr),
			.prefix = wants[i].prefix,
			.enabled = 1};
		*TEST_ROW(h, SNAP_VIRTUAL, struct snap_virtual, i) =
			(struct snap_virtual){.id = 100 + i,
				.vaddr = i,
				.pool = SNAP_NIL,
				.snatpool = SNAP_NIL,
				.source = test_addr(wants[i].source),
				.source_prefix = wants[i].source_prefix,
				.proto = wants[i].proto,
				.port = wants[i].port,
				.vlans = wants[i].vlans,
				.first_vlan = refs,
				.vlan_count = listed,
				.live = test_live};
		refs += listed;
	}
	test_snapshot_seal(h);
	return h;
}

static void expect(const struct listener_table *t, const char *src, const char *dst, uint8_t proto,
	uint16_t port, uint32_t vlan, uint32_t row)
{
	struct listener_key key = {test_addr(dst), test_addr(src), port, proto, vlan};

	CHECK_INT(listener_match(t, &key), row);
}

int main(void)
{
	struct snap_header *h = snapshot();
	struct listener_table *t = listener_table_new(h);
	struct ip_addr one = test_addr("10.0.0.1"), four = test_addr("10.0.0.4");

	CHECK(t != NULL);
	expect(t, "1.2.3.4", "10.0.0.1", 6, 80, 0, 0);
	expect(t, "192.168.3.4", "10.0.0.1", 6, 80, 0, 1);
	expect(t, "1.2.3.4", "10.0.0.1", 6, 81, 0, 2);
	expect(t, "1.2.3.4", "10.0.0.4", 6, 80, 0, 3);
	expect(t, "1.2.3.4", "10.0.0.2", 6, 80, 0, 4);
	expect(t, "1.2.3.4", "10.0.0.2", 6, 80, 1, 3);
	expect(t, "1.2.3.4", "10.0.0.3", 6, 80, 0, 3);
	expect(t, "1.2.3.4", "10.0.0.3", 6, 80, 1, 7);
	expect(t, "1.2.3.4", "10.0.0.1", 17, 80, 0, 5);
	expect(t, "1.2.3.4", "8.8.8.8", 1, 0, 0, 5);
	expect(t, "2001:db8::9", "2001:db8::1", 17, 53, 0, 6);
	expect(t, "2001:db8::9", "2001:db8::1", 6, 53, 0, SNAP_NIL);
	CHECK(listener_is_host(t, &one, 80, 6) && listener_is_host(t, &one, 4711, 6));
	CHECK(!listener_is_host(t, &one, 80, 17) && !listener_is_host(t, &four, 80, 6));
	CHECK(listener_virtual(t, 104)->id == 104 && listener_virtual(t, 108) == NULL);
	CHECK(listener_profile(t, 100)->id == 3 && listener_profile(t, id_make(100, 1)) == NULL);
	listener_table_free(t);
	free(h);
	return 0;
}
