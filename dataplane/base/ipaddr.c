/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/ipaddr.h"

#include <arpa/inet.h>
#include <errno.h>

bool ip_is_any(const struct ip_addr *a)
{
	return ip_is_v4(a) ? a->w[3] == 0 : (a->d[0] == 0 && a->d[1] == 0);
}

struct ip_addr ip_prefix_of(const struct ip_addr *a, unsigned prefix)
{
	unsigned bits = ip_is_v4(a) ? prefix + 96 : prefix;
	struct ip_addr net = {0};

	for (unsigned i = 0; i < 16 && bits > 0; i++) {
		unsigned take = bits < 8 ? bits : 8;
		net.b[i] = a->b[i] & (uint8_t)(0xff00 >> take);
		bits -= take;
	}
	return net;
}

bool ip_prefix_match(const struct ip_addr *net, unsigned prefix, const struct ip_addr *a)
{
	if (ip_is_v4(net) != ip_is_v4(a))
		return false;
	struct ip_addr x = ip_prefix_of(a, prefix), y = ip_prefix_of(net, prefix);
	return ip_equal(&x, &y);
}

int ip_parse(const char *text, struct ip_addr *out)
{
	struct in_addr v4;
	struct in6_addr v6;

	if (inet_pton(AF_INET, text, &v4) == 1) {
		*out = ip_addr_v4(v4.s_addr);
		return 0;
	}
	if (inet_pton(AF_INET6, text, &v6) == 1) {
		memcpy(out->b, v6.s6_addr, 16);
		return 0;
	}
	return -EINVAL;
}

char *ip_format(const struct ip_addr *a, char buf[IP_ADDR_TEXT])
{
	if (ip_is_v4(a))
		inet_ntop(AF_INET, &a->w[3], buf, IP_ADDR_TEXT);
	else
		inet_ntop(AF_INET6, a->b, buf, IP_ADDR_TEXT);
	return buf;
}
