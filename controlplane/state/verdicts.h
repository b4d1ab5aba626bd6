/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the checks say of each node and member at the moment: a table by id. health/ writes it; compile/
 * and the answers to "show" read it. One thread.
 */
#ifndef WEIR_STATE_VERDICTS_H
#define WEIR_STATE_VERDICTS_H

#include <stdbool.h>
#include <stdint.h>

#include "state/state.h"

struct verdicts;

struct verdict_row {
	uint8_t verdict;    /* enum verdict */
	uint64_t since;	    /* ms since 1970; 0 if nothing was ever said */
	const char *reason; /* a sentence, or "": "/Common/http: connection refused" */
};

struct verdicts *verdicts_new(void); /* NULL: no memory */
void verdicts_free(struct verdicts *v);

/* Of a node or member. An id that nothing was said of is unchecked; v may be NULL: so is everything. */
struct verdict_row verdicts_get(const struct verdicts *v, uint32_t id);

/*
 * VERDICT_UNCHECKED forgets the id. since: kept if the verdict stays the same. 1 if the verdict changed,
 * 0 if not, -ENOMEM.
 */
int verdicts_set(
	struct verdicts *v, uint32_t id, enum verdict verdict, uint64_t since, const char *reason);

#endif
