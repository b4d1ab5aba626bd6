/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/emit.h"
#include "base/check.h"

#include <arpa/inet.h>

#include "wire/csum.h"

static const uint8_t mac_a[6] = {2, 0, 0, 0, 0, 0xa}, mac_b[6] = {2, 0, 0, 0, 0, 0xb};

static struct ip_addr addr(const char *text)
{
	struct ip_addr a;
	CHECK(ip_parse(text, &a) == 0);
	return a;
}

/* An Ethernet header in front, parsed: all that we emit must pass our own parser, checksums included. */
static void parse_packet(uint8_t *frame, unsigned length, uint16_t type, struct wire_info *w)
{
	CHECK_INT(emit_eth(frame, mac_b, mac_a, WIRE_NO_TAG, type), 14);
	CHECK_INT(wire_parse(frame, 14 + length, w), WIRE_OK);
	if (w->ip_version) {
		CHECK_INT(w->l3_end, 14 + length);
		CHECK(csum_l4_right(frame, w));
	}
}

static void test_eth_arp(void)
{
	static const uint8_t want[] = {2, 0, 0, 0, 0, 0xb, 2, 0, 0, 0, 0, 0xa, 0x81, 0, 0, 100, 8,
		6, 0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 0xa, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 10, 0,
		0, 2};
	uint8_t frame[64];
	struct ip_addr a = addr("10.0.0.1"), b = addr("10.0.0.2");
	unsigned n = emit_eth(frame, mac_b, mac_a, 100, ETH_TYPE_ARP);

	CHECK_INT(n, 18);
	n += emit_arp(frame + n, ARP_REQUEST, mac_a, a.w[3], NULL, b.w[3]);
	CHECK_INT(n, sizeof(want));
	CHECK(memcmp(frame, want, n) == 0);
}

static void test_ndp(void)
{
	uint8_t frame[128];
	struct ip_addr a = addr("2001:db8::1"), b = addr("2001:db8::12:3456");
	struct ip_addr group = wire_solicited_node(&b), any = addr("::");
	struct wire_info w;
	uint8_t mac[6];
	char text[IP_ADDR_TEXT];

	CHECK_STR(ip_format(&group, text), "ff02::1:ff12:3456");
	wire_group_mac(&group, mac);
	CHECK(memcmp(mac, "\x33\x33\xff\x12\x34\x56", 6) == 0);
	unsigned n = emit_ndp_solicit(frame + 14, &a, &group, &b, mac_a);
	CHECK_INT(n, EMIT_NDP_LENGTH);
	parse_packet(frame, n, ETH_TYPE_IP6, &w);
	CHECK_INT(w.icmp_type, ICMP6_SOLICIT);
	CHECK_INT(frame[14 + 7], 255);
	CHECK(memcmp(frame + 14 + 40 + 8, b.b, 16) == 0);
	CHECK(memcmp(frame + 14 + 40 + 24, "\x01\x01\x02\0\0\0\0\x0a", 8) == 0);
	n = emit_ndp_solicit(frame + 14, &any, &group, &b, NULL);
	CHECK_INT(n, 64);
	parse_packet(frame, n, ETH_TYPE_IP6, &w);
	n = emit_ndp_advert(frame + 14, &b, &a, &b, mac_b, NDP_SOLICITED | NDP_OVERRIDE);
	parse_packet(frame, n, ETH_TYPE_IP6, &w);
	CHECK_INT(w.icmp_type, ICMP6_ADVERT);
	CHECK_INT(frame[14 + 44], 0x60);
	CHECK(memcmp(frame + 14 + 40 + 24, "\x02\x01\x02\0\0\0\0\x0b", 8) == 0);
}

/* A UDP packet of the family, in frame. Returns its parse result. */
static struct wire_info make_udp(uint8_t *frame, const char *src, const char *dst, unsigned payload)
{
	struct ip_addr a = addr(src), b = addr(dst);
	struct udp_hdr udp = {
		.src = htons(1000), .dst = htons(53), .length = htons((uint16_t)(8 + payload))};
	uint16_t length = (uint16_t)(8 + payload);
	bool v4 = ip_is_v4(&a);
	struct wire_info w;
	unsigned n = 14;

	emit_eth(frame, mac_b, mac_a, WIRE_NO_TAG, v4 ? ETH_TYPE_IP4 : ETH_TYPE_IP6);
	n += v4 ? emit_ip4(frame + n, &a, &b, PROTO_UDP, 9, length)
		: emit_ip6(frame + n, &a, &b, PROTO_UDP, 9, length);
	memcpy(frame + n, &udp, 8);
	memset(frame + n + 8, 'x', payload);
	CHECK_INT(wire_parse(frame, n + length, &w), WIRE_OK);
	csum_l4_write(frame, &w);
	CHECK(csum_l4_right(frame, &w));
	return w;
}

/* katran#206: an error is a fresh packet, not a fragment; it quotes the start of the original. */
static void test_icmp_error(void)
{
	uint8_t in[2048], out[2048];
	struct wire_info w = make_udp(in, "10.0.0.1", "10.0.0.9", 1400), e, q;
	struct ip_addr self = addr("10.0.0.5");

	unsigned n = emit_icmp_error(out + 14, &self, ICMP_UNREACHABLE, ICMP_TOO_BIG, 1400, in, &w);
	CHECK_INT(n, 576);
	parse_packet(out, n, ETH_TYPE_IP4, &e);
	CHECK(e.flags & WIRE_ICMP_ERROR);
	CHECK(!(e.flags & WIRE_FRAGMENT));
	CHECK_INT(wire_get16(out + e.l4 + 6), 1400); /* dpvs#793: exact, in network order */
	CHECK_INT(wire_get16(out + e.l4 + 4), 0);
	CHECK(memcmp(out + e.payload, in + w.l3, 576 - 28) == 0);
	CHECK_INT(wire_parse_quoted(out + e.payload, 576 - 28, &q), WIRE_OK);
	CHECK_INT(q.dst_port, htons(53));
	struct ip_addr dst = wire_dst(out, &e), client = addr("10.0.0.1");
	CHECK(ip_equal(&dst, &client));

	w = make_udp(in, "2001:db8::1", "2001:db8::9", 1400);
	self = addr("2001:db8::5");
	n = emit_icmp_error(out + 14, &self, ICMP6_TOO_BIG, 0, 1280, in, &w);
	CHECK_INT(n, 1280);
	parse_packet(out, n, ETH_TYPE_IP6, &e);
	CHECK_INT(e.icmp_type, ICMP6_TOO_BIG);
	CHECK_INT(wire_get16(out + e.l4 + 6), 1280);
	w = make_udp(in, "2001:db8::1", "2001:db8::9", 3);
	n = emit_icmp_error(out + 14, &self, ICMP6_UNREACHABLE, ICMP6_PORT_UNREACHABLE, 0, in, &w);
	CHECK_INT(n, 40 + 8 + 40 + 8 + 3);
	parse_packet(out, n, ETH_TYPE_IP6, &e);
}

static void test_echo(const char *src, const char *dst, uint8_t request, uint8_t reply)
{
	uint8_t f[256];
	struct ip_addr a = addr(src), b = addr(dst);
	bool v4 = ip_is_v4(&a);
	struct wire_info w;
	unsigned n = 14;

	n += v4 ? emit_ip4(f + n, &a, &b, PROTO_ICMP, 3, 33)
		: emit_ip6(f + n, &a, &b, PROTO_ICMP6, 3, 33);
	memset(f + n, 0x5a, 33);
	f[n] = request;
	f[n + 1] = 0;
	emit_eth(f, mac_b, mac_a, WIRE_NO_TAG, v4 ? ETH_TYPE_IP4 : ETH_TYPE_IP6);
	CHECK_INT(wire_parse(f, n + 33, &w), WIRE_OK);
	csum_l4_write(f, &w);
	emit_echo_reply(f, &w);
	parse_packet(f, n + 33 - 14, v4 ? ETH_TYPE_IP4 : ETH_TYPE_IP6, &w);
	CHECK_INT(w.icmp_type, reply);
	CHECK_INT(w.src_port, 0x5a5a);
	struct ip_addr from = wire_src(f, &w), to = wire_dst(f, &w);
	CHECK(ip_equal(&from, &b) && ip_equal(&to, &a));
	CHECK_INT(f[14 + (v4 ? 8 : 7)], EMIT_TTL);
}

static void test_reset(const char *src, const char *dst)
{
	uint8_t f[128], out[128];
	struct ip_addr a = addr(src), b = addr(dst);
	bool v4 = ip_is_v4(&a);
	struct wire_info w;
	struct tcp_hdr tcp;

	/* a SYN gets RST+ACK of seq + 1 */
	unsigned n = emit_tcp_reset(f + 14, &a, &b, htons(1000), htons(80), 0xffffffff, 0, TCP_SYN);
	parse_packet(f, n, v4 ? ETH_TYPE_IP4 : ETH_TYPE_IP6, &w);
	CHECK_INT(w.tcp_flags, TCP_SYN);
	n = emit_tcp_reset_reply(out + 14, f, &w);
	CHECK(n <= EMIT_RESET_LENGTH_MAX);
	parse_packet(out, n, v4 ? ETH_TYPE_IP4 : ETH_TYPE_IP6, &w);
	memcpy(&tcp, out + w.l4, sizeof(tcp));
	CHECK_INT(tcp.flags, TCP_RST | TCP_ACK);
	CHECK_INT(ntohl(tcp.ack), 0);
	CHECK_INT(tcp.seq, 0);
	CHECK_INT(tcp.src, htons(80));
	CHECK_INT(tcp.dst, htons(1000));
	/* what acknowledges gets RST there */
	n = emit_tcp_reset(f + 14, &a, &b, htons(1000), htons(80), 5, 77, TCP_ACK);
	parse_packet(f, n, v4 ? ETH_TYPE_IP4 : ETH_TYPE_IP6, &w);
	n = emit_tcp_reset_reply(out + 14, f, &w);
	parse_packet(out, n, v4 ? ETH_TYPE_IP4 : ETH_TYPE_IP6, &w);
	memcpy(&tcp, out + w.l4, sizeof(tcp));
	CHECK_INT(tcp.flags, TCP_RST);
	CHECK_INT(ntohl(tcp.seq), 77);
	struct ip_addr from = wire_src(out, &w), to = wire_dst(out, &w);
	CHECK(ip_equal(&from, &b) && ip_equal(&to, &a));
}

int main(void)
{
	test_eth_arp();
	test_ndp();
	test_icmp_error();
	test_echo("10.0.0.1", "10.0.0.2", ICMP_ECHO, ICMP_ECHO_REPLY);
	test_echo("2001:db8::1", "2001:db8::2", ICMP6_ECHO, ICMP6_ECHO_REPLY);
	test_reset("10.0.0.1", "10.0.0.2");
	test_reset("2001:db8::1", "2001:db8::2");
	return 0;
}
