/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ipaddr.h"

const struct filter_word filter_words[] = {
	{"cs-client-addr", "cs-client-addr", FILTER_PREFIX, "the client's address or network"},
	{"cs-client-port", "cs-client-port", FILTER_PORT, "the client's port"},
	{"cs-server-addr", "cs-server-addr", FILTER_ADDRESS,
		"the virtual address that the client uses"},
	{"cs-server-port", "cs-server-port", FILTER_PORT, "the virtual server's port"},
	{"ss-client-addr", "ss-client-addr", FILTER_ADDRESS,
		"the address that the server sees as its client"},
	{"ss-server-addr", "ss-server-addr", FILTER_PREFIX, "the server's address or network"},
	{"ss-server-port", "ss-server-port", FILTER_PORT, "the server's port"},
	{"protocol", "protocol", FILTER_PROTOCOL, "tcp, udp, icmp, icmp6 or a number"},
	{"virtual-server", "virtual", FILTER_NAME, "the virtual server"},
	{"virtual", "virtual", FILTER_NAME, "the same"},
	{"pool", "pool", FILTER_NAME, "the pool that the server was chosen from"},
	{"member", "member", FILTER_NAME, "the pool's member, such as 10.0.0.1:80; needs pool"},
	{"node", "node", FILTER_NAME, "the server, in whatever pool"},
	{"age", "age", FILTER_SECONDS, "open for that many seconds or longer"},
	{"idle", "idle", FILTER_SECONDS, "without a packet for that many seconds or longer"},
	{NULL, NULL, FILTER_NAME, NULL},
};

const struct filter_word *filter_find(const char *name)
{
	for (const struct filter_word *f = filter_words; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

static int read_number(const char *text, uint32_t min, uint32_t max, uint32_t *out)
{
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	unsigned long long n = strtoull(text, &end, 10);
	if (errno || *end || n < min || n > max)
		return -EINVAL;
	*out = (uint32_t)n;
	return 0;
}

static int check_address(const char *value, bool prefix)
{
	char text[IP_ADDR_TEXT + 4];
	struct ip_addr addr;
	uint32_t length;
	char *slash;

	if (strlen(value) >= sizeof(text))
		return -EINVAL;
	strcpy(text, value);
	slash = prefix ? strchr(text, '/') : NULL;
	if (slash)
		*slash++ = 0;
	if (ip_parse(text, &addr))
		return -EINVAL;
	return slash ? read_number(slash, 1, ip_prefix_max(&addr), &length) : 0;
}

static int check_protocol(const char *value, uint32_t *number)
{
	static const struct {
		const char *name;
		uint32_t number;
	} known[] = {{"icmp", 1}, {"tcp", 6}, {"udp", 17}, {"icmp6", 58}};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcmp(value, known[i].name)) {
			*number = known[i].number;
			return 0;
		}
	}
	return read_number(value, 1, 255, number);
}

int filter_check(
	const struct filter_word *f, const char *value, uint32_t *number, char *reason, size_t size)
{
	const char *right = "";
	int status = 0;

	*number = 0;
	switch (f->type) {
	case FILTER_ADDRESS:
		right = "an address such as 10.0.0.1 or 2001:db8::1";
		status = check_address(value, false);
		break;
	case FILTER_PREFIX:
		right = "an address such as 10.0.0.1 or a network such as 10.0.0.0/8";
		status = check_address(value, true);
		break;
	case FILTER_PORT:
		right = "a port from 1 to 65535";
		status = read_number(value, 1, 65535, number);
		break;
	case FILTER_PROTOCOL:
		right = "tcp, udp, icmp, icmp6 or a number from 1 to 255";
		status = check_protocol(value, number);
		break;
	case FILTER_SECONDS:
		right = "a number of seconds";
		status = read_number(value, 0, UINT32_MAX, number);
		break;
	case FILTER_NAME:
		right = "the name of an object";
		status = *value ? 0 : -EINVAL;
		break;
	}
	if (status)
		snprintf(reason, size, "%s: \"%.60s\" is not %s", f->name, value, right);
	return status;
}
