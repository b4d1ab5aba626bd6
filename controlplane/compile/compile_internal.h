/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of compile/, by nobody else. */
#ifndef WEIR_COMPILE_INTERNAL_H
#define WEIR_COMPILE_INTERNAL_H

#include "compile/compile.h"

/*
 * The compiler runs twice over the model: first with `buffer` NULL to count the rows, then to write them.
 * `next` counts the rows of each kind in both runs, so they cannot disagree.
 */
struct compiler {
	const struct model *m;
	const struct verdicts *verdicts;
	struct snap_header *buffer;
	uint32_t next[SNAP_KINDS];
	uint32_t *row_of; /* by id slot: row of an object that was compiled already */
	bool templates;	  /* there are some: nodes that are known by a name */
	bool passive;	  /* some rule names a passive monitor */
	bool failed;	  /* out of memory */
};

/* Place for the next row of a kind, zeroed; in the counting run a place that nobody looks at. */
void *compile_row(struct compiler *c, enum snap_kind kind);

/* Says which row the object's next one will be. */
void compile_row_is(struct compiler *c, uint32_t id, enum snap_kind kind);

/* Row of an object that was compiled before, or SNAP_NIL. */
static inline uint32_t compile_row_of(const struct compiler *c, uint32_t id)
{
	return id == ID_NONE ? SNAP_NIL : c->row_of[id_slot(id)];
}

void compile_net(struct compiler *c);
void compile_ltm(struct compiler *c);

#endif
