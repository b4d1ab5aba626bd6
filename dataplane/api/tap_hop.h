/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dataplane routes what the kernel sends by a tap, except that the kernel may name the next hop itself, in the
 * destination of its Ethernet header: these two bytes, then the IPv4 address. weir-cp makes the kernel's
 * neighbour entries so where a probe must go through one server (transparent monitors).
 */
#ifndef WEIR_API_TAP_HOP_H
#define WEIR_API_TAP_HOP_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/ipaddr.h"

/* A group's: no device has it, and frames that name no hop carry the tap's own address, or 01:00:5e or 33:33. */
#define TAP_HOP_0 0x0b
#define TAP_HOP_1 0x57

static inline void tap_hop_write(uint8_t mac[6], const struct ip_addr *hop)
{
	mac[0] = TAP_HOP_0;
	mac[1] = TAP_HOP_1;
	memcpy(mac + 2, &hop->w[3], 4);
}

/* False: none is named. */
static inline bool tap_hop_read(const uint8_t mac[6], struct ip_addr *hop)
{
	uint32_t v4;

	if (mac[0] != TAP_HOP_0 || mac[1] != TAP_HOP_1)
		return false;
	memcpy(&v4, mac + 2, 4);
	*hop = ip_addr_v4(v4);
	return true;
}

#endif
