/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/csum.h"
#include "base/check.h"

#include <arpa/inet.h>

#include "wire/headers.h"

static uint64_t seed = 0x9e3779b97f4a7c15u;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* RFC 1071, section 3: 00 01 f2 03 f4 f5 f6 f7 sums to ddf2. */
static void test_known(void)
{
	const uint8_t b[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
	const uint8_t odd[] = {0x12, 0x34, 0x56};
	/* header of a real packet */
	const uint8_t ip[] = {0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8,
		0, 1, 0xc0, 0xa8, 0, 0xc7};

	CHECK_INT(csum_of(b, sizeof(b)), (uint16_t)~htons(0xddf2));
	CHECK_INT(csum_of(odd, 3), (uint16_t)~htons(0x1234 + 0x5600));
	CHECK_INT(csum_of(ip, sizeof(ip)), 0);
	CHECK_INT(csum_of(b, 0), 0xffff);
}

/* RFC 1624, section 4: the older equation gives ffff here. */
static void test_minus_zero(void)
{
	uint16_t sum = htons(0xdd2f), udp = htons(0xdd2f), none = 0;
	uint16_t delta = csum_delta_16(htons(0x5555), htons(0x3285));

	csum_apply(&sum, delta);
	CHECK_INT(sum, 0);
	csum_apply_udp(&udp, delta); /* 0 would mean "none" */
	CHECK_INT(udp, 0xffff);
	csum_apply_udp(&udp, csum_delta_16(htons(0x3285), htons(0x5555)));
	CHECK_INT(udp, htons(0xdd2f));
	csum_apply_udp(&none, delta);
	CHECK_INT(none, 0);
}

/* A change of nothing changes nothing, but for the two names of zero. */
static void test_same(void)
{
	for (uint32_t sum = 0; sum < 0xffff; sum++) {
		uint16_t a = (uint16_t)sum;
		csum_apply(&a, csum_delta_16(0x1234, 0x1234));
		CHECK_INT(a, sum);
	}
}

/* Every 16-bit pair of old and new value at the wrap values, against full recomputation. */
static void test_against_full(void)
{
	static const uint16_t edges[] = {
		0, 1, 2, 0x7fff, 0x8000, 0xfffd, 0xfffe, 0xffff, 0x00ff, 0xff00};
	uint16_t b[12];

	for (unsigned round = 0; round < 200000; round++) {
		for (unsigned i = 0; i < 12; i++) {
			uint64_t r = next_random();
			b[i] = r & 1 ? edges[(r >> 8) % 10] : (uint16_t)(r >> 16);
		}
		b[0] |= 1; /* no packet is all zeros */
		uint16_t sum = csum_of(b, sizeof(b)), at = (uint16_t)(2 + next_random() % 8), delta;
		uint64_t r = next_random();
		uint32_t from, to = r & 1 ? edges[(r >> 8) % 10] * 0x10001u : (uint32_t)(r >> 16);
		if (r & 2) {
			delta = csum_delta_16(b[at], (uint16_t)to);
			b[at] = (uint16_t)to;
		} else {
			memcpy(&from, b + at, 4);
			delta = csum_delta_32(from, to);
			memcpy(b + at, &to, 4);
		}
		csum_apply(&sum, delta);
		CHECK_INT(sum, csum_of(b, sizeof(b)));
	}
}

/* Address and port in one delta, both families. */
static void test_addr(void)
{
	for (unsigned round = 0; round < 100000; round++) {
		struct ip_addr from, to;
		uint16_t b[10], port = (uint16_t)next_random();
		bool v4 = round & 1;

		for (unsigned i = 0; i < 2; i++) {
			from.d[i] = next_random();
			to.d[i] = next_random() & (round & 2 ? UINT64_MAX : 0xffff);
		}
		if (v4) {
			from = ip_addr_v4(from.w[0]);
			to = ip_addr_v4(to.w[0]);
		}
		unsigned size = v4 ? 4 : 16;
		for (unsigned i = 0; i < 10; i++)
			b[i] = (uint16_t)next_random();
		b[0] = 1;
		memcpy(b + 1, v4 ? from.b + 12 : from.b, size);
		uint16_t sum = csum_of(b, sizeof(b));
		uint16_t delta =
			csum_delta_add(csum_delta_addr(&from, &to), csum_delta_16(b[9], port));
		memcpy(b + 1, v4 ? to.b + 12 : to.b, size);
		b[9] = port;
		csum_apply(&sum, delta);
		CHECK_INT(sum, csum_of(b, sizeof(b)));
	}
}

/* A checksum that was wrong stays wrong by the same amount. */
static void test_wrong_stays_wrong(void)
{
	uint16_t b[4] = {1, 2, 3, 4}, sum = csum_of(b, sizeof(b)), bad = sum + 1;

	csum_apply(&bad, csum_delta_16(b[1], 77));
	csum_apply(&sum, csum_delta_16(b[1], 77));
	b[1] = 77;
	CHECK_INT(sum, csum_of(b, sizeof(b)));
	CHECK_INT(bad, sum + 1);
}

/* Whole packets whose checksums another stack computed. */
static void test_l4(void)
{
	/* UDP 10.0.0.1:1234 -> 10.0.0.2:53 "data" */
	uint8_t udp[] = {0x45, 0, 0, 0x20, 0, 1, 0, 0, 0x40, 0x11, 0x66, 0xca, 10, 0, 0, 1, 10, 0,
		0, 2, 0x04, 0xd2, 0, 0x35, 0, 0x0c, 0x1c, 0x00, 'd', 'a', 't', 'a'};
	struct wire_info w;
	uint16_t right;

	CHECK_INT(wire_parse_quoted(udp, sizeof(udp), &w), WIRE_OK);
	/* 0a00+0001+0a00+0002+0011+000c + 04d2+0035+000c + 6461+7461 = f1f5 -> 0e0a */
	csum_l4_write(udp, &w);
	CHECK_INT(wire_get16(udp + 26), 0x0e0a);
	CHECK(csum_l4_right(udp, &w));
	memcpy(&right, udp + 26, 2);
	udp[31]++;
	CHECK(!csum_l4_right(udp, &w));
	udp[26] = udp[27] = 0;
	CHECK(csum_l4_right(udp, &w));
}

/* Another family's ICMP is no header that we know: one byte of it is left alone. */
static void test_l4_unknown(void)
{
	uint8_t packet[] = {0x45, 0, 0, 0x15, 0, 1, 0, 0, 0x40, PROTO_ICMP6, 0, 0, 10, 0, 0, 1, 10,
		0, 0, 2, 0xaa, 0xbb, 0xcc, 0xdd};
	struct wire_info w;

	CHECK_INT(wire_parse_quoted(packet, 21, &w), WIRE_OK);
	csum_l4_write(packet, &w);
	CHECK(csum_l4_right(packet, &w));
	CHECK(memcmp(packet + 20, "\xaa\xbb\xcc\xdd", 4) == 0);
}

int main(void)
{
	test_known();
	test_minus_zero();
	test_same();
	test_against_full();
	test_addr();
	test_wrong_stays_wrong();
	test_l4();
	test_l4_unknown();
	return 0;
}
