/* SPDX-License-Identifier: BSD-3-Clause */
/* What a lookup means for a name: pure functions of its result and of what was known before. */
#ifndef WEIR_RESOLVE_ANSWER_H
#define WEIR_RESOLVE_ANSWER_H

#include "resolve/resolve_lookup.h"

/* Why no host has the address, or NULL. */
const char *resolve_not_host(const struct ip_addr *addr);

/*
 * Takes the result of a lookup at time now into the status of a name: addresses that were known keep their
 * place before new ones, so the first stays the first. refuse: as of the resolver's ops. True if the set of
 * addresses or the first of them changed.
 */
bool resolve_take(struct resolve_status *status, const struct resolve_found *found, uint64_t now,
	const char *(*refuse)(void *ctx, const struct ip_addr *addr), void *ctx);

/* ms until the next lookup, by the last one's outcome; random: spreads those of many names. */
uint64_t resolve_wait(
	const struct resolve_name *name, const struct resolve_status *status, uint32_t random);

/* Whether the text can be asked for: labels of letters, digits, - and _, at most 63 bytes each. */
bool resolve_name_ok(const char *name);

#endif
