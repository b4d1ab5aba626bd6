/* SPDX-License-Identifier: BSD-3-Clause */
#include "api/snapshot.h"

#include <errno.h>

#include "api/message.h"
#include "api/snapshot_rules.h"
#include "base/check.h"

#define ROW(buffer, kind, type, i)                                                                 \
	((type *)((char *)(buffer) + (buffer)->tables[kind].offset) + (i))

static struct ip_addr addr(const char *text)
{
	struct ip_addr a;
	CHECK(ip_parse(text, &a) == 0);
	return a;
}

static const struct snap_live live = {.ratio = 1, .dynamic_ratio = 1, .avail = LIVE_BITS};

static const uint32_t counts[SNAP_KINDS] = {
	[SNAP_SETTINGS] = 1,
	[SNAP_INTERFACE] = 2,
	[SNAP_VLAN] = 2,
	[SNAP_VLAN_MEMBER] = 3,
	[SNAP_SELF] = 2,
	[SNAP_SERVICE] = 1,
	[SNAP_ROUTE] = 3,
	[SNAP_NODE] = 2,
	[SNAP_POOL] = 2,
	[SNAP_MEMBER] = 3,
	[SNAP_VADDR] = 2,
	[SNAP_VIRTUAL] = 2,
	[SNAP_VLAN_REF] = 2,
	[SNAP_PROFILE] = 2,
	[SNAP_SNATPOOL] = 1,
	[SNAP_SNAT_ADDR] = 2,
};

static void fill_net(struct snap_header *h)
{
	*ROW(h, SNAP_SETTINGS, struct snap_settings, 0) = (struct snap_settings){
		.auto_lasthop = 1, .arp_timeout = 300, .arp_retries = 3, .maximum_arp = 2048};
	*ROW(h, SNAP_INTERFACE, struct snap_interface, 0) =
		(struct snap_interface){.id = 1, .name = "1.1"};
	*ROW(h, SNAP_INTERFACE, struct snap_interface, 1) =
		(struct snap_interface){.id = 2, .name = "1.2"};
	*ROW(h, SNAP_VLAN, struct snap_vlan, 0) = (struct snap_vlan){
		.id = 3, .tag = 10, .mtu = 1500, .members = 2, .tap = "external"};
	*ROW(h, SNAP_VLAN, struct snap_vlan, 1) = (struct snap_vlan){.id = 4,
		.tag = 20,
		.mtu = 1500,
		.first_member = 2,
		.members = 1,
		.tap = "internal"};
	ROW(h, SNAP_VLAN_MEMBER, struct snap_vlan_member, 1)->interface = 1;
	ROW(h, SNAP_VLAN_MEMBER, struct snap_vlan_member, 2)->tagged = 1;
	*ROW(h, SNAP_SELF, struct snap_self, 0) = (struct snap_self){.id = 5,
		.addr = addr("10.0.0.1"),
		.prefix = 24,
		.allow = SNAP_ALLOW_LIST,
		.services = 1};
	*ROW(h, SNAP_SELF, struct snap_self, 1) = (struct snap_self){
		.id = 6, .vlan = 1, .addr = addr("2001:db8::1"), .prefix = 64, .first_service = 1};
	ROW(h, SNAP_SERVICE, struct snap_service, 0)->port = 22;
	*ROW(h, SNAP_ROUTE, struct snap_route, 0) = (struct snap_route){.id = 7,
		.vlan = SNAP_NIL,
		.network = addr("0.0.0.0"),
		.gateway = addr("10.0.0.254")};
	*ROW(h, SNAP_ROUTE, struct snap_route, 1) = (struct snap_route){
		.id = 8, .kind = SNAP_ROUTE_VLAN, .prefix = 16, .network = addr("10.1.0.0")};
	*ROW(h, SNAP_ROUTE, struct snap_route, 2) = (struct snap_route){.id = 9,
		.kind = SNAP_ROUTE_BLACKHOLE,
		.vlan = SNAP_NIL,
		.prefix = 32,
		.network = addr("2001:db8::")};
}

static void fill_ltm(struct snap_header *h)
{
	for (uint32_t i = 0; i < 2; i++)
		*ROW(h, SNAP_NODE, struct snap_node, i) =
			(struct snap_node){.id = 10 + i, .addr = addr("10.0.1.1"), .live = live};
	*ROW(h, SNAP_POOL, struct snap_pool, 0) = (struct snap_pool){.id = 12, .members = 2};
	*ROW(h, SNAP_POOL, struct snap_pool, 1) = (struct snap_pool){
		.id = 13, .lb = SNAP_LB_RATIO_NODE, .first_member = 2, .members = 1};
	for (uint32_t i = 0; i < 3; i++)
		*ROW(h, SNAP_MEMBER, struct snap_member, i) = (struct snap_member){
			.id = 14 + i, .pool = i / 2, .node = i % 2, .port = 80, .live = live};
	for (uint32_t i = 0; i < 2; i++)
		*ROW(h, SNAP_VADDR, struct snap_vaddr, i) = (struct snap_vaddr){.id = 17 + i,
			.addr = addr(i ? "0.0.0.0" : "10.0.0.80"),
			.prefix = i ? 0 : 32};
	for (uint32_t i = 0; i < 2; i++)
		*ROW(h, SNAP_VIRTUAL, struct snap_virtual, i) = (struct snap_virtual){.id = 19 + i,
			.vaddr = i,
			.pool = i ? SNAP_NIL : 1,
			.profile = i,
			.source = addr("0.0.0.0"),
			.snat = i ? SNAP_SNAT_NONE : SNAP_SNAT_POOL,
			.snatpool = i ? SNAP_NIL : 0,
			.vlans = i ? SNAP_VLANS_ALL : SNAP_VLANS_ONLY,
			.first_vlan = i ? 2 : 0,
			.vlan_count = i ? 0 : 2,
			.live = live};
	for (uint32_t i = 0; i < 2; i++)
		*ROW(h, SNAP_PROFILE, struct snap_profile, i) = (struct snap_profile){
			.id = 21 + i, .kind = (uint8_t)i, .idle_timeout = SNAP_TIMEOUT_INDEFINITE};
	*ROW(h, SNAP_SNATPOOL, struct snap_snatpool, 0) =
		(struct snap_snatpool){.id = 23, .addrs = 2};
	for (uint32_t i = 0; i < 2; i++)
		*ROW(h, SNAP_SNAT_ADDR, struct snap_snat_addr, i) =
			(struct snap_snat_addr){.id = 24 + i, .addr = addr("10.0.0.81")};
}

static void seal(struct snap_header *h)
{
	h->checksum = snapshot_checksum(h + 1, h->length - sizeof(*h));
}

static struct snap_header *snapshot_new(void)
{
	struct snap_header head;
	uint64_t length = snapshot_layout(&head, counts);
	struct snap_header *h = calloc(1, length);

	CHECK(h != NULL);
	*h = head;
	h->generation = 7;
	fill_net(h);
	fill_ltm(h);
	seal(h);
	return h;
}

static int check(const struct snap_header *h, size_t length, char reason[256])
{
	reason[0] = 0;
	return snapshot_check(h, length, reason, 256);
}

/* A changed field must be refused, and the reason must name it. */
static void expect_refused(enum snap_kind kind, uint32_t row, const char *name, size_t offset,
	size_t size, uint64_t value)
{
	struct snap_header *h = snapshot_new();
	char reason[256];

	memcpy((char *)h + h->tables[kind].offset + (size_t)row * h->tables[kind].row + offset,
		&value, size);
	seal(h);
	if (check(h, h->length, reason) != -EINVAL || !strstr(reason, name)) {
		fprintf(stderr, "%s = %llu in row %u: got \"%s\"\n", name,
			(unsigned long long)value, row, reason);
		abort();
	}
	free(h);
}

#define BAD(kind, row, type, field, value)                                                         \
	expect_refused(kind, row, #field, offsetof(struct type, field),                            \
		sizeof(((struct type *)0)->field) > 8 ? 8 : sizeof(((struct type *)0)->field),     \
		value)

#define BAD_LIVE(kind, type)                                                                       \
	do {                                                                                       \
		BAD(kind, 1, type, live.ratio, 0);                                                 \
		BAD(kind, 1, type, live.avail, 4);                                                 \
		BAD(kind, 1, type, live.reserved, 1);                                              \
	} while (0)

static void test_net_fields(void)
{
	BAD(SNAP_SETTINGS, 0, snap_settings, auto_lasthop, 2);
	BAD(SNAP_SETTINGS, 0, snap_settings, reset_unmatched, 2);
	BAD(SNAP_SETTINGS, 0, snap_settings, reserved, 1);
	BAD(SNAP_SETTINGS, 0, snap_settings, arp_timeout, 0);
	BAD(SNAP_SETTINGS, 0, snap_settings, arp_retries, 0);
	BAD(SNAP_SETTINGS, 0, snap_settings, maximum_arp, 0);
	BAD(SNAP_INTERFACE, 1, snap_interface, id, 1);
	BAD(SNAP_INTERFACE, 1, snap_interface, enabled, 2);
	BAD(SNAP_INTERFACE, 1, snap_interface, reserved, 1);
	BAD(SNAP_INTERFACE, 1, snap_interface, name, 0);
	BAD(SNAP_INTERFACE, 1, snap_interface, name, 0x2041);
	BAD(SNAP_VLAN, 1, snap_vlan, id, 0);
	BAD(SNAP_VLAN, 1, snap_vlan, tag, 0);
	BAD(SNAP_VLAN, 1, snap_vlan, tag, 4095);
	BAD(SNAP_VLAN, 1, snap_vlan, mtu, 575);
	BAD(SNAP_VLAN, 1, snap_vlan, first_member, 1);
	BAD(SNAP_VLAN, 0, snap_vlan, tap, 0);
	BAD(SNAP_VLAN, 0, snap_vlan, auto_lasthop, 3);
	BAD(SNAP_VLAN, 0, snap_vlan, reserved, 1);
	BAD(SNAP_VLAN_MEMBER, 2, snap_vlan_member, interface, 2);
	BAD(SNAP_VLAN_MEMBER, 2, snap_vlan_member, tagged, 2);
	BAD(SNAP_VLAN_MEMBER, 2, snap_vlan_member, reserved, 1);
	BAD(SNAP_SELF, 1, snap_self, id, 1u << ID_SLOT_BITS);
	BAD(SNAP_SELF, 1, snap_self, vlan, SNAP_NIL);
	BAD(SNAP_SELF, 0, snap_self, prefix, 33);
	BAD(SNAP_SELF, 1, snap_self, prefix, 129);
	BAD(SNAP_SELF, 1, snap_self, floating, 2);
	BAD(SNAP_SELF, 1, snap_self, allow, 3);
	BAD(SNAP_SELF, 1, snap_self, reserved, 1);
	BAD(SNAP_SELF, 1, snap_self, first_service, 0);
	BAD(SNAP_SELF, 0, snap_self, first_service, 1ull << 32 | 1);
	BAD(SNAP_SELF, 1, snap_self, reserved2, 1);
	BAD(SNAP_SERVICE, 0, snap_service, reserved, 1);
	BAD(SNAP_ROUTE, 1, snap_route, id, 7);
	BAD(SNAP_ROUTE, 1, snap_route, kind, 3);
	BAD(SNAP_ROUTE, 1, snap_route, prefix, 8);
	BAD(SNAP_ROUTE, 1, snap_route, mtu, 9199);
	BAD(SNAP_ROUTE, 1, snap_route, vlan, 2);
	BAD(SNAP_ROUTE, 0, snap_route, vlan, 1);
	BAD(SNAP_ROUTE, 1, snap_route, reserved, 1);
	BAD(SNAP_ROUTE, 1, snap_route, gateway, 1);
	BAD(SNAP_ROUTE, 0, snap_route, gateway, 1);
}

static void test_ltm_fields(void)
{
	BAD(SNAP_NODE, 1, snap_node, id, (1ull << ID_SLOT_BITS) + 10);
	BAD(SNAP_NODE, 1, snap_node, reserved, 1);
	BAD_LIVE(SNAP_NODE, snap_node);
	BAD(SNAP_POOL, 1, snap_pool, id, 0);
	BAD(SNAP_POOL, 1, snap_pool, lb, SNAP_LB_COUNT);
	BAD(SNAP_POOL, 1, snap_pool, allow_snat, 2);
	BAD(SNAP_POOL, 1, snap_pool, first_member, 1);
	BAD(SNAP_MEMBER, 1, snap_member, id, 1);
	BAD(SNAP_MEMBER, 1, snap_member, pool, 1);
	BAD(SNAP_MEMBER, 1, snap_member, pool, 2);
	BAD(SNAP_MEMBER, 1, snap_member, node, 2);
	BAD_LIVE(SNAP_MEMBER, snap_member);
	BAD(SNAP_VADDR, 1, snap_vaddr, id, 1);
	BAD(SNAP_VADDR, 1, snap_vaddr, reserved, 1);
	BAD(SNAP_VADDR, 0, snap_vaddr, prefix, 24);
	BAD(SNAP_VADDR, 1, snap_vaddr, arp, SNAP_ANSWERS);
	BAD(SNAP_VADDR, 1, snap_vaddr, icmp_echo, SNAP_ANSWERS);
	BAD(SNAP_VADDR, 1, snap_vaddr, enabled, 2);
	BAD(SNAP_VADDR, 1, snap_vaddr, available, 2);
	BAD(SNAP_VADDR, 1, snap_vaddr, reserved2, 1);
	BAD(SNAP_VIRTUAL, 1, snap_virtual, id, 1);
	BAD(SNAP_VIRTUAL, 1, snap_virtual, vaddr, SNAP_NIL);
	BAD(SNAP_VIRTUAL, 1, snap_virtual, pool, 2);
	BAD(SNAP_VIRTUAL, 1, snap_virtual, profile, 2);
	BAD(SNAP_VIRTUAL, 1, snap_virtual, snatpool, 0);
	BAD(SNAP_VIRTUAL, 0, snap_virtual, snatpool, SNAP_NIL);
	BAD(SNAP_VIRTUAL, 1, snap_virtual, reserved, 1);
	BAD(SNAP_VIRTUAL, 1, snap_virtual, source, 1);
	BAD(SNAP_VIRTUAL, 1, snap_virtual, source_prefix, 33);
	BAD(SNAP_VIRTUAL, 1, snap_virtual, type, 3);
	BAD(SNAP_VIRTUAL, 1, snap_virtual, snat, 3);
	BAD(SNAP_VIRTUAL, 0, snap_virtual, vlans, SNAP_VLANS_ALL);
	BAD(SNAP_VIRTUAL, 1, snap_virtual, source_port, 3);
	BAD(SNAP_VIRTUAL, 1, snap_virtual, translate_address, 2);
	BAD(SNAP_VIRTUAL, 1, snap_virtual, translate_port, 2);
	BAD(SNAP_VIRTUAL, 1, snap_virtual, auto_lasthop, 3);
	BAD(SNAP_VIRTUAL, 1, snap_virtual, reserved2, 1);
	BAD(SNAP_VIRTUAL, 1, snap_virtual, first_vlan, 1);
	BAD_LIVE(SNAP_VIRTUAL, snap_virtual);
	BAD(SNAP_VIRTUAL, 1, snap_virtual, reserved3, 1);
	BAD(SNAP_VLAN_REF, 1, snap_vlan_ref, vlan, 2);
	BAD(SNAP_PROFILE, 1, snap_profile, id, 1);
	BAD(SNAP_PROFILE, 1, snap_profile, kind, 2);
	BAD(SNAP_PROFILE, 1, snap_profile, reset_on_timeout, 2);
	BAD(SNAP_PROFILE, 1, snap_profile, loose_initiation, 2);
	BAD(SNAP_PROFILE, 1, snap_profile, loose_close, 2);
	BAD(SNAP_SNATPOOL, 0, snap_snatpool, id, 1);
	BAD(SNAP_SNATPOOL, 0, snap_snatpool, first_addr, 1);
	BAD(SNAP_SNAT_ADDR, 1, snap_snat_addr, id, 0);
	BAD(SNAP_SNAT_ADDR, 1, snap_snat_addr, reserved, 1);
}

/* No byte of a row may escape the rules, none may be judged twice. */
static void test_rules_cover_rows(void)
{
	for (unsigned k = 0; k < SNAP_KINDS; k++) {
		uint8_t seen[256] = {0};

		for (const struct snap_rule *r = snap_rules[k]; r->name; r++)
			for (unsigned i = 0; i < r->size; i++)
				CHECK(seen[r->offset + i]++ == 0);
		for (unsigned i = 0; i < sizeof(seen); i++)
			CHECK_INT(seen[i], i < snap_row_size[k]);
	}
}

static void test_header_and_places(void)
{
	struct snap_header *good = snapshot_new();
	size_t length = good->length;
	char reason[256];

	CHECK_INT(check(good, length, reason), 0);
	CHECK_INT(check(good, length - 1, reason), -EINVAL);
	CHECK_INT(check(good, 0, reason), -EINVAL);
	/* Whatever a header byte becomes, but generation (any but 0 is legal) and origin, is refused. */
	for (size_t i = 0; i < sizeof(*good); i++) {
		if (i >= offsetof(struct snap_header, generation) &&
			i < offsetof(struct snap_header, checksum))
			continue;
		for (unsigned bit = 0; bit < 8; bit++) {
			((uint8_t *)good)[i] ^= 1u << bit;
			CHECK_INT(check(good, length, reason), -EINVAL);
			((uint8_t *)good)[i] ^= 1u << bit;
		}
	}
	good->generation = 0;
	CHECK_INT(check(good, length, reason), -EINVAL);
	good->generation = 7;
	for (size_t i = sizeof(*good); i < length; i++) {
		((uint8_t *)good)[i] ^= 0x40;
		CHECK_INT(check(good, length, reason), -EINVAL);
		CHECK(strstr(reason, "checksum"));
		((uint8_t *)good)[i] ^= 0x40;
	}
	free(good);
}

/* A buffer that ends early is never read beyond its end (the sanitizer build watches). */
static void test_cut(void)
{
	struct snap_header *good = snapshot_new();
	char reason[256];

	for (size_t n = 0; n < good->length; n += 7) {
		struct snap_header *cut = malloc(n + 1);

		CHECK(cut != NULL);
		memcpy(cut, good, n);
		if (n >= sizeof(*cut)) {
			cut->length = n;
			seal(cut);
		}
		CHECK_INT(check(cut, n, reason), -EINVAL);
		free(cut);
	}
	free(good);
}

static void test_empty(void)
{
	uint32_t none[SNAP_KINDS] = {[SNAP_SETTINGS] = 1};
	struct snap_header head;
	struct snap_header *h = calloc(1, snapshot_layout(&head, none));
	char reason[256];

	CHECK(h != NULL);
	*h = head;
	h->generation = 1;
	*ROW(h, SNAP_SETTINGS, struct snap_settings, 0) =
		(struct snap_settings){.arp_timeout = 1, .arp_retries = 1, .maximum_arp = 1};
	seal(h);
	CHECK_INT(check(h, h->length, reason), 0);
	free(h);
}

int main(void)
{
	test_rules_cover_rows();
	test_header_and_places();
	test_net_fields();
	test_ltm_fields();
	test_cut();
	test_empty();
	return 0;
}
