/* SPDX-License-Identifier: BSD-3-Clause */
#include "health/health_detect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

struct health_detection health_detect(const struct health_timers *t)
{
	uint64_t first = t->up_interval ? t->up_interval : t->interval;
	uint64_t timed = first + (t->timeout > t->interval ? t->timeout - t->interval : t->timeout);
	struct health_detection d = {.silent = timed, .refusing = first, .wrong = timed};

	if (t->failures) {
		/* No answer counts as a failure when the next probe is due, a wrong one at once. */
		d.silent = smaller(timed, first + (uint64_t)t->failures * t->interval);
		d.wrong = smaller(timed, first + (uint64_t)(t->failures - 1) * t->interval);
	}
	return d;
}

/* The field that helps most: the one with the largest share of the time. */
static const char *advice(const struct health_timers *t)
{
	if (t->up_interval > t->interval && t->up_interval > t->timeout)
		return "lower up-interval";
	return t->up_interval ? "lower timeout or up-interval" : "lower timeout or interval";
}

bool health_detect_warn(const char *object, const struct health_timers *t, uint32_t limit,
	char *sentence, size_t size)
{
	struct health_detection d = health_detect(t);

	if (!limit || d.silent <= limit)
		return false;
	if (d.silent == d.wrong)
		snprintf(sentence, size,
			"%s: a server that falls silent or answers wrongly is noticed after up to "
			"%llu s, ",
			object, (unsigned long long)d.silent);
	else
		snprintf(sentence, size,
			"%s: a server that falls silent is noticed after up to %llu s, one that "
			"answers "
			"wrongly after up to %llu s, ",
			object, (unsigned long long)d.silent, (unsigned long long)d.wrong);
	size_t len = strlen(sentence);
	snprintf(sentence + len, size - len, "more than the %u s of sys db monitor.detectlimit: %s",
		limit, advice(t));
	return true;
}

/* --- of the model's monitors ---------------------------------------------------------------------- */

static uint32_t number_of(const struct object *o, const char *name)
{
	const struct field *f = model_field_find(o->kind, NULL, name);
	const char *at = f ? (const char *)o->data + f->offset : NULL;

	if (!f)
		return 0;
	return f->size == 1   ? *(const uint8_t *)at
	       : f->size == 2 ? *(const uint16_t *)at
			      : *(const uint32_t *)at;
}

bool health_advises(uint8_t kind)
{
	return kind == KIND_MONITOR_AGENT_CHECK || kind == KIND_MONITOR_SNMP_DCA;
}

bool health_detect_timers(const struct object *monitor, struct health_timers *out)
{
	*out = (struct health_timers){
		.interval = number_of(monitor, "interval"),
		.up_interval = number_of(monitor, "up-interval"),
		.timeout = number_of(monitor, "timeout"),
		.failures = number_of(monitor, "failures"),
	};
	return out->interval && out->timeout && !health_advises(monitor->kind);
}

/* Bits per id slot. */
struct checked {
	uint64_t *changed, *used, *named; /* by changes; by a rule; by a rule that changed */
};

static bool bit(const uint64_t *bits, uint32_t id)
{
	return bits[id_slot(id) / 64] >> id_slot(id) % 64 & 1;
}

static void bit_set(uint64_t *bits, uint32_t id)
{
	bits[id_slot(id) / 64] |= 1ull << id_slot(id) % 64;
}

static void rule_read(
	struct checked *c, const struct object *holder, const struct model_monitor_rule *rule)
{
	for (unsigned i = 0; i < rule->count; i++) {
		bit_set(c->used, rule->monitor[i]);
		if (bit(c->changed, holder->id))
			bit_set(c->named, rule->monitor[i]);
	}
}

static void rules_read(struct checked *c, const struct model *m)
{
	const struct object *o, *member;

	for (unsigned i = 0; (o = model_at(m, KIND_DEFAULT_NODE_MONITOR, i)); i++)
		rule_read(c, o, &model_default_node_monitor(o)->conf.rule);
	for (unsigned i = 0; (o = model_at(m, KIND_NODE, i)); i++)
		rule_read(c, o, &model_node(o)->conf.monitor);
	for (unsigned i = 0; (o = model_at(m, KIND_POOL, i)); i++) {
		rule_read(c, o, &model_pool(o)->conf.monitor);
		for (unsigned j = 0; (member = model_child_at(m, o, j)); j++)
			rule_read(c, member, &model_pool_member(member)->conf.monitor);
	}
}

static void monitor_check(const struct model *m, const struct object *o, uint32_t limit,
	void (*say)(void *ctx, const char *sentence), void *ctx)
{
	char name[MODEL_NAME_MAX + 64], sentence[1024];
	struct health_timers t;

	snprintf(name, sizeof(name), "%s %s", model_kinds[o->kind].words, o->path);
	if (health_detect_timers(o, &t) &&
		health_detect_warn(name, &t, limit, sentence, sizeof(sentence)))
		say(ctx, sentence);
}

static void checked_say(const struct checked *c, const struct model *m, bool all,
	void (*say)(void *ctx, const char *sentence), void *ctx)
{
	uint32_t limit = model_db_value(m, "monitor.detectlimit");
	const struct object *o;

	for (unsigned kind = 0; kind < MODEL_KINDS; kind++)
		for (unsigned i = 0; model_kind_is_monitor(kind) && (o = model_at(m, kind, i)); i++)
			if (bit(c->used, o->id) &&
				(all || bit(c->changed, o->id) || bit(c->named, o->id)))
				monitor_check(m, o, limit, say, ctx);
}

static bool concerns_rules(const struct model_changes *changes)
{
	for (unsigned i = 0; i < changes->count; i++) {
		unsigned kind = changes->row[i].kind;

		if (model_kind_is_monitor(kind) || kind == KIND_DEFAULT_NODE_MONITOR ||
			kind == KIND_NODE || kind == KIND_POOL || kind == KIND_POOL_MEMBER)
			return true;
	}
	return false;
}

void health_detect_check(const struct model *m, const struct model_changes *changes,
	void (*say)(void *ctx, const char *sentence), void *ctx)
{
	if (changes && !concerns_rules(changes))
		return;
	enum { WORDS = ID_SLOTS_MAX / 64 };
	uint64_t *bits = calloc(3 * (size_t)WORDS, sizeof(*bits));
	struct checked c = {bits, bits + WORDS, bits + 2 * (size_t)WORDS};

	if (!bits) {
		say(ctx, "no memory to tell how soon monitors notice a fault");
		return;
	}
	for (unsigned i = 0; changes && i < changes->count; i++)
		if (changes->row[i].config)
			bit_set(c.changed, changes->row[i].id);
	rules_read(&c, m);
	checked_say(&c, m, !changes, say, ctx);
	free(bits);
}
