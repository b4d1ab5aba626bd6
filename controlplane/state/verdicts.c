/* SPDX-License-Identifier: BSD-3-Clause */
#include "state/verdicts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ids.h"

struct verdict_slot {
	uint32_t id; /* ID_NONE: free */
	uint8_t verdict;
	uint64_t since;
	char *reason; /* NULL = "" */
};

struct verdicts {
	struct verdict_slot *slot; /* by id_slot() */
	uint32_t slots;
};

struct verdicts *verdicts_new(void)
{
	return calloc(1, sizeof(struct verdicts));
}

void verdicts_free(struct verdicts *v)
{
	if (!v)
		return;
	for (uint32_t i = 0; i < v->slots; i++)
		free(v->slot[i].reason);
	free(v->slot);
	free(v);
}

struct verdict_row verdicts_get(const struct verdicts *v, uint32_t id)
{
	const struct verdict_slot *s = v && id_slot(id) < v->slots ? &v->slot[id_slot(id)] : NULL;

	if (!s || s->id != id)
		return (struct verdict_row){.verdict = VERDICT_UNCHECKED, .reason = ""};
	return (struct verdict_row){s->verdict, s->since, s->reason ? s->reason : ""};
}

static int slots_grow(struct verdicts *v, uint32_t slot)
{
	uint32_t slots = v->slots ? v->slots : 1024;

	while (slots <= slot)
		slots *= 2;
	if (slots == v->slots)
		return 0;
	struct verdict_slot *more = reallocarray(v->slot, slots, sizeof(*more));
	if (!more)
		return -ENOMEM;
	memset(more + v->slots, 0, (slots - v->slots) * sizeof(*more));
	v->slot = more;
	v->slots = slots;
	return 0;
}

static int slot_forget(struct verdicts *v, uint32_t id)
{
	struct verdict_slot *s = id_slot(id) < v->slots ? &v->slot[id_slot(id)] : NULL;

	if (!s || s->id != id)
		return 0;
	free(s->reason);
	*s = (struct verdict_slot){0};
	return 1;
}

int verdicts_set(
	struct verdicts *v, uint32_t id, enum verdict verdict, uint64_t since, const char *reason)
{
	if (verdict == VERDICT_UNCHECKED)
		return slot_forget(v, id);
	char *copy = reason && *reason ? strdup(reason) : NULL;
	if ((reason && *reason && !copy) || slots_grow(v, id_slot(id))) {
		free(copy);
		return -ENOMEM;
	}
	struct verdict_slot *s = &v->slot[id_slot(id)];
	bool same = s->id == id && s->verdict == verdict;
	free(s->reason);
	*s = (struct verdict_slot){id, (uint8_t)verdict, same ? s->since : since, copy};
	return !same;
}
