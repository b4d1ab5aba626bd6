/* SPDX-License-Identifier: BSD-3-Clause */
/* Headers as they lie on the wire. All fields in network order, none aligned. */
#ifndef WEIR_WIRE_HEADERS_H
#define WEIR_WIRE_HEADERS_H

#include <stdint.h>

#define ETH_HEADER 14u
#define ETH_HEADER_TAGGED 18u
#define ETH_TYPE_IP4 0x0800u
#define ETH_TYPE_ARP 0x0806u
#define ETH_TYPE_VLAN 0x8100u
#define ETH_TYPE_IP6 0x86ddu
#define ETH_TAG_MASK 0x0fffu

struct eth_hdr {
	uint8_t dst[6], src[6];
	uint16_t type;
} __attribute__((packed));

/* 802.1Q, behind an eth_hdr of type ETH_TYPE_VLAN. */
struct vlan_hdr {
	uint16_t tci;
	uint16_t type;
} __attribute__((packed));

#define ARP_REQUEST 1u
#define ARP_REPLY 2u

/* RFC 826, for Ethernet and IPv4. */
struct arp_hdr {
	uint16_t hardware, protocol;
	uint8_t hardware_length, protocol_length;
	uint16_t op;
	uint8_t sender_mac[6];
	uint32_t sender;
	uint8_t target_mac[6];
	uint32_t target;
} __attribute__((packed));

#define IP4_DF 0x4000u
#define IP4_MF 0x2000u
#define IP4_OFFSET_MASK 0x1fffu

struct ip4_hdr {
	uint8_t version_ihl, tos;
	uint16_t length, id, fragment;
	uint8_t ttl, proto;
	uint16_t csum;
	uint32_t src, dst;
} __attribute__((packed));

struct ip6_hdr {
	uint32_t version_class_flow;
	uint16_t length; /* behind this header */
	uint8_t proto, hop_limit;
	uint8_t src[16], dst[16];
} __attribute__((packed));

struct ip6_fragment_hdr {
	uint8_t proto, reserved;
	uint16_t offset; /* 13 bits in units of 8 bytes, 2 reserved, 1 = more follow */
	uint32_t id;
} __attribute__((packed));

enum {
	PROTO_HOP_BY_HOP = 0,
	PROTO_ICMP = 1,
	PROTO_TCP = 6,
	PROTO_UDP = 17,
	PROTO_ROUTING = 43,
	PROTO_FRAGMENT = 44,
	PROTO_AH = 51,
	PROTO_ICMP6 = 58,
	PROTO_NONE = 59,
	PROTO_DESTINATION = 60,
};

#define TCP_FIN 0x01u
#define TCP_SYN 0x02u
#define TCP_RST 0x04u
#define TCP_PSH 0x08u
#define TCP_ACK 0x10u

struct tcp_hdr {
	uint16_t src, dst;
	uint32_t seq, ack;
	uint8_t offset; /* high 4 bits: header length in units of 4 bytes */
	uint8_t flags;
	uint16_t window, csum, urgent;
} __attribute__((packed));

struct udp_hdr {
	uint16_t src, dst, length, csum;
} __attribute__((packed));

enum {
	ICMP_ECHO_REPLY = 0,
	ICMP_UNREACHABLE = 3,
	ICMP_SOURCE_QUENCH = 4,
	ICMP_REDIRECT = 5,
	ICMP_ECHO = 8,
	ICMP_TIME_EXCEEDED = 11,
	ICMP_PARAMETER = 12,

	ICMP_NET_UNREACHABLE = 0, /* codes of ICMP_UNREACHABLE */
	ICMP_HOST_UNREACHABLE = 1,
	ICMP_PORT_UNREACHABLE = 3,
	ICMP_TOO_BIG = 4,
	ICMP_PROHIBITED = 13,
};

enum {
	ICMP6_UNREACHABLE = 1,
	ICMP6_TOO_BIG = 2,
	ICMP6_TIME_EXCEEDED = 3,
	ICMP6_PARAMETER = 4,
	ICMP6_ECHO = 128,
	ICMP6_ECHO_REPLY = 129,
	ICMP6_ROUTER_SOLICIT = 133,
	ICMP6_ROUTER_ADVERT = 134,
	ICMP6_SOLICIT = 135,
	ICMP6_ADVERT = 136,
	ICMP6_REDIRECT = 137,

	ICMP6_NO_ROUTE = 0, /* codes of ICMP6_UNREACHABLE */
	ICMP6_PROHIBITED = 1,
	ICMP6_ADDR_UNREACHABLE = 3,
	ICMP6_PORT_UNREACHABLE = 4,
};

/* ICMP and ICMPv6: the four bytes behind the checksum mean identifier and sequence, MTU, or nothing. */
struct icmp_hdr {
	uint8_t type, code;
	uint16_t csum;
	union {
		struct {
			uint16_t id, seq;
		} __attribute__((packed)) echo;
		struct {
			uint16_t unused, mtu;
		} __attribute__((packed)) too_big; /* ICMP, RFC 1191 */
		uint32_t mtu;			   /* ICMPv6 */
		uint32_t word;
	};
} __attribute__((packed));

#define NDP_ROUTER 0x80000000u
#define NDP_SOLICITED 0x40000000u
#define NDP_OVERRIDE 0x20000000u
#define NDP_SOURCE_MAC 1u /* option types */
#define NDP_TARGET_MAC 2u

/* Neighbour solicitation and advertisement (RFC 4861, 4.3 and 4.4); word of icmp holds the flags. */
struct ndp_hdr {
	struct icmp_hdr icmp;
	uint8_t target[16];
} __attribute__((packed));

/* Link-layer address option. */
struct ndp_mac_option {
	uint8_t type, length; /* length in units of 8 bytes: 1 */
	uint8_t mac[6];
} __attribute__((packed));

#endif
