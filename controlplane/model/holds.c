/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/holds.h"

#include <stdio.h>

#include "model/model_internal.h"

const char *const hold_class_name[HOLD_CLASSES] = {
	[HOLD_OPERATOR] = "operator",
	[HOLD_AGENT] = "agent",
	[HOLD_MONITOR] = "monitor",
	[HOLD_RULE] = "rule",
	[HOLD_SYSTEM] = "system",
};

const struct holds *model_holds(const struct object *o)
{
	return o->kind == KIND_NODE ? &model_node(o)->live.holds
				    : &model_pool_member(o)->live.holds;
}

unsigned holds_bits(const struct holds *h)
{
	unsigned bits = 0;

	for (unsigned i = 0; i < HOLD_CLASSES; i++)
		bits |= h->by[i].bits;
	return bits;
}

static void note_cleared(struct model *m, const struct item *it, enum hold_class class)
{
	size_t len = strlen(m->note);

	snprintf(m->note + len, sizeof(m->note) - len, "%s%s: the hold of %s %s was cleared",
		len ? "; " : "", it->o.path,
		class == HOLD_AGENT || class == HOLD_OPERATOR ? "an" : "a", hold_class_name[class]);
}

static void hold_put(struct model *m, struct hold *hold, unsigned bits, uint32_t reason)
{
	strings_count(&m->strings, hold->reason, -1);
	hold->bits = (uint8_t)bits;
	hold->reason = reason;
}

/* What others hold of bits goes away, and is said. */
static void clear_others(struct model *m, struct item *it, struct holds *h, unsigned bits)
{
	for (unsigned i = 0; i < HOLD_CLASSES; i++) {
		struct hold *other = &h->by[i];
		unsigned left = other->bits & ~bits;
		if (left == other->bits)
			continue;
		if (i != HOLD_OPERATOR)
			note_cleared(m, it, i);
		strings_count(&m->strings, left ? other->reason : 0, 1);
		hold_put(m, other, left, left ? other->reason : 0);
	}
}

int change_hold(struct model *m, struct item *it, enum hold_class class, unsigned bits,
	const char *reason, unsigned clear, struct model_error *err)
{
	struct holds *h = (struct holds *)((char *)it->data + kind_of(it)->holds);
	uint32_t handle = 0;

	if (!item_touch(m, it))
		return fail(m, err, -ENOMEM, it, "holds", "no memory");
	if (!reason)
		reason = m->actor.reason ? m->actor.reason : "";
	if (strlen(reason) > HOLD_REASON_MAX)
		return fail(m, err, -EINVAL, it, "holds",
			"a reason of %zu bytes is more than the %u allowed", strlen(reason),
			HOLD_REASON_MAX);
	if (bits)
		handle = strings_get(&m->strings, reason, strlen(reason));
	if (handle == UINT32_MAX)
		return fail(m, err, -ENOMEM, it, "holds", "no memory");
	hold_put(m, &h->by[class], bits, handle);
	clear_others(m, it, h, clear);
	touch_of(m, it)->enabled |= clear && !bits;
	return 0;
}

int model_hold(struct model *m, uint32_t id, enum hold_class class, unsigned bits,
	const char *reason, struct model_error *err)
{
	struct item *it = item_of(m, id);
	unsigned clear = class == HOLD_OPERATOR && !bits ? HOLD_SESSION | HOLD_STATE : 0;
	int rc;

	if (!m->open || !it || it->deleted || !kind_of(it)->holds || class >= HOLD_CLASSES ||
		bits > (HOLD_SESSION | HOLD_STATE))
		return fail_named(
			m, err, -EINVAL, MODEL_KINDS, "", "holds", "nothing that can be held");
	rc = change_check_hold(m, it, class, err);
	return rc ? rc : change_hold(m, it, class, bits, reason ? reason : "", clear, err);
}
