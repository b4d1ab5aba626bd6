/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One look at a frame: where its headers lie and what they say. No state, no allocation, never reads
 * behind len. IPv4 (RFC 791), IPv6 with extension headers (RFC 8200), TCP (RFC 9293), UDP (RFC 768),
 * ICMP (RFC 792, 4443), 802.1Q.
 */
#ifndef WEIR_WIRE_PARSE_H
#define WEIR_WIRE_PARSE_H

#include <stdint.h>

#include "base/ipaddr.h"

#define WIRE_NO_TAG 0xffff
#define WIRE_EXTENSIONS_MAX 8 /* IPv6 extension headers walked */

enum wire_flag {
	WIRE_FRAGMENT = 1,	 /* part of a fragmented packet */
	WIRE_FRAGMENT_LATER = 2, /* not the first part: no L4 header here */
	WIRE_FRAGMENT_MORE = 4,	 /* more parts follow */
	WIRE_DONT_FRAGMENT = 8,	 /* IPv4 DF set; always for IPv6 */
	WIRE_ICMP_ERROR = 16,	 /* ICMP or ICMPv6 error that quotes a packet */
	WIRE_IP_OPTIONS = 32,	 /* IPv4 options or IPv6 extension headers present */
	WIRE_SOURCE_ROUTE =
		64, /* IPv4 source route option, IPv6 routing header with segments left */
};

/* 32 bytes; lives in the mbuf's private area and travels with it. */
struct wire_info {
	uint16_t ethertype; /* host order, behind the tag */
	uint16_t tag;	    /* 802.1Q VLAN id, or WIRE_NO_TAG (also for a priority tag, id 0) */
	uint8_t ip_version; /* 4, 6, or 0 = not IP */
	uint8_t proto;	    /* upper-layer protocol */
	uint8_t flags;	    /* enum wire_flag */
	uint8_t tcp_flags;  /* of the TCP header */
	uint16_t l3, l4;    /* byte offsets from the start of the frame */
	uint16_t l3_end;    /* offset behind the IP packet: trailing padding starts here */
	uint16_t payload;   /* offset of the L4 payload (TCP data, UDP data, ICMP body) */
	uint16_t src_port, dst_port; /* network order; ICMP echo: both the identifier; else 0 */
	uint16_t fragment_offset;    /* bytes */
	uint8_t icmp_type, icmp_code;
	uint32_t fragment_id; /* as on the wire */
};

enum wire_verdict {
	WIRE_OK,
	WIRE_TRUNCATED, /* frame or packet ends within a header */
	WIRE_BAD_VERSION,
	WIRE_BAD_HEADER_LENGTH,
	WIRE_BAD_TOTAL_LENGTH,	  /* longer than the frame, or shorter than its header */
	WIRE_BAD_HEADER_CHECKSUM, /* IPv4 */
	WIRE_TOO_MANY_EXTENSIONS,
	WIRE_BAD_L4_HEADER,
	WIRE_UNKNOWN_ETHERTYPE,
	WIRE_VERDICTS
};

/*
 * Parses the frame of len bytes (Ethernet header first). Fills *out as far as it came, also when the
 * verdict is not WIRE_OK. ARP frames are WIRE_OK with ip_version 0. A wrong TCP or UDP checksum is none
 * of its business.
 */
enum wire_verdict wire_parse(const uint8_t *frame, uint32_t len, struct wire_info *out);

/*
 * The same for a bare IP packet that an ICMP error quotes: it may end after 8 bytes of the L4 header,
 * its total length may exceed what is quoted, and its header checksum is not judged. Offsets count from
 * packet.
 */
enum wire_verdict wire_parse_quoted(const uint8_t *packet, uint32_t len, struct wire_info *out);

/* Addresses of a parsed IP packet; offsets of w count from base. */
struct ip_addr wire_src(const uint8_t *base, const struct wire_info *w);
struct ip_addr wire_dst(const uint8_t *base, const struct wire_info *w);

static inline uint16_t wire_get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

#endif
