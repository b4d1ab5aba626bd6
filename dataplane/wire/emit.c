/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/emit.h"

#include <arpa/inet.h>
#include <string.h>

#include "wire/csum.h"

unsigned emit_eth(
	uint8_t *out, const uint8_t dst[6], const uint8_t src[6], uint16_t tag, uint16_t type)
{
	struct eth_hdr eth = {.type = htons(tag == WIRE_NO_TAG ? type : ETH_TYPE_VLAN)};
	struct vlan_hdr vlan = {.tci = htons(tag), .type = htons(type)};

	memcpy(eth.dst, dst, 6);
	memcpy(eth.src, src, 6);
	memcpy(out, &eth, sizeof(eth));
	if (tag == WIRE_NO_TAG)
		return ETH_HEADER;
	memcpy(out + sizeof(eth), &vlan, sizeof(vlan));
	return ETH_HEADER_TAGGED;
}

unsigned emit_arp(uint8_t *out, uint16_t op, const uint8_t sender_mac[6], uint32_t sender,
	const uint8_t target_mac[6], uint32_t target)
{
	struct arp_hdr arp = {
		.hardware = htons(1),
		.protocol = htons(ETH_TYPE_IP4),
		.hardware_length = 6,
		.protocol_length = 4,
		.op = htons(op),
		.sender = sender,
		.target = target,
	};

	memcpy(arp.sender_mac, sender_mac, 6);
	if (target_mac)
		memcpy(arp.target_mac, target_mac, 6);
	memcpy(out, &arp, sizeof(arp));
	return sizeof(arp);
}

unsigned emit_ip4(uint8_t *out, const struct ip_addr *src, const struct ip_addr *dst, uint8_t proto,
	uint8_t ttl, uint16_t length)
{
	struct ip4_hdr ip = {
		.version_ihl = 0x45,
		.length = htons((uint16_t)(sizeof(ip) + length)),
		.fragment = htons(IP4_DF),
		.ttl = ttl,
		.proto = proto,
		.src = src->w[3],
		.dst = dst->w[3],
	};

	ip.csum = csum_of(&ip, sizeof(ip));
	memcpy(out, &ip, sizeof(ip));
	return sizeof(ip);
}

unsigned emit_ip6(uint8_t *out, const struct ip_addr *src, const struct ip_addr *dst, uint8_t proto,
	uint8_t hop_limit, uint16_t length)
{
	struct ip6_hdr ip = {
		.version_class_flow = htonl(6u << 28),
		.length = htons(length),
		.proto = proto,
		.hop_limit = hop_limit,
	};

	memcpy(ip.src, src->b, 16);
	memcpy(ip.dst, dst->b, 16);
	memcpy(out, &ip, sizeof(ip));
	return sizeof(ip);
}

static unsigned emit_ip(uint8_t *out, const struct ip_addr *src, const struct ip_addr *dst,
	uint8_t proto, uint16_t length)
{
	return ip_is_v4(src) ? emit_ip4(out, src, dst, proto, EMIT_TTL, length)
			     : emit_ip6(out, src, dst, proto, EMIT_TTL, length);
}

/* Fills the checksum, so far 0, of the L4 part [l4, l4 + length) between src and dst. */
static uint16_t l4_csum(const struct ip_addr *src, const struct ip_addr *dst, uint8_t proto,
	const uint8_t *l4, unsigned length)
{
	uint64_t sum = proto == PROTO_ICMP ? 0 : csum_pseudo(src, dst, proto, length);

	return (uint16_t)~csum_fold(csum_add(sum, l4, length));
}

static unsigned emit_ndp(uint8_t *out, const struct ip_addr *src, const struct ip_addr *dst,
	const struct ndp_hdr *body, uint8_t option, const uint8_t *mac)
{
	struct ndp_mac_option opt = {.type = option, .length = 1};
	unsigned length = sizeof(*body) + (mac ? sizeof(opt) : 0);
	/* RFC 4861, 7.1: others take only a hop limit of 255, which no router lets through */
	uint8_t *l4 = out + emit_ip6(out, src, dst, PROTO_ICMP6, 255, (uint16_t)length);

	memcpy(l4, body, sizeof(*body));
	if (mac) {
		memcpy(opt.mac, mac, 6);
		memcpy(l4 + sizeof(*body), &opt, sizeof(opt));
	}
	uint16_t sum = l4_csum(src, dst, PROTO_ICMP6, l4, length);
	memcpy(l4 + 2, &sum, 2);
	return sizeof(struct ip6_hdr) + length;
}

unsigned emit_ndp_solicit(uint8_t *out, const struct ip_addr *src, const struct ip_addr *dst,
	const struct ip_addr *target, const uint8_t *mac)
{
	struct ndp_hdr body = {.icmp = {.type = ICMP6_SOLICIT}};

	memcpy(body.target, target->b, 16);
	return emit_ndp(out, src, dst, &body, NDP_SOURCE_MAC, mac);
}

unsigned emit_ndp_advert(uint8_t *out, const struct ip_addr *src, const struct ip_addr *dst,
	const struct ip_addr *target, const uint8_t mac[6], uint32_t flags)
{
	struct ndp_hdr body = {.icmp = {.type = ICMP6_ADVERT, .word = htonl(flags)}};

	memcpy(body.target, target->b, 16);
	return emit_ndp(out, src, dst, &body, NDP_TARGET_MAC, mac);
}

struct ip_addr wire_solicited_node(const struct ip_addr *a)
{
	struct ip_addr group = {.b = {0xff, 2, [11] = 1, [12] = 0xff}};

	memcpy(group.b + 13, a->b + 13, 3);
	return group;
}

void wire_group_mac(const struct ip_addr *group, uint8_t out[6])
{
	if (ip_is_v4(group)) {
		const uint8_t mac[6] = {
			0x01, 0x00, 0x5e, group->b[13] & 0x7f, group->b[14], group->b[15]};
		memcpy(out, mac, 6);
		return;
	}
	out[0] = out[1] = 0x33;
	memcpy(out + 2, group->b + 12, 4);
}

unsigned emit_icmp_error(uint8_t *out, const struct ip_addr *src, uint8_t type, uint8_t code,
	uint32_t word, const uint8_t *base, const struct wire_info *w)
{
	const bool v4 = w->ip_version == 4;
	const uint8_t proto = v4 ? PROTO_ICMP : PROTO_ICMP6;
	const struct ip_addr dst = wire_src(base, w);
	struct icmp_hdr icmp = {.type = type, .code = code, .word = htonl(word)};
	unsigned most = v4 ? 576 - sizeof(struct ip4_hdr) : 1280 - sizeof(struct ip6_hdr);
	unsigned quoted = w->l3_end - w->l3;

	most -= sizeof(icmp);
	if (quoted > most)
		quoted = most;
	unsigned length = sizeof(icmp) + quoted;
	uint8_t *l4 = out + emit_ip(out, src, &dst, proto, (uint16_t)length);
	memcpy(l4, &icmp, sizeof(icmp));
	memcpy(l4 + sizeof(icmp), base + w->l3, quoted);
	uint16_t sum = l4_csum(src, &dst, proto, l4, length);
	memcpy(l4 + 2, &sum, 2);
	return (unsigned)(l4 - out) + length;
}

void emit_echo_reply(uint8_t *base, const struct wire_info *w)
{
	uint8_t *ip = base + w->l3, *icmp = base + w->l4;
	unsigned at = w->ip_version == 4 ? 12 : 8, size = w->ip_version == 4 ? 4 : 16;
	uint8_t addr[16];
	uint16_t from, to, sum;

	memcpy(addr, ip + at, size);
	memcpy(ip + at, ip + at + size, size);
	memcpy(ip + at + size, addr, size);
	if (w->ip_version == 4) {
		memcpy(&from, ip + 8, 2);
		ip[8] = EMIT_TTL;
		memcpy(&to, ip + 8, 2);
		memcpy(&sum, ip + 10, 2);
		csum_apply(&sum, csum_delta_16(from, to));
		memcpy(ip + 10, &sum, 2);
	} else {
		ip[7] = EMIT_TTL;
	}
	memcpy(&from, icmp, 2);
	icmp[0] = w->ip_version == 4 ? ICMP_ECHO_REPLY : ICMP6_ECHO_REPLY;
	memcpy(&to, icmp, 2);
	memcpy(&sum, icmp + 2, 2);
	csum_apply(&sum, csum_delta_16(from, to));
	memcpy(icmp + 2, &sum, 2);
}

unsigned emit_tcp_reset(uint8_t *out, const struct ip_addr *src, const struct ip_addr *dst,
	uint16_t src_port, uint16_t dst_port, uint32_t seq, uint32_t ack, uint8_t flags)
{
	struct tcp_hdr tcp = {
		.src = src_port,
		.dst = dst_port,
		.seq = htonl(seq),
		.ack = htonl(ack),
		.offset = sizeof(tcp) / 4 << 4,
		.flags = flags,
	};
	unsigned header = emit_ip(out, src, dst, PROTO_TCP, sizeof(tcp));

	tcp.csum = l4_csum(src, dst, PROTO_TCP, (const uint8_t *)&tcp, sizeof(tcp));
	memcpy(out + header, &tcp, sizeof(tcp));
	return header + sizeof(tcp);
}

unsigned emit_tcp_reset_reply(uint8_t *out, const uint8_t *base, const struct wire_info *w)
{
	struct ip_addr src = wire_dst(base, w), dst = wire_src(base, w);
	struct tcp_hdr tcp;

	memcpy(&tcp, base + w->l4, sizeof(tcp));
	if (w->tcp_flags & TCP_ACK)
		return emit_tcp_reset(
			out, &src, &dst, tcp.dst, tcp.src, ntohl(tcp.ack), 0, TCP_RST);
	uint32_t length = (uint32_t)(w->l3_end - w->payload) + !!(w->tcp_flags & TCP_SYN) +
			  !!(w->tcp_flags & TCP_FIN);
	return emit_tcp_reset(
		out, &src, &dst, tcp.dst, tcp.src, 0, ntohl(tcp.seq) + length, TCP_RST | TCP_ACK);
}
