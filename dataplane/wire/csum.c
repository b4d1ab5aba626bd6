/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/csum.h"

#include <arpa/inet.h>
#include <string.h>

#include "wire/headers.h"

uint64_t csum_add(uint64_t sum, const void *bytes, size_t length)
{
	const uint8_t *p = bytes;
	uint32_t word;
	uint16_t half = 0;

	for (; length >= 4; length -= 4, p += 4) {
		memcpy(&word, p, 4);
		sum += word;
	}
	if (length >= 2) {
		memcpy(&half, p, 2);
		sum += half;
		p += 2;
		length -= 2;
	}
	if (length) {
		half = 0;
		memcpy(&half, p, 1);
		sum += half;
	}
	return sum;
}

uint64_t csum_pseudo(
	const struct ip_addr *src, const struct ip_addr *dst, uint8_t proto, uint32_t length)
{
	uint64_t sum = (uint64_t)htonl(length) + htonl(proto);

	if (ip_is_v4(src))
		return sum + src->w[3] + dst->w[3];
	return csum_add(csum_add(sum, src->b, 16), dst->b, 16);
}

/* Where the checksum lies in the L4 header, or -1. The parser has seen these headers whole. */
static int csum_offset(const struct wire_info *w)
{
	switch (w->proto) {
	case PROTO_TCP:
		return 16;
	case PROTO_UDP:
		return 6;
	case PROTO_ICMP:
		return w->ip_version == 4 ? 2 : -1;
	case PROTO_ICMP6:
		return w->ip_version == 6 ? 2 : -1;
	default:
		return -1;
	}
}

/* Folded sum over pseudo header and L4 bytes, with whatever the checksum field holds. */
static uint16_t csum_l4_sum(const uint8_t *base, const struct wire_info *w)
{
	uint32_t length = w->l3_end - w->l4;
	uint64_t sum = 0;

	if (w->proto == PROTO_UDP) /* bytes behind the datagram are not covered */
		length = wire_get16(base + w->l4 + 4);
	if (w->proto != PROTO_ICMP) {
		struct ip_addr src = wire_src(base, w), dst = wire_dst(base, w);
		sum = csum_pseudo(&src, &dst, w->proto, length);
	}
	return csum_fold(csum_add(sum, base + w->l4, length));
}

void csum_l4_write(uint8_t *base, const struct wire_info *w)
{
	int offset = csum_offset(w);
	uint16_t sum = 0;

	if (offset < 0)
		return;
	memcpy(base + w->l4 + offset, &sum, 2);
	sum = (uint16_t)~csum_l4_sum(base, w);
	if (w->proto == PROTO_UDP && sum == 0)
		sum = 0xffff;
	memcpy(base + w->l4 + offset, &sum, 2);
}

bool csum_l4_right(const uint8_t *base, const struct wire_info *w)
{
	int offset = csum_offset(w);
	uint16_t sum;

	if (offset < 0)
		return true;
	memcpy(&sum, base + w->l4 + offset, 2);
	if (w->proto == PROTO_UDP && sum == 0)
		return w->ip_version == 4;
	return csum_l4_sum(base, w) == 0xffff;
}
