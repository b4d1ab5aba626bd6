/* SPDX-License-Identifier: BSD-3-Clause */
/* Monitor rules: which monitors look at a server, and how many of them must be content. */
#include "model/model_internal.h"

#include <stdio.h>

struct words {
	const char *p;
	char word[MODEL_PATH_MAX + 1]; /* "" at the end */
	bool too_long;
};

/* Braces are words of their own. */
static void next(struct words *w)
{
	size_t len;

	w->p += strspn(w->p, " \t\r\n");
	len = strcspn(w->p, " \t\r\n{}");
	if (!len && *w->p)
		len = 1;
	w->too_long = len > MODEL_PATH_MAX;
	snprintf(w->word, sizeof(w->word), "%.*s", (int)len, w->p);
	w->p += len;
}

static bool at(const struct words *w, const char *word)
{
	return !strcmp(w->word, word);
}

static int refuse(char *reason, size_t size, const char *text)
{
	snprintf(reason, size, "%s", text);
	return -EINVAL;
}

static int add_name(struct words *w, struct rule_text *rule, char *reason, size_t size)
{
	char *path = rule->name[rule->count];
	int rc;

	if (rule->count == MODEL_RULE_MAX) {
		snprintf(reason, size, "takes at most %u monitors", MODEL_RULE_MAX);
		return -E2BIG;
	}
	if (!*w->word || w->too_long || at(w, "{") || at(w, "}"))
		return refuse(reason, size, "lacks the name of a monitor");
	rc = name_path(KIND_MONITOR_HTTP, w->word, path, reason, size);
	for (unsigned i = 0; !rc && i < rule->count; i++)
		if (!strcmp(rule->name[i], path)) {
			snprintf(reason, size, "names %s twice", path);
			return -EINVAL;
		}
	rule->count += rc == 0;
	next(w);
	return rc;
}

/* Behind "min": "2 of { a b c }", also without braces. */
static int parse_min(struct words *w, struct rule_text *rule, char *reason, size_t size)
{
	static const char form[] = "is not of the form: min 1 of { a b }";
	char *end;
	unsigned long min = strtoul(w->word, &end, 10);
	bool braces;
	int rc = 0;

	if (*w->word < '0' || *w->word > '9' || *end)
		return refuse(reason, size, form);
	next(w);
	if (!at(w, "of"))
		return refuse(reason, size, form);
	next(w);
	braces = at(w, "{");
	if (braces)
		next(w);
	while (!rc && *w->word && !at(w, "}"))
		rc = add_name(w, rule, reason, size);
	if (rc)
		return rc;
	if (at(w, "}") != braces)
		return refuse(reason, size, form);
	if (braces)
		next(w);
	if (min < 1 || min > rule->count) {
		snprintf(reason, size, "min %lu is not between 1 and the number of monitors, %u",
			min, rule->count);
		return -EINVAL;
	}
	rule->mode = RULE_MIN;
	rule->min = (uint8_t)min;
	return 0;
}

static int parse_all(struct words *w, struct rule_text *rule, char *reason, size_t size)
{
	int rc = add_name(w, rule, reason, size);

	while (!rc && at(w, "and")) {
		next(w);
		rc = add_name(w, rule, reason, size);
	}
	rule->mode = RULE_ALL;
	return rc;
}

/* A single word that stands for a whole rule. */
static bool whole_word(const struct field *f, struct words *w, struct rule_text *rule)
{
	if (at(w, "default") && !strcmp(f->default_text, "default"))
		rule->mode = RULE_DEFAULT;
	else if (*w->word && !at(w, "none"))
		return false;
	next(w);
	return true;
}

int rule_parse(
	const struct field *f, const char *text, struct rule_text *rule, char *reason, size_t size)
{
	struct words w = {.p = text};
	int rc = 0;

	memset(rule, 0, sizeof(*rule));
	next(&w);
	if (at(&w, "min")) {
		next(&w);
		rc = parse_min(&w, rule, reason, size);
	} else if (!whole_word(f, &w, rule)) {
		rc = parse_all(&w, rule, reason, size);
	}
	if (rc || !*w.word)
		return rc;
	snprintf(reason, size, "\"%s\" makes no sense there: give a and b, or min 1 of { a b }",
		w.word);
	return -EINVAL;
}

void rule_text(const struct model *m, const struct model_monitor_rule *rule, struct text *out)
{
	const char *between = rule->mode == RULE_MIN ? " " : " and ";

	if (rule->mode == RULE_NONE || rule->mode == RULE_DEFAULT) {
		text_printf(out, rule->mode == RULE_NONE ? "none" : "default");
		return;
	}
	if (rule->mode == RULE_MIN)
		text_printf(out, "min %u of { ", rule->min);
	for (unsigned i = 0; i < rule->count; i++) {
		struct item *it = item_of(m, rule->monitor[i]);
		text_printf(out, "%s%s", i ? between : "", it ? it->o.path : "none");
	}
	if (rule->mode == RULE_MIN)
		text_printf(out, " }");
}

const struct model_monitor_rule *model_monitor_rule(const struct model *m, const struct object *o)
{
	static const struct model_monitor_rule none;
	const struct node *node = model_node(o);
	const struct pool *pool = model_pool(o);
	const struct pool_member *member = model_pool_member(o);

	if (member && member->conf.monitor.mode != RULE_DEFAULT)
		return &member->conf.monitor;
	if (member)
		pool = model_pool(model_get(m, o->owner));
	if (pool)
		return &pool->conf.monitor;
	if (node && node->conf.monitor.mode != RULE_DEFAULT)
		return &node->conf.monitor;
	const struct default_node_monitor *d =
		model_default_node_monitor(model_at(m, KIND_DEFAULT_NODE_MONITOR, 0));
	return d && (node || model_default_node_monitor(o)) ? &d->conf.rule : &none;
}
