/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One lookup of one name: A, AAAA or both. Each has a c-ares channel of its own, so its own sockets and
 * ports, which nobody can guess from another's.
 */
#ifndef WEIR_RESOLVE_LOOKUP_H
#define WEIR_RESOLVE_LOOKUP_H

#include "resolve/resolver.h"

enum resolve_outcome {
	LOOKUP_NOT_ASKED,
	LOOKUP_ANSWERED, /* with addresses */
	LOOKUP_EMPTY,	 /* the name exists, without addresses of the family */
	LOOKUP_FAILED,
};

/* What a lookup brought. */
struct resolve_found {
	uint8_t ipv4, ipv6; /* enum resolve_outcome */
	unsigned count;
	struct ip_addr *addr; /* in the order of the answers */
	uint32_t ttl;	      /* s, the shortest of the records */
	char error[120];      /* what failed, or "" */
};

struct resolve_lookup;

/* Called from the event loop, once. The lookup may be freed in it, and its result goes with it. */
typedef void (*resolve_done)(void *ctx, const struct resolve_found *found);

/* NULL: no memory. */
struct resolve_lookup *resolve_lookup_new(struct event_base *base,
	const struct resolve_servers *servers, const char *name, unsigned family, resolve_done done,
	void *ctx);
void resolve_lookup_free(struct resolve_lookup *l); /* at any time */

#endif
