/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why a server is in its state, for people: who holds it and why, and, apart from that, what checks say. Both can be
 * true at once, and both are told.
 */
#include "main/cp.h"

/* "forced offline by operator (upgrade), disabled by agent (agent says drain)", or nothing. */
static void holds_sentence(const struct cp *cp, const struct object *o, struct text *out)
{
	unsigned weight = o->kind == KIND_NODE ? model_node(o)->live.agent_weight
					       : model_pool_member(o)->live.agent_weight;

	for (unsigned i = 0; i < HOLD_CLASSES; i++) {
		const struct hold *h = &model_holds(o)->by[i];
		const char *reason = model_string(cp->model, h->reason);

		if (!h->bits)
			continue;
		text_printf(out, "%s%s by %s", out->len ? ", " : "",
			h->bits & HOLD_STATE ? "forced offline" : "disabled", hold_class_name[i]);
		if (*reason)
			text_printf(out, " (%s)", reason);
	}
	if (!weight)
		text_printf(out, "%sdisabled by agent (its weight is 0 %%)", out->len ? ", " : "");
}

static bool says_down(const struct state_side *s)
{
	return s && (s->verdict == VERDICT_DOWN || s->verdict == VERDICT_RESUME);
}

static bool says(const struct state_side *s, enum verdict verdict)
{
	return s && s->verdict == verdict;
}

/* Behind the sentence that state_of_server has for it: the monitor with its error, or who holds the node. */
static void cause(const struct cp *cp, const struct object *o, const struct state_side *own,
	const struct state_side *parent, struct text *out)
{
	const struct object *node =
		parent ? model_get(cp->model, model_pool_member(o)->conf.node) : NULL;
	const char *reason = "";
	struct text holds = {0};

	if (says_down(parent) && !(parent->holds & HOLD_STATE))
		reason = verdicts_get(cp->verdicts, node->id).reason;
	else if (!(parent && parent->holds & HOLD_STATE) &&
		 (says_down(own) || says(own, VERDICT_CHECKING)))
		reason = verdicts_get(cp->verdicts, o->id).reason;
	else if (says(parent, VERDICT_CHECKING))
		reason = verdicts_get(cp->verdicts, node->id).reason;
	else if (parent && parent->holds)
		holds_sentence(cp, node, &holds);
	else if (says(parent, VERDICT_DRAIN))
		reason = verdicts_get(cp->verdicts, node->id).reason;
	else if (says(own, VERDICT_DRAIN))
		reason = verdicts_get(cp->verdicts, o->id).reason;
	if (holds.data)
		reason = holds.data;
	if (*reason)
		text_printf(out, " (%s)", reason);
	text_fini(&holds);
}

void cp_reason(const struct cp *cp, const struct object *o, const struct state_side *own,
	const struct state_side *parent, struct text *out)
{
	struct state_side unheld = {.verdict = own->verdict, .at_limit = own->at_limit};
	struct state s = state_of_server(&unheld, parent);

	holds_sentence(cp, o, out);
	if (out->len && *out->data >= 'a' && *out->data <= 'z')
		*out->data += 'A' - 'a';
	if (out->len && s.avail == LIVE_BITS)
		return;
	text_printf(out, "%s%s", out->len ? "; besides: " : "", s.reason);
	cause(cp, o, own, parent, out);
}
