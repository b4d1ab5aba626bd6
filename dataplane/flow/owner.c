/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow/owner.h"

#include <rte_hash_crc.h>

#include "flow/listener.h"

unsigned owner_of_end(const struct ip_addr *addr, uint16_t port, unsigned workers)
{
	uint32_t crc = rte_hash_crc_8byte(addr->d[0], 0x57454952u);

	crc = rte_hash_crc_8byte(addr->d[1], crc);
	crc = rte_hash_crc_2byte(port, crc);
	return (unsigned)(((uint64_t)crc * workers) >> 32);
}

struct owner flow_owner(const struct view *v, const struct owner_packet *p, unsigned workers)
{
	unsigned owner;

	if (workers == 1)
		return (struct owner){0, 0};
	unsigned by_source = owner_of_end(&p->src, p->src_port, workers);
	/* Before the translated ports: a virtual server may listen on a self IP, and its port is never
	 * given out as a source port. */
	if (listener_is_host(v->listeners, &p->dst, p->dst_port, p->proto))
		return (struct owner){by_source, by_source};
	if (snat_owner(v->snat, &p->dst, p->dst_port, &owner) != SNAT_NOT)
		return (struct owner){owner, owner};
	return (struct owner){owner_of_end(&p->dst, p->dst_port, workers), by_source};
}
