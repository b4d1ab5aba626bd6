/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Internet checksum (RFC 1071) and its incremental update (RFC 1624, equation 3). All values are
 * taken as they lie in memory, so byte order never matters.
 */
#ifndef WEIR_WIRE_CSUM_H
#define WEIR_WIRE_CSUM_H

#include <stddef.h>
#include <stdint.h>

#include "base/ipaddr.h"
#include "wire/parse.h"

static inline uint16_t csum_fold(uint64_t sum)
{
	sum = (sum >> 32) + (sum & 0xffffffff);
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	return (uint16_t)sum;
}

/* Adds length bytes to a running sum; only the last piece may be odd. */
uint64_t csum_add(uint64_t sum, const void *bytes, size_t length);

/* The checksum over length bytes: what belongs into the header if its field was 0; 0 if the field is
 * right. */
static inline uint16_t csum_of(const void *bytes, size_t length)
{
	return (uint16_t)~csum_fold(csum_add(0, bytes, length));
}

/* --- incremental update: a delta is computed once per flow and applied to every packet --------------- */

static inline uint16_t csum_delta_16(uint16_t from, uint16_t to)
{
	return csum_fold((uint64_t)(uint16_t)~from + to);
}

static inline uint16_t csum_delta_32(uint32_t from, uint32_t to)
{
	return csum_fold((uint64_t)(uint32_t)~from + to);
}

/* Both of one family; then the delta is that of their 4 or 16 bytes on the wire. */
static inline uint16_t csum_delta_addr(const struct ip_addr *from, const struct ip_addr *to)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < 4; i++)
		sum += (uint64_t)(uint32_t)~from->w[i] + to->w[i];
	return csum_fold(sum);
}

/* Two changes in one. */
static inline uint16_t csum_delta_add(uint16_t a, uint16_t b)
{
	return csum_fold((uint64_t)a + b);
}

/* A wrong checksum stays just as wrong. Equal to a full computation wherever the old one was, also at
 * RFC 1624's corner of -0. */
static inline void csum_apply(uint16_t *sum, uint16_t delta)
{
	*sum = (uint16_t)~csum_fold((uint64_t)(uint16_t) ~*sum + delta);
}

/* UDP (RFC 768): 0 means "none" and stays, a computed 0 is sent as ffff. */
static inline void csum_apply_udp(uint16_t *sum, uint16_t delta)
{
	if (*sum == 0)
		return;
	csum_apply(sum, delta);
	if (*sum == 0)
		*sum = 0xffff;
}

/* --- whole L4 checksums --------------------------------------------------------------------------- */

/* Sum of the pseudo header (RFC 9293, 8200); length is that of L4 header and payload. */
uint64_t csum_pseudo(
	const struct ip_addr *src, const struct ip_addr *dst, uint8_t proto, uint32_t length);

/*
 * Writes the TCP, UDP, ICMP or ICMPv6 checksum of a whole packet (no fragment) in one piece; offsets of
 * w count from base. Other protocols are left alone.
 */
void csum_l4_write(uint8_t *base, const struct wire_info *w);

/* Is it right? A UDP checksum of 0 is right for IPv4 only. Other protocols: true. */
bool csum_l4_right(const uint8_t *base, const struct wire_info *w);

#endif
