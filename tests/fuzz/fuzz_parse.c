/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames and quoted packets of any content. The first byte says how the rest is taken: bit 0 as a quoted
 * IP packet, bit 1 with the IPv4 header checksum put right, since chance would hardly find it.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/check.h"
#include "wire/csum.h"
#include "wire/emit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void repair(uint8_t *packet, size_t len)
{
	unsigned l3 = 14;

	if (len >= 18 && wire_get16(packet + 12) == ETH_TYPE_VLAN)
		l3 = 18;
	if (len < l3 + 20u)
		return;
	unsigned header = (packet[l3] & 15) * 4u;
	if (header < 20 || l3 + header > len)
		return;
	packet[l3 + 10] = packet[l3 + 11] = 0;
	uint16_t sum = csum_of(packet + l3, header);
	memcpy(packet + l3 + 10, &sum, 2);
}

/* What the dataplane relies on whenever a packet is WIRE_OK. */
static void check_offsets(const struct wire_info *w, size_t len)
{
	CHECK(w->l3 <= w->l4 && w->l4 <= w->payload && w->payload <= w->l3_end && w->l3_end <= len);
	CHECK(!(w->flags & WIRE_FRAGMENT_LATER) || w->flags & WIRE_FRAGMENT);
	CHECK(w->flags & WIRE_FRAGMENT || !w->fragment_offset);
	CHECK(w->l4 - w->l3 >= (w->ip_version == 4 ? 20 : 40));
}

/* Answers to what came in must pass our own parser. */
static void answer(const uint8_t *packet, const struct wire_info *w)
{
	uint8_t out[EMIT_ERROR_LENGTH_MAX];
	struct ip_addr src = wire_dst(packet, w);
	struct ip_addr from = wire_src(packet, w);
	struct wire_info again;

	/* an IPv4-mapped address in an IPv6 packet is dropped as martian before anybody answers */
	if (ip_is_v4(&src) != (w->ip_version == 4) || ip_is_v4(&from) != (w->ip_version == 4))
		return;
	unsigned n = emit_icmp_error(out, &src,
		w->ip_version == 4 ? ICMP_UNREACHABLE : ICMP6_UNREACHABLE, 0, 0, packet, w);
	CHECK(wire_parse_quoted(out, n, &again) == WIRE_OK);
	CHECK(again.flags & WIRE_ICMP_ERROR && csum_l4_right(out, &again));
	if (w->proto != PROTO_TCP || w->flags & WIRE_FRAGMENT_LATER)
		return;
	n = emit_tcp_reset_reply(out, packet, w);
	CHECK(n <= EMIT_RESET_LENGTH_MAX);
	CHECK(wire_parse_quoted(out, n, &again) == WIRE_OK && csum_l4_right(out, &again));
}

static void check_csum(uint8_t *packet, const struct wire_info *w)
{
	if (w->flags & WIRE_FRAGMENT)
		return;
	csum_l4_write(packet, w);
	CHECK(csum_l4_right(packet, w));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct wire_info w;

	if (len < 2)
		return 0;
	uint8_t mode = data[0], *exact = malloc(--len);
	if (!exact)
		return 0;
	memcpy(exact, data + 1, len);
	if (mode & 2)
		repair(exact, len);
	bool quoted = mode & 1;
	enum wire_verdict v = quoted ? wire_parse_quoted(exact, (uint32_t)len, &w)
				     : wire_parse(exact, (uint32_t)len, &w);
	CHECK(v < WIRE_VERDICTS);
	if (v == WIRE_OK && w.ip_version) {
		check_offsets(&w, len);
		if (!quoted) {
			answer(exact, &w);
			check_csum(exact, &w);
		}
	}
	free(exact);
	return 0;
}
