/* SPDX-License-Identifier: BSD-3-Clause */
/* One type for IPv4 and IPv6 addresses: 16 bytes in network order, IPv4 as ::ffff:a.b.c.d (RFC 4291, 2.5.5.2). */
#ifndef WEIR_BASE_IPADDR_H
#define WEIR_BASE_IPADDR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct ip_addr {
	union {
		uint8_t b[16];
		uint16_t h[8];
		uint32_t w[4]; /* w[3] is the IPv4 address, network order */
		uint64_t d[2];
	};
};

#define IP_ADDR_TEXT 48 /* bytes that hold any address as text, with its NUL */

static inline struct ip_addr ip_addr_v4(uint32_t be)
{
	struct ip_addr a = {.w = {0, 0, 0, be}};
	a.h[5] = 0xffff;
	return a;
}

static inline bool ip_is_v4(const struct ip_addr *a)
{
	return a->d[0] == 0 && a->h[4] == 0 && a->h[5] == 0xffff;
}

static inline bool ip_equal(const struct ip_addr *a, const struct ip_addr *b)
{
	return a->d[0] == b->d[0] && a->d[1] == b->d[1];
}

/* True for 0.0.0.0 (IPv4) and :: (IPv6). */
bool ip_is_any(const struct ip_addr *a);

/* prefix: 0-32 for IPv4, 0-128 for IPv6. Different families never match. */
bool ip_prefix_match(const struct ip_addr *net, unsigned prefix, const struct ip_addr *a);

/* The network part of a. prefix as above. */
struct ip_addr ip_prefix_of(const struct ip_addr *a, unsigned prefix);

/* Parses a plain address ("10.0.0.1", "2001:db8::1"). 0, or -EINVAL; out is untouched then. */
int ip_parse(const char *text, struct ip_addr *out);

/* Writes the usual text form (RFC 5952 for IPv6) into buf[IP_ADDR_TEXT] and returns buf. */
char *ip_format(const struct ip_addr *a, char buf[IP_ADDR_TEXT]);

/* Highest prefix of a's family: 32 or 128. */
static inline unsigned ip_prefix_max(const struct ip_addr *a)
{
	return ip_is_v4(a) ? 32 : 128;
}

#endif
