/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The owner rule: which worker a packet belongs to, from the packet alone, the same for both directions
 * of a flow (docs/architecture.md, section 5). Pure: no look-up in any flow table.
 */
#ifndef WEIR_FLOW_OWNER_H
#define WEIR_FLOW_OWNER_H

#include "core/view.h"
#include "flow/snat.h"

struct owner_packet {
	struct ip_addr src, dst;
	uint16_t src_port, dst_port; /* host order */
	uint8_t proto;
};

struct owner {
	unsigned first; /* look here first */
	unsigned
		second; /* and, on a miss, here; only this worker may open a flow. Equal to first where
			  * there is but one owner */
};

/* Worker by one end of a connection; CRC32, unrelated to the flow table's own hash. */
unsigned owner_of_end(const struct ip_addr *addr, uint16_t port, unsigned workers);

struct owner flow_owner(const struct view *v, const struct owner_packet *p, unsigned workers);

#endif
