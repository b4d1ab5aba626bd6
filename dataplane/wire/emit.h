/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writers of small packets. Each writes to out, which has room for what it says, and returns the bytes
 * written, checksums included. Addresses of one call are of one family.
 */
#ifndef WEIR_WIRE_EMIT_H
#define WEIR_WIRE_EMIT_H

#include "wire/headers.h"
#include "wire/parse.h"

#define EMIT_TTL 64
#define EMIT_NDP_LENGTH 72u	    /* solicitation or advertisement with its option */
#define EMIT_RESET_LENGTH_MAX 60u   /* IPv6 */
#define EMIT_ERROR_LENGTH_MAX 1280u /* IPv6; 576 for IPv4 */

/* Ethernet header: 14 bytes, or 18 with tag unless it is WIRE_NO_TAG. type in host order. */
unsigned emit_eth(
	uint8_t *out, const uint8_t dst[6], const uint8_t src[6], uint16_t tag, uint16_t type);

/* ARP body, 28 bytes (RFC 826; probe and announcement RFC 5227). target_mac NULL = zeros. */
unsigned emit_arp(uint8_t *out, uint16_t op, const uint8_t sender_mac[6], uint32_t sender,
	const uint8_t target_mac[6], uint32_t target);

/* IPv4 header without options, 20 bytes, DF set, id 0 (RFC 6864). length is that of what follows. */
unsigned emit_ip4(uint8_t *out, const struct ip_addr *src, const struct ip_addr *dst, uint8_t proto,
	uint8_t ttl, uint16_t length);

/* IPv6 header, 40 bytes. */
unsigned emit_ip6(uint8_t *out, const struct ip_addr *src, const struct ip_addr *dst, uint8_t proto,
	uint8_t hop_limit, uint16_t length);

/* Neighbour solicitation, IPv6 packet (RFC 4861, 4.3). mac NULL: no option, as in duplicate address
 * detection, where src is ::. */
unsigned emit_ndp_solicit(uint8_t *out, const struct ip_addr *src, const struct ip_addr *dst,
	const struct ip_addr *target, const uint8_t *mac);

/* Neighbour advertisement, IPv6 packet (RFC 4861, 4.4); flags: NDP_*. */
unsigned emit_ndp_advert(uint8_t *out, const struct ip_addr *src, const struct ip_addr *dst,
	const struct ip_addr *target, const uint8_t mac[6], uint32_t flags);

/* ff02::1:ffXX:XXXX of an address (RFC 4291, 2.7.1). */
struct ip_addr wire_solicited_node(const struct ip_addr *a);

/* The Ethernet group of an IP group (RFC 1112, 2464). */
void wire_group_mac(const struct ip_addr *group, uint8_t out[6]);

/*
 * ICMP or ICMPv6 error to the sender of the packet that base and w describe, from src, quoting as much as
 * RFC 1812 (576 bytes in all) and RFC 4443 (1280) want. word: MTU in host order for "too big", else 0.
 */
unsigned emit_icmp_error(uint8_t *out, const struct ip_addr *src, uint8_t type, uint8_t code,
	uint32_t word, const uint8_t *base, const struct wire_info *w);

/* Turns an echo request into its reply, in place: addresses, type, TTL, checksums. */
void emit_echo_reply(uint8_t *base, const struct wire_info *w);

/* A TCP segment without data; ports in network order, seq and ack in host order; flags: TCP_*. */
unsigned emit_tcp_reset(uint8_t *out, const struct ip_addr *src, const struct ip_addr *dst,
	uint16_t src_port, uint16_t dst_port, uint32_t seq, uint32_t ack, uint8_t flags);

/* The RST that answers a segment nobody wants (RFC 9293, 3.5.2). The caller sees to it that the segment
 * is whole and no RST itself. */
unsigned emit_tcp_reset_reply(uint8_t *out, const uint8_t *base, const struct wire_info *w);

#endif
