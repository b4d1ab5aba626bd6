/* SPDX-License-Identifier: BSD-3-Clause */
#include "main/cp_index.h"

#include <stdlib.h>

#include "base/log.h"

void cp_index_fini(struct cp_index *x)
{
	free(x->parent);
	free(x->child);
	*x = (struct cp_index){0};
}

static int pair_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* pair[i]: parent in the high half, child in the low one. */
static void index_fill(struct cp_index *x, uint64_t *pair, unsigned count)
{
	qsort(pair, count, sizeof(*pair), pair_order);
	for (unsigned i = 0; i < count; i++) {
		x->parent[i] = (uint32_t)(pair[i] >> 32);
		x->child[i] = (uint32_t)pair[i];
	}
	x->count = count;
}

static unsigned member_pairs(const struct model *m, uint64_t *pair)
{
	const struct object *pool, *o;
	unsigned n = 0;

	for (unsigned p = 0; (pool = model_at(m, KIND_POOL, p)); p++)
		for (unsigned i = 0; (o = model_child_at(m, pool, i)); i++)
			pair[n++] = (uint64_t)model_pool_member(o)->conf.node << 32 | o->id;
	return n;
}

static unsigned virtual_pairs(const struct model *m, uint64_t *pair)
{
	const struct object *o;
	unsigned n = 0;

	for (unsigned i = 0; (o = model_at(m, KIND_VIRTUAL, i)); i++)
		pair[n++] = (uint64_t)model_virtual(o)->conf.destination.addr << 32 | o->id;
	return n;
}

static unsigned pool_pairs(const struct model *m, uint64_t *pair)
{
	const struct object *o;
	unsigned n = 0;

	for (unsigned i = 0; (o = model_at(m, KIND_VIRTUAL, i)); i++)
		if (model_virtual(o)->conf.pool != ID_NONE)
			pair[n++] = (uint64_t)model_virtual(o)->conf.pool << 32 | o->id;
	return n;
}

static void index_make(struct cp_index *x, const struct model *m, enum model_kind kind,
	unsigned (*pairs)(const struct model *, uint64_t *))
{
	unsigned size = model_count(m, kind);
	uint64_t *pair = calloc(size + 1, sizeof(*pair));

	cp_index_fini(x);
	x->parent = calloc(size + 1, sizeof(*x->parent));
	x->child = calloc(size + 1, sizeof(*x->child));
	if (!pair || !x->parent || !x->child) {
		log_error("index of %s: no memory", model_kinds[kind].words);
	} else {
		index_fill(x, pair, pairs(m, pair));
		x->generation = model_generation(m);
	}
	free(pair);
}

static unsigned index_find(const struct cp_index *x, uint32_t parent, const uint32_t **ids)
{
	unsigned low = 0, high = x->count, end;

	while (low < high) {
		unsigned middle = low + (high - low) / 2;

		if (x->parent[middle] < parent)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < x->count && x->parent[end] == parent; end++)
		;
	*ids = x->child + low;
	return end - low;
}

unsigned cp_index_members(
	struct cp_index *x, const struct model *m, uint32_t node, const uint32_t **ids)
{
	if (x->generation != model_generation(m))
		index_make(x, m, KIND_POOL_MEMBER, member_pairs);
	return index_find(x, node, ids);
}

unsigned cp_index_virtuals(
	struct cp_index *x, const struct model *m, uint32_t vaddr, const uint32_t **ids)
{
	if (x->generation != model_generation(m))
		index_make(x, m, KIND_VIRTUAL, virtual_pairs);
	return index_find(x, vaddr, ids);
}

unsigned cp_index_of_pool(
	struct cp_index *x, const struct model *m, uint32_t pool, const uint32_t **ids)
{
	if (x->generation != model_generation(m))
		index_make(x, m, KIND_VIRTUAL, pool_pairs);
	return index_find(x, pool, ids);
}
