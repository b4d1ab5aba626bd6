/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "base/check.h"
#include "port/driver.h"

static struct port_config config;
static char reason[128];

static int parse(const char *text, unsigned workers)
{
	return port_config_parse(text, 3, workers, &config, reason, sizeof(reason));
}

static void test_capabilities(void)
{
	const struct port_driver *xdp = port_driver_find("net_af_xdp");
	const struct port_driver *packet = port_driver_find("net_af_packet");

	CHECK(xdp && !xdp->multi_segs && xdp->interface);
	CHECK_INT(xdp->queues_max, 1);
	CHECK_INT(xdp->mtu_max, 3542);
	CHECK(packet && packet->multi_segs && packet->tag_in_data);
	CHECK(packet->queues_max >= 2);
	CHECK(port_driver_find("pci")->set_mtu);
	CHECK(port_driver_find("net_nonsense") == NULL);
	for (const char *const *name = (const char *const[]){"net_tap", "net_ring", "net_null",
		     "net_pcap", "net_memif", NULL};
		*name; name++)
		CHECK(port_driver_find(*name) && !port_driver_find(*name)->interface);
}

static void test_accepts(void)
{
	CHECK_INT(parse("1.1=net_af_xdp,iface=veth0", 2), 0);
	CHECK_STR(config.name, "1.1");
	CHECK_STR(config.interface, "veth0");
	CHECK_STR(config.device, "net_af_xdp3,iface=veth0,busy_budget=0");
	CHECK_INT(parse("1.1=net_af_xdp,busy_budget=64,iface=veth0", 2), 0);
	CHECK_STR(config.device, "net_af_xdp3,busy_budget=64,iface=veth0");

	CHECK_INT(parse("2.1=net_af_packet,framesz=2048,iface=p1", 2), 0);
	CHECK_STR(config.interface, "p1");
	CHECK_STR(config.device, "net_af_packet3,framesz=2048,iface=p1,qpairs=2");
	CHECK_INT(parse("2.1=net_af_packet,iface=p1,qpairs=1", 2), 0);
	CHECK_STR(config.device, "net_af_packet3,iface=p1,qpairs=1");
	CHECK_INT(parse("2.1=net_af_packet,iface=p1", 99), 0);
	CHECK_STR(config.device, "net_af_packet3,iface=p1,qpairs=16");

	CHECK_INT(parse("1.2=0000:00:04.0", 1), 0);
	CHECK_STR(config.driver->name, "pci");
	CHECK_STR(config.device, "0000:00:04.0");
	CHECK_INT(parse("1.2=00:04.1,x=y", 1), 0);
	CHECK_STR(config.device, "00:04.1,x=y");
	CHECK_INT(parse("n=net_null", 1), 0);
	CHECK_STR(config.device, "net_null3");
}

static void test_refuses(void)
{
	char text[600];
	const char *const bad[] = {"", "=", "1.1", "1.1=", "=net_null", "1.1=net_nonsense",
		"1.1=pci", "1.1=net_af_xdp", "1.1=net_af_xdp,iface=", "1.1=net_af_xdp,xiface=eth0",
		"1.1=net_af_xdp,iface=interface-name-too-long", "name-of-16-bytes=net_null",
		"1.1=00:04", "1.1=,iface=eth0"};

	CHECK_INT(parse("1.1=net_null", 1), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		reason[0] = '\0';
		CHECK_INT(parse(bad[i], 1), -EINVAL);
		CHECK(strstr(reason, bad[i]) != NULL);
	}
	memset(text, 'x', sizeof(text));
	memcpy(text, "1.1=net_null,", 13);
	text[sizeof(text) - 1] = '\0';
	CHECK_INT(parse(text, 1), -EINVAL);
	CHECK_STR(config.device, "net_null3");
}

int main(void)
{
	test_capabilities();
	test_accepts();
	test_refuses();
	return 0;
}
