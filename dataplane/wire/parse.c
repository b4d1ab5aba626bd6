/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/parse.h"

#include "wire/csum.h"
#include "wire/headers.h"

/* What is being read: bytes [0, len) of base; quoted as in wire_parse_quoted. */
struct reader {
	const uint8_t *base;
	uint32_t len;
	bool quoted;
};

static bool ip4_source_routed(const uint8_t *options, unsigned length)
{
	unsigned i = 0;

	while (i < length && options[i] != 0) {
		uint8_t type = options[i] & 0x7f;
		if (type == 1) { /* no operation: one byte */
			i++;
			continue;
		}
		if (type == 3 || type == 9) /* loose, strict source route */
			return true;
		if (i + 1 >= length || options[i + 1] < 2)
			return false;
		i += options[i + 1];
	}
	return false;
}

static enum wire_verdict parse_tcp(const struct reader *r, struct wire_info *out)
{
	const uint8_t *p = r->base + out->l4;
	unsigned left = out->l3_end - out->l4;

	if (left < (r->quoted ? 8 : 20))
		return WIRE_TRUNCATED;
	memcpy(&out->src_port, p, 2);
	memcpy(&out->dst_port, p + 2, 2);
	if (left < 20) {
		out->payload = out->l3_end;
		return WIRE_OK;
	}
	unsigned header = (p[12] >> 4) * 4u;
	out->tcp_flags = p[13];
	out->payload = out->l4 + (header < left ? header : left);
	if (header < 20)
		return WIRE_BAD_L4_HEADER;
	return header > left && !r->quoted ? WIRE_TRUNCATED : WIRE_OK;
}

static enum wire_verdict parse_udp(const struct reader *r, struct wire_info *out)
{
	const uint8_t *p = r->base + out->l4;
	unsigned left = out->l3_end - out->l4;

	if (left < 8)
		return WIRE_TRUNCATED;
	memcpy(&out->src_port, p, 2);
	memcpy(&out->dst_port, p + 2, 2);
	out->payload = out->l4 + 8;
	unsigned length = wire_get16(p + 4);
	if (length < 8)
		return WIRE_BAD_L4_HEADER;
	if (length > left && !r->quoted && !(out->flags & WIRE_FRAGMENT))
		return WIRE_BAD_L4_HEADER;
	return WIRE_OK;
}

static bool icmp_quotes(uint8_t ip_version, uint8_t type)
{
	if (ip_version == 6)
		return type < 128; /* RFC 4443, 2.1 */
	return type == ICMP_UNREACHABLE || type == ICMP_SOURCE_QUENCH || type == ICMP_REDIRECT ||
	       type == ICMP_TIME_EXCEEDED || type == ICMP_PARAMETER;
}

static bool icmp_echoes(uint8_t ip_version, uint8_t type)
{
	if (ip_version == 6)
		return type == ICMP6_ECHO || type == ICMP6_ECHO_REPLY;
	return type == ICMP_ECHO || type == ICMP_ECHO_REPLY;
}

static enum wire_verdict parse_icmp(const struct reader *r, struct wire_info *out)
{
	const uint8_t *p = r->base + out->l4;

	if (out->l3_end - out->l4 < 8)
		return WIRE_TRUNCATED;
	out->icmp_type = p[0];
	out->icmp_code = p[1];
	out->payload = out->l4 + 8;
	if (icmp_quotes(out->ip_version, p[0]))
		out->flags |= WIRE_ICMP_ERROR;
	else if (icmp_echoes(out->ip_version, p[0])) {
		memcpy(&out->src_port, p + 4, 2);
		out->dst_port = out->src_port;
	}
	return WIRE_OK;
}

static enum wire_verdict parse_l4(const struct reader *r, struct wire_info *out)
{
	out->payload = out->l4;
	if (out->flags & WIRE_FRAGMENT_LATER)
		return WIRE_OK;
	switch (out->proto) {
	case PROTO_TCP:
		return parse_tcp(r, out);
	case PROTO_UDP:
		return parse_udp(r, out);
	case PROTO_ICMP:
		return out->ip_version == 4 ? parse_icmp(r, out) : WIRE_OK;
	case PROTO_ICMP6:
		return out->ip_version == 6 ? parse_icmp(r, out) : WIRE_OK;
	default:
		return WIRE_OK;
	}
}

/* Notes where the packet of total bytes ends. False if that lies outside what we have. */
static bool set_end(const struct reader *r, uint32_t total, struct wire_info *out)
{
	uint32_t end = out->l3 + total, most = r->len < UINT16_MAX ? r->len : UINT16_MAX;

	out->l3_end = (uint16_t)(end < most ? end : most);
	return end <= most || r->quoted;
}

static void set_fragment(uint16_t offset, bool more, struct wire_info *out)
{
	out->fragment_offset = offset;
	if (offset || more)
		out->flags |= WIRE_FRAGMENT;
	if (offset)
		out->flags |= WIRE_FRAGMENT_LATER;
	if (more)
		out->flags |= WIRE_FRAGMENT_MORE;
}

static enum wire_verdict parse_ip4(const struct reader *r, struct wire_info *out)
{
	const uint8_t *p = r->base + out->l3;
	uint32_t left = r->len - out->l3;

	if (left < 20)
		return WIRE_TRUNCATED;
	if (p[0] >> 4 != 4)
		return WIRE_BAD_VERSION;
	unsigned header = (p[0] & 15) * 4u;
	if (header < 20)
		return WIRE_BAD_HEADER_LENGTH;
	if (header > left)
		return WIRE_TRUNCATED;
	out->ip_version = 4;
	out->proto = p[9];
	unsigned total = wire_get16(p + 2);
	if (total < header || !set_end(r, total, out))
		return WIRE_BAD_TOTAL_LENGTH;
	if (!r->quoted && csum_of(p, header) != 0)
		return WIRE_BAD_HEADER_CHECKSUM;
	unsigned fragment = wire_get16(p + 6);
	if (fragment & IP4_DF)
		out->flags |= WIRE_DONT_FRAGMENT;
	if (header > 20)
		out->flags |= WIRE_IP_OPTIONS;
	if (header > 20 && ip4_source_routed(p + 20, header - 20))
		out->flags |= WIRE_SOURCE_ROUTE;
	uint16_t id;
	memcpy(&id, p + 4, 2);
	out->fragment_id = id;
	set_fragment((fragment & IP4_OFFSET_MASK) * 8, fragment & IP4_MF, out);
	out->l4 = (uint16_t)(out->l3 + header);
	return parse_l4(r, out);
}

/* Bytes of an extension header that starts at p with at least 8 bytes readable. */
static unsigned extension_length(uint8_t kind, const uint8_t *p)
{
	if (kind == PROTO_FRAGMENT)
		return 8;
	return kind == PROTO_AH ? (p[1] + 2u) * 4 : (p[1] + 1u) * 8;
}

static bool is_extension(uint8_t proto)
{
	return proto == PROTO_HOP_BY_HOP || proto == PROTO_ROUTING || proto == PROTO_FRAGMENT ||
	       proto == PROTO_AH || proto == PROTO_DESTINATION;
}

/* Walks to the upper-layer header, or to what follows the fragment header of a later fragment. */
static enum wire_verdict walk_extensions(const struct reader *r, struct wire_info *out)
{
	for (unsigned n = 0; is_extension(out->proto); n++) {
		const uint8_t *p = r->base + out->l4;
		unsigned left = out->l3_end - out->l4;
		uint8_t kind = out->proto;

		if (n == WIRE_EXTENSIONS_MAX)
			return WIRE_TOO_MANY_EXTENSIONS;
		if (left < 8 || extension_length(kind, p) > left)
			return WIRE_TRUNCATED;
		out->flags |= WIRE_IP_OPTIONS;
		out->proto = p[0];
		out->l4 += (uint16_t)extension_length(kind, p);
		if (kind == PROTO_ROUTING && p[3] != 0)
			out->flags |= WIRE_SOURCE_ROUTE;
		if (kind != PROTO_FRAGMENT)
			continue;
		set_fragment(wire_get16(p + 2) & 0xfff8, p[3] & 1, out);
		memcpy(&out->fragment_id, p + 4, 4);
		if (out->flags & WIRE_FRAGMENT_LATER)
			break;
	}
	return WIRE_OK;
}

static enum wire_verdict parse_ip6(const struct reader *r, struct wire_info *out)
{
	const uint8_t *p = r->base + out->l3;

	if (r->len - out->l3 < 40)
		return WIRE_TRUNCATED;
	if (p[0] >> 4 != 6)
		return WIRE_BAD_VERSION;
	out->ip_version = 6;
	out->proto = p[6];
	out->flags |= WIRE_DONT_FRAGMENT;
	if (!set_end(r, 40u + wire_get16(p + 4), out))
		return WIRE_BAD_TOTAL_LENGTH;
	out->l4 = out->l3 + 40;
	enum wire_verdict v = walk_extensions(r, out);
	return v == WIRE_OK ? parse_l4(r, out) : v;
}

enum wire_verdict wire_parse(const uint8_t *frame, uint32_t len, struct wire_info *out)
{
	const struct reader r = {.base = frame, .len = len};

	*out = (struct wire_info){.tag = WIRE_NO_TAG};
	if (len < ETH_HEADER)
		return WIRE_TRUNCATED;
	out->ethertype = wire_get16(frame + 12);
	out->l3 = ETH_HEADER;
	if (out->ethertype == ETH_TYPE_VLAN) {
		if (len < ETH_HEADER_TAGGED)
			return WIRE_TRUNCATED;
		uint16_t tag = wire_get16(frame + 14) & ETH_TAG_MASK;
		out->tag = tag ? tag : WIRE_NO_TAG;
		out->ethertype = wire_get16(frame + 16);
		out->l3 = ETH_HEADER_TAGGED;
	}
	switch (out->ethertype) {
	case ETH_TYPE_IP4:
		return parse_ip4(&r, out);
	case ETH_TYPE_IP6:
		return parse_ip6(&r, out);
	case ETH_TYPE_ARP:
		if (len - out->l3 < sizeof(struct arp_hdr))
			return WIRE_TRUNCATED;
		out->l3_end = out->l3 + sizeof(struct arp_hdr);
		return WIRE_OK;
	default:
		return WIRE_UNKNOWN_ETHERTYPE;
	}
}

enum wire_verdict wire_parse_quoted(const uint8_t *packet, uint32_t len, struct wire_info *out)
{
	const struct reader r = {.base = packet, .len = len, .quoted = true};

	*out = (struct wire_info){.tag = WIRE_NO_TAG};
	if (len < 1)
		return WIRE_TRUNCATED;
	out->ethertype = packet[0] >> 4 == 6 ? ETH_TYPE_IP6 : ETH_TYPE_IP4;
	return out->ethertype == ETH_TYPE_IP6 ? parse_ip6(&r, out) : parse_ip4(&r, out);
}

struct ip_addr wire_src(const uint8_t *base, const struct wire_info *w)
{
	struct ip_addr a;
	uint32_t v4;

	if (w->ip_version == 6) {
		memcpy(a.b, base + w->l3 + 8, 16);
		return a;
	}
	memcpy(&v4, base + w->l3 + 12, 4);
	return ip_addr_v4(v4);
}

struct ip_addr wire_dst(const uint8_t *base, const struct wire_info *w)
{
	struct ip_addr a;
	uint32_t v4;

	if (w->ip_version == 6) {
		memcpy(a.b, base + w->l3 + 24, 16);
		return a;
	}
	memcpy(&v4, base + w->l3 + 16, 4);
	return ip_addr_v4(v4);
}
