/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/parse.h"
#include "base/check.h"

#include <arpa/inet.h>

#include "wire/csum.h"
#include "wire/headers.h"

#define ETH "\x02\x00\x00\x00\x00\x01\x02\x00\x00\x00\x00\x02"
#define TAG100 "\x81\x00\x20\x64" /* priority 1, id 100 */
#define IP4(len, frag, proto)                                                                      \
	"\x45\x00" len "\x12\x34" frag "\x40" proto "\x00\x00\x0a\x01\x02\x03\x0a\x01\x02\x04"
#define IP6(len, next)                                                                             \
	"\x60\x00\x00\x00" len next "\x40"                                                         \
	"\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01"                         \
	"\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02"
#define TCP20 "\x04\xd2\x00\x50\x00\x00\x00\x01\x00\x00\x00\x00\x50\x02\xff\xff\x00\x00\x00\x00"
#define UDP12                                                                                      \
	"\x04\xd2\x00\x35\x00\x0c\x00\x00"                                                         \
	"data"
#define ECHO12                                                                                     \
	"\x08\x00\x00\x00\xbe\xef\x00\x01"                                                         \
	"data"
#define ECHO6_12                                                                                   \
	"\x80\x00\x00\x00\xbe\xef\x00\x01"                                                         \
	"data"

/* A frame on its own heap block, so that a sanitizer sees every byte read behind it. */
struct frame {
	uint8_t *data;
	uint32_t len;
};

static struct frame frame_of(const void *bytes, size_t len)
{
	struct frame f = {.data = malloc(len ? len : 1), .len = (uint32_t)len};
	CHECK(f.data);
	memcpy(f.data, bytes, len);
	return f;
}

#define FRAME(literal) frame_of(literal, sizeof(literal) - 1)

static void fix_ip4(struct frame *f, unsigned l3)
{
	uint16_t sum;
	memset(f->data + l3 + 10, 0, 2);
	sum = csum_of(f->data + l3, (f->data[l3] & 15) * 4u);
	memcpy(f->data + l3 + 10, &sum, 2);
}

/* Parses and frees; IPv4 headers behind an untagged or tagged Ethernet header get their checksum. */
static enum wire_verdict parse(struct frame f, struct wire_info *w)
{
	if (f.len >= 34 && wire_get16(f.data + 12) == ETH_TYPE_IP4 && (f.data[14] & 15) == 5)
		fix_ip4(&f, 14);
	if (f.len >= 38 && wire_get16(f.data + 12) == ETH_TYPE_VLAN &&
		wire_get16(f.data + 16) == ETH_TYPE_IP4)
		fix_ip4(&f, 18);
	enum wire_verdict v = wire_parse(f.data, f.len, w);
	free(f.data);
	return v;
}

static void test_tcp4(void)
{
	struct wire_info w;

	CHECK_INT(
		parse(FRAME(ETH "\x08\x00" IP4("\x00\x28", "\x40\x00", "\x06") TCP20 "padded"), &w),
		WIRE_OK);
	CHECK_INT(w.ethertype, 0x800);
	CHECK_INT(w.tag, WIRE_NO_TAG);
	CHECK_INT(w.ip_version, 4);
	CHECK_INT(w.proto, 6);
	CHECK_INT(w.flags, WIRE_DONT_FRAGMENT);
	CHECK_INT(w.tcp_flags, 2);
	CHECK_INT(w.l3, 14);
	CHECK_INT(w.l4, 34);
	CHECK_INT(w.payload, 54);
	CHECK_INT(w.l3_end, 54);
	CHECK_INT(w.src_port, htons(1234));
	CHECK_INT(w.dst_port, htons(80));
	CHECK_INT(w.fragment_id, htons(0x1234));
}

static void test_udp4_tagged(void)
{
	struct wire_info w;

	CHECK_INT(parse(FRAME(ETH TAG100 "\x08\x00" IP4("\x00\x20", "\x00\x00", "\x11") UDP12), &w),
		WIRE_OK);
	CHECK_INT(w.tag, 100);
	CHECK_INT(w.l3, 18);
	CHECK_INT(w.proto, 17);
	CHECK_INT(w.payload, 46);
	CHECK_INT(w.dst_port, htons(53));
	/* a priority tag is no VLAN */
	CHECK_INT(parse(FRAME(ETH "\x81\x00\x20\x00\x08\x00" IP4("\x00\x20", "\x00\x00", "\x11")
					UDP12),
			  &w),
		WIRE_OK);
	CHECK_INT(w.tag, WIRE_NO_TAG);
	CHECK_INT(w.l3, 18);
	/* two tags */
	CHECK_INT(
		parse(FRAME(ETH TAG100 TAG100 "\x08\x00" IP4("\x00\x20", "\x00\x00", "\x11") UDP12),
			&w),
		WIRE_UNKNOWN_ETHERTYPE);
}

static void test_icmp(void)
{
	struct wire_info w;

	CHECK_INT(parse(FRAME(ETH "\x08\x00" IP4("\x00\x20", "\x00\x00", "\x01") ECHO12), &w),
		WIRE_OK);
	CHECK_INT(w.icmp_type, 8);
	CHECK_INT(w.src_port, htons(0xbeef));
	CHECK_INT(w.dst_port, htons(0xbeef));
	CHECK_INT(w.flags & WIRE_ICMP_ERROR, 0);
	CHECK_INT(parse(FRAME(ETH "\x08\x00" IP4(
				"\x00\x1c", "\x00\x00", "\x01") "\x03\x04\x00\x00\x00\x00\x05\xdc"),
			  &w),
		WIRE_OK);
	CHECK_INT(w.icmp_code, 4);
	CHECK(w.flags & WIRE_ICMP_ERROR);
	CHECK_INT(w.src_port, 0);
	CHECK_INT(parse(FRAME(ETH "\x86\xdd" IP6("\x00\x0c", "\x3a") ECHO6_12), &w), WIRE_OK);
	CHECK_INT(w.icmp_type, 128);
	CHECK_INT(w.src_port, htons(0xbeef));
	CHECK_INT(parse(FRAME(ETH "\x86\xdd" IP6(
				"\x00\x08", "\x3a") "\x02\x00\x00\x00\x00\x00\x05\x00"),
			  &w),
		WIRE_OK);
	CHECK(w.flags & WIRE_ICMP_ERROR);
	/* ICMP numbers mean nothing in the other family */
	CHECK_INT(parse(FRAME(ETH "\x86\xdd" IP6("\x00\x0c", "\x01") ECHO12), &w), WIRE_OK);
	CHECK_INT(w.icmp_type, 0);
}

static void test_extensions(void)
{
	struct wire_info w;

	/* hop-by-hop, routing without segments left, destination options (16 bytes), AH (12 bytes), UDP */
	CHECK_INT(parse(FRAME(ETH "\x86\xdd" IP6("\x00\x38",
				"\x00") "\x2b\x00\x01\x04\x00\x00\x00\x00"
					"\x3c\x00\x00\x00\x00\x00\x00\x00"
					"\x33\x01\x01\x0c\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
					"\x00\x00"
					"\x11\x01\x00\x00\x00\x00\x00\x01\x00\x00\x00\x02" UDP12),
			  &w),
		WIRE_OK);
	CHECK_INT(w.proto, 17);
	CHECK_INT(w.l4, 14 + 40 + 8 + 8 + 16 + 12);
	CHECK_INT(w.dst_port, htons(53));
	CHECK_INT(w.flags, WIRE_IP_OPTIONS | WIRE_DONT_FRAGMENT);
	/* segments left: the packet has not arrived yet (RFC 5095) */
	CHECK_INT(parse(FRAME(ETH "\x86\xdd" IP6(
				"\x00\x14", "\x2b") "\x11\x00\x00\x01\x00\x00\x00\x00" UDP12),
			  &w),
		WIRE_OK);
	CHECK(w.flags & WIRE_SOURCE_ROUTE);
	/* nothing behind the headers */
	CHECK_INT(parse(FRAME(ETH "\x86\xdd" IP6("\x00\x00", "\x3b")), &w), WIRE_OK);
	CHECK_INT(w.proto, 59);
	/* a header that claims more than the packet holds */
	CHECK_INT(parse(FRAME(ETH "\x86\xdd" IP6(
				"\x00\x14", "\x00") "\x11\x05\x01\x04\x00\x00\x00\x00" UDP12),
			  &w),
		WIRE_TRUNCATED);
}

static void test_extension_limit(void)
{
	uint8_t b[14 + 40 + 9 * 8 + 12];
	struct wire_info w;

	for (unsigned n = WIRE_EXTENSIONS_MAX; n <= WIRE_EXTENSIONS_MAX + 1; n++) {
		memset(b, 0, sizeof(b));
		memcpy(b, ETH "\x86\xdd" IP6("\x00\x00", "\x3c"), 54);
		b[19] = (uint8_t)(n * 8 + 12);
		for (unsigned i = 0; i < n; i++)
			b[54 + i * 8] = i + 1 < n ? 0x3c : 0x11;
		memcpy(b + 54 + n * 8, UDP12, 12);
		CHECK_INT(parse(frame_of(b, 54 + n * 8 + 12), &w),
			n > WIRE_EXTENSIONS_MAX ? WIRE_TOO_MANY_EXTENSIONS : WIRE_OK);
	}
}

static void test_fragments(void)
{
	struct wire_info w;

	/* first: may be shorter than its UDP length says */
	CHECK_INT(parse(FRAME(ETH "\x08\x00" IP4(
				"\x00\x20", "\x20\x00", "\x11") "\x04\xd2\x00\x35\x10\x00\x00\x00"
								"data"),
			  &w),
		WIRE_OK);
	CHECK_INT(w.flags, WIRE_FRAGMENT | WIRE_FRAGMENT_MORE);
	CHECK_INT(w.dst_port, htons(53));
	/* last, at 1480 */
	CHECK_INT(parse(FRAME(ETH "\x08\x00" IP4("\x00\x18", "\x00\xb9", "\x11") "data"), &w),
		WIRE_OK);
	CHECK_INT(w.flags, WIRE_FRAGMENT | WIRE_FRAGMENT_LATER);
	CHECK_INT(w.fragment_offset, 1480);
	CHECK_INT(w.src_port, 0);
	/* IPv6, later one: no header is looked for behind the fragment header */
	CHECK_INT(parse(FRAME(ETH "\x86\xdd" IP6(
				"\x00\x0c", "\x2c") "\x3c\x00\x05\xa9\x01\x02\x03\x04"
						    "data"),
			  &w),
		WIRE_OK);
	CHECK_INT(w.flags & 7, WIRE_FRAGMENT | WIRE_FRAGMENT_LATER | WIRE_FRAGMENT_MORE);
	CHECK_INT(w.fragment_offset, 1448);
	CHECK_INT(w.fragment_id, htonl(0x01020304));
	CHECK_INT(w.l4, 62);
	/* atomic fragment (RFC 6946): a whole packet */
	CHECK_INT(parse(FRAME(ETH "\x86\xdd" IP6(
				"\x00\x14", "\x2c") "\x11\x00\x00\x00\x01\x02\x03\x04" UDP12),
			  &w),
		WIRE_OK);
	CHECK_INT(w.flags & WIRE_FRAGMENT, 0);
	CHECK_INT(w.dst_port, htons(53));
	/* first fragment without its whole TCP header (RFC 1858, 7112) */
	CHECK_INT(parse(FRAME(ETH "\x08\x00" IP4(
				"\x00\x1c", "\x20\x00", "\x06") "\x04\xd2\x00\x50\0\0\0\0"),
			  &w),
		WIRE_TRUNCATED);
}

static void test_lies(void)
{
	struct wire_info w;
	struct frame f;

	CHECK_INT(parse(FRAME(ETH "\x08\x00" IP4("\x00\x29", "\0\0", "\x06") TCP20), &w),
		WIRE_BAD_TOTAL_LENGTH);
	CHECK_INT(parse(FRAME(ETH "\x08\x00" IP4("\x00\x13", "\0\0", "\x06") TCP20), &w),
		WIRE_BAD_TOTAL_LENGTH);
	CHECK_INT(parse(FRAME(ETH "\x08\x00" IP4("\x00\x27", "\0\0", "\x06") TCP20), &w),
		WIRE_TRUNCATED);
	CHECK_INT(parse(FRAME(ETH "\x86\xdd" IP6("\x00\x15", "\x06") TCP20), &w),
		WIRE_BAD_TOTAL_LENGTH);
	CHECK_INT(parse(FRAME(ETH "\x86\xdd" IP6("\xff\xff", "\x06") TCP20), &w),
		WIRE_BAD_TOTAL_LENGTH);
	CHECK_INT(parse(FRAME(ETH "\x86\xdd" IP4("\x00\x28", "\0\0", "\x06") TCP20), &w),
		WIRE_BAD_VERSION);
	CHECK_INT(parse(FRAME(ETH "\x08\x00" IP6("\x00\x14", "\x06") TCP20), &w), WIRE_BAD_VERSION);
	f = FRAME(ETH "\x08\x00" IP4("\x00\x28", "\0\0", "\x06") TCP20);
	f.data[14] = 0x44;
	CHECK_INT(parse(f, &w), WIRE_BAD_HEADER_LENGTH);
	f = FRAME(ETH "\x08\x00" IP4("\x00\x28", "\0\0", "\x06") TCP20);
	f.data[14] = 0x4b; /* 44 of 40 bytes */
	CHECK_INT(parse(f, &w), WIRE_TRUNCATED);
	f = FRAME(ETH "\x08\x00" IP4("\x00\x28", "\0\0", "\x06") TCP20);
	fix_ip4(&f, 14);
	f.data[24] ^= 1;
	CHECK_INT(wire_parse(f.data, f.len, &w), WIRE_BAD_HEADER_CHECKSUM);
	free(f.data);
	f = FRAME(ETH "\x08\x00" IP4("\x00\x28", "\0\0", "\x06") TCP20);
	f.data[46] = 0x40; /* TCP header of 16 bytes */
	CHECK_INT(parse(f, &w), WIRE_BAD_L4_HEADER);
	f = FRAME(ETH "\x08\x00" IP4("\x00\x28", "\0\0", "\x06") TCP20);
	f.data[46] = 0x60; /* of 24, but 20 are there */
	CHECK_INT(parse(f, &w), WIRE_TRUNCATED);
	f = FRAME(ETH "\x08\x00" IP4("\x00\x20", "\0\0", "\x11") UDP12);
	f.data[39] = 13;
	CHECK_INT(parse(f, &w), WIRE_BAD_L4_HEADER);
	f = FRAME(ETH "\x08\x00" IP4("\x00\x20", "\0\0", "\x11") UDP12);
	f.data[39] = 7;
	CHECK_INT(parse(f, &w), WIRE_BAD_L4_HEADER);
	CHECK_INT(parse(FRAME(ETH "\x88\xcc"
				  "0123456789012345678901234567890123456789"),
			  &w),
		WIRE_UNKNOWN_ETHERTYPE);
	CHECK_INT(parse(FRAME(ETH "\x00\x26"
				  "0123456789012345678901234567890123456789"),
			  &w),
		WIRE_UNKNOWN_ETHERTYPE);
}

static void test_ip4_options(void)
{
	struct wire_info w;
	struct frame f = FRAME(ETH "\x08\x00"
				   "\x47\x00\x00\x28\0\0\0\0\x40\x11\0\0\x0a\0\0\1\x0a\0\0\2"
				   "\x01\x83\x07\x04\x0a\0\0\3" UDP12);

	fix_ip4(&f, 14);
	CHECK_INT(wire_parse(f.data, f.len, &w), WIRE_OK);
	CHECK_INT(w.l4, 42);
	CHECK_INT(w.flags, WIRE_IP_OPTIONS | WIRE_SOURCE_ROUTE);
	f.data[35] = 0x07; /* record route is harmless */
	fix_ip4(&f, 14);
	CHECK_INT(wire_parse(f.data, f.len, &w), WIRE_OK);
	CHECK_INT(w.flags, WIRE_IP_OPTIONS);
	f.data[36] = 0; /* an option of no length must not hang us */
	fix_ip4(&f, 14);
	CHECK_INT(wire_parse(f.data, f.len, &w), WIRE_OK);
	free(f.data);
}

static void test_arp(void)
{
	struct wire_info w;

	CHECK_INT(parse(FRAME(ETH "\x08\x06"
				  "\0\1\x08\0\6\4\0\1"
				  "012345"
				  "\x0a\0\0\1"
				  "012345"
				  "\x0a\0\0\2"),
			  &w),
		WIRE_OK);
	CHECK_INT(w.ip_version, 0);
	CHECK_INT(w.l3, 14);
	CHECK_INT(w.l3_end, 42);
}

/* Cut at every length: never OK, never reads behind. */
static void test_truncated(void)
{
	static const struct {
		const char *bytes;
		size_t len;
	} kinds[] = {
#define KIND(literal) {literal, sizeof(literal) - 1}
		KIND(ETH "\x08\x00" IP4("\x00\x28", "\0\0", "\x06") TCP20),
		KIND(ETH TAG100 "\x08\x00" IP4("\x00\x20", "\0\0", "\x11") UDP12),
		KIND(ETH "\x08\x00" IP4("\x00\x20", "\0\0", "\x01") ECHO12),
		KIND(ETH "\x08\x00" IP4("\x00\x18", "\x00\xb9", "\x11") "data"),
		KIND(ETH "\x86\xdd" IP6("\x00\x14", "\x06") TCP20),
		KIND(ETH TAG100 "\x86\xdd" IP6("\x00\x0c", "\x11") UDP12),
		KIND(ETH "\x86\xdd" IP6("\x00\x0c", "\x3a") ECHO6_12),
		KIND(ETH "\x86\xdd" IP6("\x00\x1c", "\x00") "\x2b\x00\x01\x04\0\0\0\0"
							    "\x11\x00\x00\x00\0\0\0\0" UDP12),
		KIND(ETH "\x86\xdd" IP6("\x00\x14", "\x2c") "\x11\0\0\1\1\2\3\4" UDP12),
		KIND(ETH "\x08\x06"
			 "\0\1\x08\0\6\4\0\1"
			 "012345"
			 "\x0a\0\0\1"
			 "012345"
			 "\x0a\0\0\2"),
#undef KIND
	};
	struct wire_info w;

	for (unsigned k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		CHECK_INT(parse(frame_of(kinds[k].bytes, kinds[k].len), &w), WIRE_OK);
		for (size_t len = 0; len < kinds[k].len; len++)
			CHECK(parse(frame_of(kinds[k].bytes, len), &w) != WIRE_OK);
		for (unsigned f = 0; f < 32; f++) /* and with lengths that lie to fit */
			for (size_t len = 54; len < kinds[k].len; len++) {
				struct frame cut = frame_of(kinds[k].bytes, len);
				if (wire_get16(cut.data + 12) == ETH_TYPE_IP4)
					cut.data[17] = (uint8_t)(len - 14 - f);
				if (wire_get16(cut.data + 12) == ETH_TYPE_IP6)
					cut.data[19] = (uint8_t)(len - 54 - f);
				parse(cut, &w);
			}
	}
}

static void test_quoted(void)
{
	struct wire_info w;
	struct frame f = FRAME(IP4("\x05\xdc", "\x40\x00", "\x06") "\x04\xd2\x00\x50\0\0\0\1");

	CHECK_INT(wire_parse_quoted(f.data, f.len, &w), WIRE_OK);
	CHECK_INT(w.l3, 0);
	CHECK_INT(w.l4, 20);
	CHECK_INT(w.l3_end, 28);
	CHECK_INT(w.payload, 28);
	CHECK_INT(w.src_port, htons(1234));
	CHECK_INT(w.dst_port, htons(80));
	CHECK_INT(wire_parse_quoted(f.data, 27, &w), WIRE_TRUNCATED);
	CHECK_INT(wire_parse_quoted(f.data, 19, &w), WIRE_TRUNCATED);
	CHECK_INT(wire_parse_quoted(f.data, 0, &w), WIRE_TRUNCATED);
	free(f.data);
	f = FRAME(IP6("\x05\x00", "\x2c") "\x11\0\0\1\1\2\3\4"
					  "\x04\xd2\x00\x35\x10\x00\0\0");
	CHECK_INT(wire_parse_quoted(f.data, f.len, &w), WIRE_OK);
	CHECK_INT(w.ip_version, 6);
	CHECK_INT(w.dst_port, htons(53));
	struct ip_addr a = wire_src(f.data, &w), b = wire_dst(f.data, &w);
	char text[IP_ADDR_TEXT];
	CHECK_STR(ip_format(&a, text), "2001:db8::1");
	CHECK_STR(ip_format(&b, text), "2001:db8::2");
	free(f.data);
}

int main(void)
{
	test_tcp4();
	test_udp4_tagged();
	test_icmp();
	test_extensions();
	test_extension_limit();
	test_fragments();
	test_lies();
	test_ip4_options();
	test_arp();
	test_truncated();
	test_quoted();
	return 0;
}
