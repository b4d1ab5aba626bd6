/* SPDX-License-Identifier: BSD-3-Clause */
/* Who names whom, backwards: made when first asked for after a commit, then looked up. */
#ifndef WEIR_MAIN_CP_INDEX_H
#define WEIR_MAIN_CP_INDEX_H

#include "model/model.h"

struct cp_index {
	uint64_t generation;	  /* of the model it was made from, 0 = none */
	uint32_t *parent, *child; /* ids, sorted by parent */
	unsigned count;
};

/* Members of all pools that name the node; virtual servers that name the virtual address, or the pool. Number
 * of ids and the first of them; 0 also without memory. Valid until the next commit. */
unsigned cp_index_members(
	struct cp_index *x, const struct model *m, uint32_t node, const uint32_t **ids);
unsigned cp_index_virtuals(
	struct cp_index *x, const struct model *m, uint32_t vaddr, const uint32_t **ids);

unsigned cp_index_of_pool(
	struct cp_index *x, const struct model *m, uint32_t pool, const uint32_t **ids);

/* Also forgets what it was made from. */
void cp_index_fini(struct cp_index *x);

#endif
