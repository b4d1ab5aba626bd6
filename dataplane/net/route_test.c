/* SPDX-License-Identifier: BSD-3-Clause */
/* Routes, own addresses, VLANs by port and tag. */
#include "net/net_fake.h"

static const struct route *route(const char *dst)
{
	struct ip_addr a = addr(dst);
	return route_find(view.net, &a);
}

static void check_gateway(const char *dst, const char *gateway, uint16_t vlan)
{
	const struct route *r = route(dst);
	char text[IP_ADDR_TEXT];

	CHECK(r != NULL);
	CHECK_INT(r->kind, ROUTE_GATEWAY);
	CHECK_STR(ip_format(&r->gateway, text), gateway);
	CHECK_INT(r->vlan, vlan);
}

static void test_longest_prefix(void)
{
	CHECK_INT(route("10.0.1.77")->kind, ROUTE_CONNECTED);
	CHECK_INT(route("10.0.1.77")->vlan, 0);
	CHECK_INT(route("10.0.2.77")->vlan, 1);
	CHECK_INT(route("2001:db8:2::77")->vlan, 1);
	check_gateway("8.8.8.8", "10.0.1.254", 0);
	check_gateway("2001:db8:9::1", "2001:db8:1::fe", 0);
	check_gateway("10.8.3.4", "10.0.2.254", 1);
	check_gateway("10.9.3.4", "10.0.2.254", 1); /* through 10.8.0.1 */
	CHECK_INT(route("10.9.3.4")->mtu, 1300);
	CHECK_INT(route("10.66.1.1")->kind, ROUTE_BLACKHOLE);
	CHECK_INT(route("10.77.1.1")->kind, ROUTE_VLAN);
	/* a gateway that nothing leads to does not hide the shorter prefix */
	check_gateway("10.9.9.1", "10.0.2.254", 1);
	check_gateway("172.20.0.1", "10.0.1.254", 0);
}

static void check_vlan(const char *dst, const char *want)
{
	struct ip_addr a = addr(dst), self;
	char text[IP_ADDR_TEXT];

	CHECK(net_self_of_vlan(&view, 1, &a, &self));
	CHECK_STR(ip_format(&self, text), want);
}

static void test_self_of_vlan(void)
{
	struct ip_addr a = addr("10.0.2.9"), self;

	check_vlan("10.0.2.9", "10.0.2.2"); /* floating first */
	check_vlan("8.8.8.8", "10.0.2.2");
	check_vlan("2001:db8:2::5", "2001:db8:2::1");
	CHECK(!net_self_of_vlan(&view, 2, &a, &self));
}

static enum net_owner owner(const char *text)
{
	struct ip_addr a = addr(text);
	return net_owner_of(&view, &a, NULL);
}

static void test_owner(void)
{
	struct ip_addr a = addr("10.0.2.2");
	uint32_t row = 99;

	CHECK_INT(net_owner_of(&view, &a, &row), NET_SELF);
	CHECK_INT(row, 3);
	CHECK_INT(owner("2001:db8:1::1"), NET_SELF);
	CHECK_INT(owner("10.0.1.100"), NET_VADDR);
	CHECK_INT(owner("2001:db8:1::100"), NET_VADDR);
	CHECK_INT(owner("10.0.1.102"), NET_NOT_OURS); /* disabled */
	CHECK_INT(owner("10.0.2.50"), NET_SNAT);
	CHECK_INT(owner("10.0.1.99"), NET_NOT_OURS);
}

static void test_vlan_of(void)
{
	CHECK_INT(net_vlan_of(&view, 0, WIRE_NO_TAG), 0);
	CHECK_INT(net_vlan_of(&view, 0, 10), NET_NO_VLAN); /* untagged there */
	CHECK_INT(net_vlan_of(&view, 1, 20), 1);
	CHECK_INT(net_vlan_of(&view, 1, WIRE_NO_TAG), NET_NO_VLAN);
	CHECK_INT(net_vlan_of(&view, 1, 21), NET_NO_VLAN);
	CHECK_INT(net_vlan_of(&view, PORT_NONE, 20), NET_NO_VLAN);
}

static uint32_t get(const char *dst)
{
	struct ip_addr a = addr(dst);
	return net_route_get(worker[0], &a);
}

/* Not to be sent to: blackholes, ourselves, network and broadcast addresses, groups. */
static void test_no_route(void)
{
	static const char *const none[] = {"10.66.0.1", "10.0.1.1", "10.0.1.100", "10.0.2.50",
		"10.0.1.0", "10.0.1.255", "224.0.0.1", "255.255.255.255", "ff02::1"};

	for (unsigned i = 0; i < RTE_DIM(none); i++)
		CHECK_INT(get(none[i]), NEXTHOP_NONE);
	uint32_t n = get("10.0.1.254");
	CHECK(n != NEXTHOP_NONE);
	net_nexthop_put(worker[0], n);
}

static void test_mtu(void)
{
	uint32_t a = get("10.0.1.254"), b = get("10.8.0.1"), c = get("10.9.0.1");

	CHECK_INT(net_nexthop(worker[0], a)->mtu, 1500);
	CHECK_INT(net_nexthop(worker[0], b)->mtu, 1400);
	CHECK_INT(net_nexthop(worker[0], c)->mtu, 1300);
	CHECK(b != c);
	net_nexthop_put(worker[0], a);
	net_nexthop_put(worker[0], b);
	net_nexthop_put(worker[0], c);
}

int main(void)
{
	fake_start();
	test_longest_prefix();
	test_self_of_vlan();
	test_owner();
	test_vlan_of();
	test_no_route();
	test_mtu();
	fake_stop();
	return 0;
}
