/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Source translation: which addresses are translated ones, and which worker owns which of their ports.
 * The ports of an address are cut in equal blocks, one a worker, so the port names the owner of replies
 * (owner rule 1). Nothing is kept per port: a port is free for a server if the flow table takes the
 * reply's tuple.
 */
#ifndef WEIR_FLOW_SNAT_H
#define WEIR_FLOW_SNAT_H

#include <stdbool.h>

#include "api/snapshot.h"

#define SNAT_PORT_FIRST 1024u	 /* lower ones are the kernel's (self IPs) or never used (pools) */
#define SNAT_AUTOMAP_LAST 49151u /* above: the kernel's ephemeral ports of a self IP */
#define SNAT_POOL_LAST 65535u

struct snat_table;

/* workers: how many blocks. NULL on no memory. Refers to snap and must not outlive it. */
struct snat_table *snat_table_new(const struct snap_header *snap, unsigned workers);
void snat_table_free(struct snat_table *t);

enum snat_kind { SNAT_NOT, SNAT_AUTOMAP, SNAT_POOL };

/* Is (addr, port) a translated address and port? port in host order. owner gets the worker. */
enum snat_kind snat_owner(
	const struct snat_table *t, const struct ip_addr *addr, uint16_t port, unsigned *owner);

/* Ports of a worker's block: first and how many. */
void snat_block(
	enum snat_kind kind, unsigned worker, unsigned workers, uint16_t *first, uint16_t *count);

#endif
