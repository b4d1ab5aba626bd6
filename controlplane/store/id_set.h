/* SPDX-License-Identifier: BSD-3-Clause */
/* Ids of objects, each once. */
#ifndef WEIR_STORE_ID_SET_H
#define WEIR_STORE_ID_SET_H

#include <stdbool.h>
#include <stdint.h>

struct id_set {
	uint32_t *id;
	unsigned count, size;
	uint64_t *slots; /* bit per id slot: is in id */
};

/* 0 or -ENOMEM. */
int id_set_init(struct id_set *s);
void id_set_fini(struct id_set *s);

bool id_set_has(const struct id_set *s, uint32_t id);
/* 0 or -ENOMEM. */
int id_set_add(struct id_set *s, uint32_t id);
void id_set_clear(struct id_set *s);

#endif
