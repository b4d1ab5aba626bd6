/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Servers that are known by name: watches the names of all template nodes (model_is_template), as "sys dns"
 * says whom to ask, and makes the ephemeral nodes and members that stand for their addresses.
 *
 * A node with autopopulate stands for all addresses of its name, else for one of them: the same as long as
 * the name has it. So do its members in pools. Where a person made a node of an address, that node is used.
 * What they are made of is copied from the template and follows it; holds of the template are the system's
 * on them. A member whose address is gone from a good answer gets a hold first, and is deleted when it has
 * no connections, or after FQDN_LEAVE_MAX; of FQDN_LEAVING_MAX and more the first go at once, or answers that
 * name others each time would pile them up. No answer, or none that is good, changes nothing.
 */
#ifndef WEIR_RESOLVE_FQDN_H
#define WEIR_RESOLVE_FQDN_H

#include "model/model.h"
#include "resolve/resolver.h"

enum {
	FQDN_LEAVE_MIN =
		2, /* s between the hold and the end of a member, even without connections */
	FQDN_LEAVE_MAX = 300,	 /* s; connections that are left then go on, uncounted */
	FQDN_LEAVING_MAX = 4096, /* members of all pools: the first of them go at once */
};

struct fqdn_ops {
	/* Makes a commit of what fqdn_apply does, as HOLD_SYSTEM. 0 or -errno: it is tried again later. */
	int (*commit)(void *ctx);
	/* Connections that a member has now; -1: not known. */
	int64_t (*connections)(void *ctx, uint32_t member);
	/* A sentence for the journal, about a template node; before and after: states. */
	void (*note)(void *ctx, const struct object *o, const char *before, const char *after,
		const char *sentence);
};

struct fqdn;

/* NULL: no memory. Addresses of ephemeral objects in the model count as the last good answers. */
struct fqdn *fqdn_new(
	struct event_base *base, const struct model *m, const struct fqdn_ops *ops, void *ctx);
void fqdn_free(struct fqdn *f);

/* To be called after each change of the model; changes NULL: it is another one. */
void fqdn_model_changed(struct fqdn *f, const struct model *m, const struct model_changes *changes);

/* Name servers that could not be reached may be now. */
void fqdn_retry(struct fqdn *f);

/* Makes the model what the names ask for, in an open transaction. now: clock_ns(). 0, or the code of *err. */
int fqdn_apply(struct fqdn *f, struct model *m, uint64_t now, struct model_error *err);

/* What the last fqdn_apply did, in a line for the history. */
const char *fqdn_summary(const struct fqdn *f);

/* Of a template node; NULL: it is none. */
const struct resolve_status *fqdn_status(const struct fqdn *f, uint32_t node);

/* "resolved 12 s ago to 3 addresses, next in 18 s" into buf; returns buf. now: clock_ns(). */
const char *fqdn_sentence(
	const struct resolve_status *status, uint64_t now, char *buf, size_t size);

#endif
