/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/driver.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * net_af_xdp: sends the first segment of a chain and then stale memory, and reports success; the kernel
 * keeps 256 bytes of each buffer for itself; a buffer with all its headers lies within a page of 4,096.
 * Its busy polling takes time on shared cores and brings nothing on veth (seen: a sixth of a request's
 * CPU time). net_af_packet: a frame slot of 2,048 bytes holds 1,982.
 * net_tap's interface is the driver's own.
 */
static const struct port_driver drivers[] = {
	{
		.name = "net_af_xdp",
		.interface = true,
		.tag_in_data = true,
		.queues_max = 1,
		.mtu_max = 3542,
		.room_lost = 256,
		.room_max = 3648,
		.quiet = "busy_budget",
		.descriptors = 2048,
	},
	{
		.name = "net_af_packet",
		.interface = true,
		.multi_segs = true,
		.tag_in_data = true,
		.queues_max = 16,
		.mtu_max = 1964,
		.descriptors = 512,
		.queues = "qpairs",
	},
	{.name = "net_tap",
		.multi_segs = true,
		.queues_max = 16,
		.mtu_max = 9198,
		.descriptors = 1024},
	{.name = "net_ring",
		.multi_segs = true,
		.tag_in_data = true,
		.queues_max = 1,
		.mtu_max = 9198,
		.descriptors = 1024},
	{.name = "net_null",
		.multi_segs = true,
		.tag_in_data = true,
		.queues_max = 1,
		.mtu_max = 9198,
		.descriptors = 1024},
	{.name = "net_pcap",
		.multi_segs = true,
		.tag_in_data = true,
		.queues_max = 1,
		.mtu_max = 9198,
		.descriptors = 1024},
	{.name = "net_memif",
		.multi_segs = true,
		.tag_in_data = true,
		.queues_max = 1,
		.mtu_max = 9198,
		.descriptors = 1024},
	{.name = "pci",
		.multi_segs = true,
		.set_mtu = true,
		.queues_max = 16,
		.mtu_max = 9198,
		.descriptors = 1024},
};

const struct port_driver *port_driver_find(const char *name)
{
	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++) {
		if (strcmp(drivers[i].name, name) == 0)
			return &drivers[i];
	}
	return NULL;
}

/* "0000:00:04.0" or "00:04.0" */
static bool is_pci_address(const char *s, size_t length)
{
	size_t colons = 0, dots = 0;

	for (size_t i = 0; i < length; i++) {
		if (s[i] == ':')
			colons++;
		else if (s[i] == '.')
			dots++;
		else if (!isxdigit((unsigned char)s[i]))
			return false;
	}
	return dots == 1 && (colons == 1 || colons == 2);
}

/* The value of key= in a comma-separated list. False if it is missing, empty or too long. */
static bool argument_get(const char *list, const char *key, char *out, size_t size)
{
	size_t key_length = strlen(key);

	for (const char *p = list; p; p = strchr(p, ',')) {
		p += *p == ',';
		if (strncmp(p, key, key_length) != 0 || p[key_length] != '=')
			continue;
		p += key_length + 1;
		size_t n = strcspn(p, ",");
		if (n == 0 || n >= size)
			return false;
		memcpy(out, p, n);
		out[n] = '\0';
		return true;
	}
	return false;
}

/* Appends ",key=value" unless the list has the key. key may be NULL. False if there is no room. */
static bool argument_default(char list[PORT_DEVICE_MAX], const char *key, unsigned value)
{
	char given[16];
	size_t n = strlen(list), room = PORT_DEVICE_MAX - n;

	if (!key || argument_get(list, key, given, sizeof(given)))
		return true;
	return snprintf(list + n, room, ",%s=%u", key, value) < (int)room;
}

static int refuse(char *reason, size_t size, const char *text, const char *why)
{
	snprintf(reason, size, "port \"%s\": %s", text, why);
	return -EINVAL;
}

/* Driver name or PCI address, as DPDK wants to see it. */
static int parse_device(const char *device, unsigned index, struct port_config *out)
{
	size_t length = strcspn(device, ",");
	char name[32];

	if (is_pci_address(device, length)) {
		out->driver = port_driver_find("pci");
		return snprintf(out->device, sizeof(out->device), "%s", device);
	}
	if (length == 0 || length >= sizeof(name))
		return -1;
	memcpy(name, device, length);
	name[length] = '\0';
	out->driver = port_driver_find(name);
	if (!out->driver || strcmp(name, "pci") == 0)
		return -1;
	return snprintf(out->device, sizeof(out->device), "%s%u%s", name, index, device + length);
}

int port_config_parse(const char *text, unsigned index, unsigned workers, struct port_config *out,
	char *reason, size_t reason_size)
{
	struct port_config c = {0};
	const char *equals = strchr(text, '=');
	size_t length = equals ? (size_t)(equals - text) : 0;

	if (length == 0 || length >= sizeof(c.name))
		return refuse(reason, reason_size, text, "must be NAME=DRIVER[,arguments]");
	memcpy(c.name, text, length);
	int n = parse_device(equals + 1, index, &c);
	if (n < 0)
		return refuse(reason, reason_size, text, "unknown driver");
	if (n >= (int)sizeof(c.device))
		return refuse(reason, reason_size, text, "is too long");
	if (c.driver->interface &&
		!argument_get(c.device, "iface", c.interface, sizeof(c.interface)))
		return refuse(reason, reason_size, text, "needs iface=INTERFACE");
	unsigned wanted = workers < c.driver->queues_max ? workers : c.driver->queues_max;
	if (!argument_default(c.device, c.driver->queues, wanted) ||
		!argument_default(c.device, c.driver->quiet, 0))
		return refuse(reason, reason_size, text, "is too long");
	*out = c;
	return 0;
}
