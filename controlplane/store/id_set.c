/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/id_set.h"

#include <errno.h>
#include <stdlib.h>

#include "base/ids.h"

int id_set_init(struct id_set *s)
{
	*s = (struct id_set){.slots = calloc(ID_SLOTS_MAX / 64, sizeof(*s->slots))};
	return s->slots ? 0 : -ENOMEM;
}

void id_set_fini(struct id_set *s)
{
	free(s->id);
	free(s->slots);
	*s = (struct id_set){0};
}

bool id_set_has(const struct id_set *s, uint32_t id)
{
	return s->slots[id_slot(id) / 64] >> id_slot(id) % 64 & 1;
}

int id_set_add(struct id_set *s, uint32_t id)
{
	if (id_set_has(s, id))
		return 0;
	if (s->count == s->size) {
		unsigned size = s->size ? 2 * s->size : 64;
		uint32_t *more = reallocarray(s->id, size, sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->id = more;
		s->size = size;
	}
	s->id[s->count++] = id;
	s->slots[id_slot(id) / 64] |= 1ull << id_slot(id) % 64;
	return 0;
}

void id_set_clear(struct id_set *s)
{
	for (unsigned i = 0; i < s->count; i++)
		s->slots[id_slot(s->id[i]) / 64] = 0;
	s->count = 0;
}
