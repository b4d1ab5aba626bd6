/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of fqdn, by nobody else. */
#ifndef WEIR_RESOLVE_FQDN_INTERNAL_H
#define WEIR_RESOLVE_FQDN_INTERNAL_H

#include "resolve/fqdn.h"

struct fqdn_name {
	uint32_t node; /* the template */
	uint8_t told;  /* the state that was last told */
};

/* An address that no server may have. */
struct fqdn_own {
	struct ip_addr addr;
	const char *why;
};

struct fqdn_leaving {
	uint32_t member;
	uint64_t since_ns;
	bool stays; /* its address came back */
};

struct fqdn {
	const struct fqdn_ops *ops;
	void *ctx;
	struct resolver *resolver;
	const struct model *model;
	struct fqdn_name *name; /* sorted by node */
	unsigned names, names_size;
	struct fqdn_own *own; /* sorted by address */
	unsigned owns;
	bool own_known;
	uint32_t *pool; /* pools with members that are templates or ephemeral */
	unsigned pools, pools_size;
	bool pools_known;
	struct fqdn_leaving *leaving;
	unsigned leavings, leavings_size;
	unsigned made; /* ephemeral nodes there are */
	struct event *turn;
	uint64_t turn_ns;
	bool applying;		       /* the changes that are told are our own */
	unsigned added, held, deleted; /* by the last fqdn_apply */
	char summary[100];
};

/* Why a member that leaves is held, and one whose template is. */
#define FQDN_LEAVES "its address is gone from the answer for its name"
#define FQDN_FOLLOWS "as the node or member that it was made from"

/* Grows an array by doubling. False: no memory. */
bool fqdn_reserve(void **rows, unsigned *size, unsigned count, size_t row);

/* Collects the pools that matter, unless they are known. 0 or -ENOMEM. */
int fqdn_pools(struct fqdn *f, const struct model *m);

/* Addresses that the ephemeral objects of a template have, those in use first: its last good answer. */
void fqdn_known(const struct fqdn *f, const struct object *node, struct resolve_addresses *out);

/* Place of the first ephemeral node among the nodes; all that are ephemeral follow it. */
unsigned fqdn_first_made(const struct model *m);

/* Whether a member is held because it leaves. */
bool fqdn_is_leaving(const struct model *m, const struct object *member);

/* Why an address of a host is none of a server: it is Weir's own. NULL: it may be one. */
const char *fqdn_own_reason(struct fqdn *f, const struct ip_addr *addr);

#endif
