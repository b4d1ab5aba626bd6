/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which virtual server takes a new connection. Most specific first, as LTM: longer destination, then
 * port, then protocol, then longer source prefix; VLAN lists are honoured while looking.
 */
#ifndef WEIR_FLOW_LISTENER_H
#define WEIR_FLOW_LISTENER_H

#include <stdbool.h>

#include "api/snapshot.h"

struct listener_table;

/* NULL on no memory. The table refers to snap and must not outlive it. */
struct listener_table *listener_table_new(const struct snap_header *snap);
void listener_table_free(struct listener_table *t);

struct listener_key {
	struct ip_addr dst, src;
	uint16_t port; /* host order; 0 for protocols without */
	uint8_t proto;
	uint32_t vlan; /* row the packet came in on */
};

/* Row of the virtual server, or SNAP_NIL. */
uint32_t listener_match(const struct listener_table *t, const struct listener_key *key);

/* True if a virtual server listens on exactly this host address and port, whatever client and VLAN
 * (owner rule 2). */
bool listener_is_host(
	const struct listener_table *t, const struct ip_addr *dst, uint16_t port, uint8_t proto);

/* The virtual server with that id, or its profile; NULL if it is gone. */
const struct snap_virtual *listener_virtual(const struct listener_table *t, uint32_t id);
const struct snap_profile *listener_profile(const struct listener_table *t, uint32_t id);

#endif
