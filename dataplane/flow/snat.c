/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow/snat.h"

#include <stdlib.h>

/* Open addressing, at most half full. */
struct snat_slot {
	struct ip_addr addr;
	uint8_t kind; /* enum snat_kind; SNAT_NOT = empty */
};

struct snat_table {
	unsigned workers;
	uint32_t mask;
	struct snat_slot slot[];
};

static uint32_t addr_hash(const struct ip_addr *a)
{
	uint64_t x = (a->d[0] ^ 0x9e3779b97f4a7c15ull) * 0xff51afd7ed558ccdull;
	x = (x ^ (x >> 32) ^ a->d[1]) * 0xc4ceb9fe1a85ec53ull;
	return (uint32_t)(x >> 32);
}

static struct snat_slot *slot_find(struct snat_table *t, const struct ip_addr *addr)
{
	uint32_t i = addr_hash(addr) & t->mask;

	while (t->slot[i].kind != SNAT_NOT && !ip_equal(&t->slot[i].addr, addr))
		i = (i + 1) & t->mask;
	return &t->slot[i];
}

static void slot_set(struct snat_table *t, const struct ip_addr *addr, enum snat_kind kind)
{
	struct snat_slot *s = slot_find(t, addr);

	/* An address that is both stays automap's: its upper ports belong to the kernel. */
	if (s->kind == SNAT_AUTOMAP)
		return;
	s->addr = *addr;
	s->kind = kind;
}

struct snat_table *snat_table_new(const struct snap_header *snap, unsigned workers)
{
	const struct snap_self *selfs = SNAP_ROWS(snap, SNAP_SELF, struct snap_self);
	const struct snap_snat_addr *pool = SNAP_ROWS(snap, SNAP_SNAT_ADDR, struct snap_snat_addr);
	uint32_t n = SNAP_COUNT(snap, SNAP_SELF) + SNAP_COUNT(snap, SNAP_SNAT_ADDR), size = 16;

	while (size < 2 * n)
		size <<= 1;
	struct snat_table *t = calloc(1, sizeof(*t) + size * sizeof(t->slot[0]));
	if (t == NULL)
		return NULL;
	t->workers = workers;
	t->mask = size - 1;
	for (uint32_t i = 0; i < SNAP_COUNT(snap, SNAP_SELF); i++)
		slot_set(t, &selfs[i].addr, SNAT_AUTOMAP);
	for (uint32_t i = 0; i < SNAP_COUNT(snap, SNAP_SNAT_ADDR); i++)
		slot_set(t, &pool[i].addr, SNAT_POOL);
	return t;
}

void snat_table_free(struct snat_table *t)
{
	free(t);
}

static unsigned last_port(enum snat_kind kind)
{
	return kind == SNAT_AUTOMAP ? SNAT_AUTOMAP_LAST : SNAT_POOL_LAST;
}

/* Blocks are of equal size, rounded down; what is left over at the top is nobody's. */
static unsigned block_size(enum snat_kind kind, unsigned workers)
{
	return (last_port(kind) - SNAT_PORT_FIRST + 1) / workers;
}

void snat_block(
	enum snat_kind kind, unsigned worker, unsigned workers, uint16_t *first, uint16_t *count)
{
	unsigned size = block_size(kind, workers);

	*first = (uint16_t)(SNAT_PORT_FIRST + worker * size);
	*count = (uint16_t)size;
}

enum snat_kind snat_owner(
	const struct snat_table *t, const struct ip_addr *addr, uint16_t port, unsigned *owner)
{
	enum snat_kind kind = slot_find((struct snat_table *)t, addr)->kind;

	if (kind == SNAT_NOT || port < SNAT_PORT_FIRST)
		return SNAT_NOT;
	unsigned block = (port - SNAT_PORT_FIRST) / block_size(kind, t->workers);
	if (port > last_port(kind) || block >= t->workers)
		return SNAT_NOT;
	*owner = block;
	return kind;
}
