/* SPDX-License-Identifier: BSD-3-Clause */
/* Setting fields: who may, what is supported, where references and texts are counted. */
#include "model/model_internal.h"

#include <stdio.h>

static bool names_objects(const struct field *f)
{
	return f->type == TYPE_REF || f->type == TYPE_REFS || f->type == TYPE_ENDPOINT ||
	       f->type == TYPE_MONITOR_RULE;
}

/* Counts what one field's data names. */
static void count_field(struct model *m, const struct field *f, const void *data, int by)
{
	const void *p = field_in(f, data);
	const struct model_list *list = p;
	const struct model_monitor_rule *rule = p;

	if (f->type == TYPE_REF)
		item_users(m, *(const uint32_t *)p, by);
	else if (f->type == TYPE_ENDPOINT)
		item_users(m, ((const struct model_endpoint *)p)->addr, by);
	else if (f->type == TYPE_REFS)
		for (unsigned i = 0; i < list->count; i++)
			item_users(m, list->entry[i], by);
	else if (f->type == TYPE_MONITOR_RULE)
		for (unsigned i = 0; i < rule->count; i++)
			item_users(m, rule->monitor[i], by);
}

void item_count_refs(struct model *m, const struct item *it, int by)
{
	const struct kind *k = kind_of(it);

	for (unsigned i = 0; i < k->field_count; i++)
		if (k->fields[i].refs)
			count_field(m, &k->fields[i], it->data, by);
}

void field_count_texts(struct model *m, const struct field *f, const void *value, int by)
{
	const struct model_list *list = value;

	if (f->type == TYPE_STRING || f->type == TYPE_ROWS)
		strings_count(&m->strings, *(const uint32_t *)value, by);
	for (unsigned i = 0; f->type == TYPE_STRINGS && i < list->count; i++)
		strings_count(&m->strings, list->entry[i], by);
}

void data_count_strings(struct model *m, enum model_kind kind, const void *data, int by)
{
	const struct kind *k = &model_kinds[kind];

	for (unsigned i = 0; i < k->field_count; i++)
		field_count_texts(m, &k->fields[i], field_in(&k->fields[i], data), by);
	if (!k->holds)
		return;
	const struct holds *h = (const struct holds *)((const char *)data + k->holds);
	for (unsigned i = 0; i < HOLD_CLASSES; i++)
		strings_count(&m->strings, h->by[i].reason, by);
}

void field_put(struct model *m, struct item *it, const struct field *f, const void *value)
{
	if (names_objects(f))
		count_field(m, f, it->data, -1);
	field_count_texts(m, f, field_in(f, it->data), -1);
	memcpy(field_at(f, it->data), value, f->size);
	if (names_objects(f))
		count_field(m, f, it->data, 1);
}

void change_default(struct model *m, struct item *it, const struct field *f)
{
	char value[VALUE_MAX];
	const struct kind *k = kind_of(it);

	if (f->hold || f->type == TYPE_HOLDS)
		return;
	memcpy(value, field_in(f, k->defaults), f->size);
	if (f->type == TYPE_REF && f->default_text) {
		const struct item *to = item_named(m, f, f->default_text);
		if (to && to != it)
			memcpy(value, &to->o.id, sizeof(to->o.id));
	}
	change_drop_pending(m, it, f);
	field_put(m, it, f, value);
	it->given &= ~field_bit(it, f);
}

void change_defaults(struct model *m, struct item *it)
{
	const struct kind *k = kind_of(it);

	for (unsigned i = 0; i < k->field_count; i++)
		if (k->fields[i].type == TYPE_REF && k->fields[i].default_text)
			change_default(m, it, &k->fields[i]);
}

/*
 * Whether the field may be set at all, by this actor; then the item is touched. ask: even where the value may turn
 * out to be what it was, of which set_take asks only then.
 */
static int set_begin(
	struct model *m, struct item *it, const struct field *f, bool ask, struct model_error *err)
{
	if ((ask || m->compared != it) && change_check(m, it, f, err))
		return err->code;
	if (it->deleted)
		return fail(m, err, -EINVAL, it, f->name,
			"comes after publish, which must be the last");
	if (!m->internal &&
		((f->class == FIELD_READ_ONLY && m->actor.class != HOLD_SYSTEM) || f->hidden))
		return fail(m, err, -EINVAL, it, f->name, "is read-only");
	if (!item_touch(m, it))
		return fail(m, err, -ENOMEM, it, f->name, "no memory");
	return 0;
}

/* Of what a name made, others than the name decide who holds it and what its agents and monitors say. */
static int check_ephemeral(const struct model *m, const struct item *it, const struct field *f,
	struct model_error *err)
{
	if (!item_is_ephemeral(it) || m->internal || m->actor.class == HOLD_SYSTEM ||
		(f && f->class == FIELD_LIVE && strcmp(f->name, "ratio")))
		return 0;
	return fail((struct model *)m, err, -EPERM, it, f ? f->name : NULL,
		"was made by name resolution: only who holds it can be changed, the rest is that "
		"of what it was made from");
}

static bool is_schema_default(
	const struct model *m, const struct item *it, const struct field *f, const void *value)
{
	struct item *to = f->type == TYPE_REF ? item_of(m, *(const uint32_t *)value) : NULL;

	if (f->type == TYPE_REF && f->default_text)
		return to && !strcmp(to->o.path, f->default_text);
	return !memcmp(field_in(f, kind_of(it)->defaults), value, f->size);
}

/* What is named before it is made is a change too. */
static int set_pending(struct model *m, struct item *it, const struct field *f, const char *name,
	struct model_error *err)
{
	if (m->compared == it && change_check(m, it, f, err))
		return err->code;
	return change_pending(m, it, f, name) ? fail(m, err, -ENOMEM, it, f->name, "no memory") : 0;
}

/*
 * The parsed value of a touched item's field, if the rules of the schema allow it; its texts are taken then. adds:
 * what is still to be found for the field stays so.
 */
static int set_take(struct model *m, struct item *it, const struct field *f, struct value *v,
	bool adds, struct model_error *err)
{
	const struct touch *t = touch_of(m, it);
	bool same = !memcmp(field_in(f, it->data), v->data, f->size) && !v->missing[0];

	if (m->compared == it && same && !change_may(m, it, f)) {
		field_count_texts(m, f, v->data, -1);
		return 0; /* written back as it was read */
	}
	if (m->compared == it && !same && change_check(m, it, f, err))
		return err->code;
	if (f->default_only && !is_schema_default(m, it, f, v->data) && !m->internal)
		return fail(m, err, -EOPNOTSUPP, it, f->name,
			"other values than \"%s\" are not supported yet",
			f->default_text ? f->default_text : "none");
	if (f->create_only && t->before && !same && !m->internal && !m->whole &&
		m->actor.class != HOLD_SYSTEM)
		return fail(m, err, -EINVAL, it, f->name,
			"cannot be changed: delete and create the object");
	if (!same && check_ephemeral(m, it, f, err))
		return -EPERM;
	if (!adds && names_objects(f))
		change_drop_pending(m, it, f);
	field_put(m, it, f, v->data);
	it->given |= field_bit(it, f);
	return v->missing[0] ? set_pending(m, it, f, v->missing, err) : 0;
}

int set_value(struct model *m, struct item *it, const struct field *f, struct value *v,
	struct model_error *err)
{
	int rc = set_begin(m, it, f, false, err);

	rc = rc ? rc : set_take(m, it, f, v, false, err);
	if (rc)
		field_count_texts(m, f, v->data, -1);
	return rc;
}

/* user-enabled and user-up take holds away, user-disabled and user-down set one. */
static int set_hold(struct model *m, struct item *it, const struct field *f, const struct value *v,
	struct model_error *err)
{
	const struct holds *h = (const struct holds *)((char *)it->data + kind_of(it)->holds);
	unsigned bits = h->by[m->actor.class].bits;
	bool same = v->data[0] == ((holds_bits(h) & f->hold) != 0);

	if (m->compared == it && same && !change_may(m, it, f))
		return 0; /* written back as it was read */
	if (m->compared == it && change_check(m, it, f, err))
		return err->code;
	bits = v->data[0] ? bits | f->hold : bits & ~(unsigned)f->hold;
	return change_hold(m, it, m->actor.class, bits, NULL,
		!v->data[0] && m->actor.class == HOLD_OPERATOR ? f->hold : 0, err);
}

/* Monitors that are there go into the value; the names of the others come first in the rule's. */
static unsigned rule_find(
	const struct model *m, struct rule_text *rule, struct model_monitor_rule *out)
{
	unsigned missing = 0;

	out->mode = rule->mode;
	out->min = rule->min;
	for (unsigned i = 0; i < rule->count; i++) {
		struct item *to = monitor_item(m, rule->name[i]);
		if (to)
			out->monitor[out->count++] = to->o.id;
		else
			memmove(rule->name[missing++], rule->name[i], sizeof(rule->name[i]));
	}
	return missing;
}

static int rule_take(struct model *m, struct item *it, const struct field *f, const char *text,
	struct rule_text *rule, struct model_error *err)
{
	struct value v = {0};
	unsigned missing;
	int rc = rule_parse(f, text, rule, v.reason, sizeof(v.reason));

	if (rc)
		return fail(m, err, rc, it, f->name, "%s", v.reason);
	missing = rule_find(m, rule, (struct model_monitor_rule *)v.data);
	rc = set_take(m, it, f, &v, false, err);
	for (unsigned i = 0; !rc && i < missing; i++)
		rc = set_pending(m, it, f, rule->name[i], err);
	return rc;
}

static int set_rule(struct model *m, struct item *it, const struct field *f, const char *text,
	struct model_error *err)
{
	struct rule_text *rule = malloc(sizeof(*rule));
	int rc = rule ? set_begin(m, it, f, false, err)
		      : fail(m, err, -ENOMEM, it, f->name, "no memory");

	if (!rc)
		rc = rule_take(m, it, f, text, rule, err);
	free(rule);
	return rc;
}

/* The same secret again stays as it is: encrypted anew it would look like another. */
static void keep_secret(
	struct model *m, const struct item *it, const struct field *f, struct value *v)
{
	uint32_t before = *(const uint32_t *)field_in(f, it->data), after;

	memcpy(&after, v->data, sizeof(after));
	if (before == after ||
		!secret_same(strings_text(&m->strings, before), strings_text(&m->strings, after)))
		return;
	strings_count(&m->strings, after, -1);
	strings_count(&m->strings, before, 1);
	memcpy(v->data, &before, sizeof(before));
}

/*
 * Encrypted text of another object, from somebody who may not see all: where he puts it, it may be decrypted, such
 * as a private key that a monitor would send as its password.
 */
static bool is_strange(
	const struct model *m, const struct item *it, const struct field *f, const struct value *v)
{
	const void *before = it->touch ? touch_of(m, it)->before : NULL;

	return !m->internal && m->actor.may && m->actor.role < ROLE_ADMIN &&
	       memcmp(field_in(f, it->data), v->data, f->size) &&
	       (!before || memcmp(field_in(f, before), v->data, f->size));
}

static int take_secret(struct model *m, struct item *it, const struct field *f, const char *text,
	struct value *v, struct model_error *err)
{
	keep_secret(m, it, f, v);
	if (!secret_is_sealed(text) || !is_strange(m, it, f, v))
		return 0;
	field_count_texts(m, f, v->data, -1);
	return fail(m, err, -EPERM, it, f->name,
		"was encrypted for another object: give it in plain text");
}

/* Whether the answer to a comparison would tell somebody who guesses that he was right. */
static bool is_guess(const struct field *f, const char *text)
{
	return (f->password || f->hash || f->class == FIELD_SECRET) && !secret_is_sealed(text);
}

int set_text(struct model *m, struct item *it, const struct field *f, const char *text,
	struct model_error *err)
{
	struct value v;
	int rc;

	if (field_is_list(f))
		return set_list(m, it, f, &text, 1, LIST_REPLACE, err);
	if (f->type == TYPE_MONITOR_RULE)
		return set_rule(m, it, f, text, err);
	if (f->type == TYPE_ROWS)
		return rows_set_text(m, it, f, text, LIST_REPLACE, err);
	rc = set_begin(m, it, f, is_guess(f, text), err);
	if (rc)
		return rc;
	if (f->password)
		return set_password(m, it, f, text, err);
	rc = value_parse(m, f, text, &v);
	if (rc)
		return fail(m, err, rc, it, f->name, "%s", v.reason);
	if (f->class == FIELD_SECRET && take_secret(m, it, f, text, &v, err))
		return -EPERM;
	return f->hold ? set_hold(m, it, f, &v, err) : set_take(m, it, f, &v, false, err);
}

static bool same_name(const char *line, const char *pair)
{
	size_t len = strcspn(pair, "=");

	return !strncmp(line, pair, len) && line[len] == '=';
}

static void add_line(struct text *out, const char *line, size_t len)
{
	text_printf(out, "%s%.*s", out->len ? "\n" : "", (int)len, line);
}

int set_pair(struct model *m, struct item *it, const struct field *f, const char *pair,
	struct model_error *err)
{
	const char *line = strings_text(&m->strings, *(const uint32_t *)field_in(f, it->data));
	bool keep = pair[strcspn(pair, "=")] && pair[strcspn(pair, "=") + 1];
	struct text all = {0};
	int rc;

	while (*line) {
		size_t len = strcspn(line, "\n");
		if (!same_name(line, pair)) {
			add_line(&all, line, len);
		} else if (keep) {
			add_line(&all, pair, strlen(pair));
			keep = false;
		}
		line += len + (line[len] != '\0');
	}
	if (keep)
		add_line(&all, pair, strlen(pair));
	rc = all.failed ? fail(m, err, -ENOMEM, it, f->name, "no memory")
			: set_text(m, it, f, all.data ? all.data : "", err);
	text_fini(&all);
	return rc;
}

int set_flag(
	struct model *m, struct item *it, const struct field *f, bool on, struct model_error *err)
{
	struct value v = {.data = {on}};
	int rc;

	if (f->action && !on)
		return 0;
	rc = set_begin(m, it, f, f->action, err); /* it changes more than this object's values */
	if (!rc && f->action)
		return policy_act(m, it, f, err);
	return rc ? rc : set_take(m, it, f, &v, false, err);
}

static bool is_untouched_default(
	const struct model *m, const struct item *it, const struct field *f)
{
	if (it->base || touch_of(m, it)->pending || it->given & field_bit(it, f) ||
		(f->type == TYPE_REF && f->default_text))
		return false;
	return !memcmp(field_in(f, it->data), field_in(f, kind_of(it)->defaults), f->size);
}

/* Fields that cannot change after creation, and those that others give, stay; so does a password. */
int set_defaults(struct model *m, struct item *it, field_mask keep, struct model_error *err)
{
	const struct kind *k = kind_of(it);

	if (check_ephemeral(m, it, NULL, err))
		return -EPERM;
	if (!item_touch(m, it))
		return fail(m, err, -ENOMEM, it, NULL, "no memory");
	for (unsigned i = 0; i < k->field_count; i++) {
		const struct field *f = &k->fields[i];
		if (f->create_only || f->hidden || f->class == FIELD_READ_ONLY ||
			(f->hash && !m->internal) || keep & field_bit(it, f))
			continue;
		if (is_untouched_default(m, it, f))
			continue; /* most of a big file */
		if (!f->hold && f->type != TYPE_HOLDS && !f->derived &&
			!value_is_default(m, it, f) && change_check(m, it, f, err))
			return -EPERM;
		if (!it->base) {
			change_default(m, it, f);
			continue;
		}
		field_count_texts(m, f, field_in(f, it->base), 1);
		change_drop_pending(m, it, f);
		field_put(m, it, f, field_in(f, it->base));
		it->given &= ~((field_mask)1 << i);
	}
	return 0;
}

/* ---- lists ---- */

static int list_change(struct model *m, struct item *it, const struct field *f,
	struct model_list *list, uint32_t entry, enum list_verb verb, struct model_error *err)
{
	unsigned i = 0;

	while (i < list->count && list->entry[i] != entry)
		i++;
	if (verb == LIST_DELETE) {
		if (i == list->count)
			return fail(m, err, -ENOENT, it, f->name, "has no such entry to delete");
		memmove(&list->entry[i], &list->entry[i + 1],
			(list->count - i - 1) * sizeof(list->entry[0]));
		list->entry[--list->count] = 0;
		return 0;
	}
	if (i < list->count)
		return 0;
	if (list->count >= f->max)
		return fail(m, err, -E2BIG, it, f->name, "takes at most %u entries", f->max);
	list->entry[list->count++] = entry;
	return 0;
}

/* The words that stand for a whole list. */
static bool list_word(
	const struct field *f, struct model_list *list, const char *text, enum list_verb verb)
{
	if (!strcmp(text, "none") && verb == LIST_REPLACE)
		memset(list, 0, sizeof(*list));
	else if (f->type == TYPE_SERVICES && !strcmp(text, "all"))
		*list = (struct model_list){.mode = verb == LIST_DELETE ? LIST_ENTRIES : LIST_ALL};
	else if (f->type == TYPE_SERVICES && !strcmp(text, "default"))
		list->mode = verb == LIST_DELETE ? LIST_ENTRIES : LIST_DEFAULT;
	else
		return false;
	return true;
}

/* A list as it grows, and what was parsed for it. */
struct growing {
	struct model_list list;
	char missing[MODEL_LIST_MAX][MODEL_PATH_MAX + 1];
	unsigned missings;
	struct model_list parsed; /* texts: counted once more than the list does */
};

static int list_grow(struct model *m, struct item *it, const struct field *f, const char *text,
	enum list_verb verb, struct growing *g, struct model_error *err)
{
	struct value v;
	uint32_t entry = 0;

	if (list_word(f, &g->list, text, verb))
		return 0;
	int rc = list_parse(m, f, text, &entry, &v);
	if (rc)
		return fail(m, err, rc, it, f->name, "%s", v.reason);
	if (f->type == TYPE_STRINGS && g->parsed.count < MODEL_LIST_MAX)
		g->parsed.entry[g->parsed.count++] = entry;
	if (v.missing[0] && (verb == LIST_DELETE || g->missings + g->list.count >= f->max))
		return fail(m, err, -ENOENT, it, f->name, "%s is not in the list, or one too many",
			v.missing);
	if (!v.missing[0])
		return list_change(m, it, f, &g->list, entry, verb, err);
	strcpy(g->missing[g->missings++], v.missing);
	return 0;
}

static int list_take(struct model *m, struct item *it, const struct field *f, enum list_verb verb,
	const struct growing *g, struct model_error *err)
{
	struct value v = {.missing = ""};

	memcpy(v.data, &g->list, sizeof(g->list));
	field_count_texts(m, f, &g->list, 1);
	int rc = set_take(m, it, f, &v, verb != LIST_REPLACE, err);
	if (rc)
		field_count_texts(m, f, &g->list, -1);
	for (unsigned i = 0; !rc && i < g->missings; i++)
		rc = set_pending(m, it, f, g->missing[i], err);
	return rc;
}

int set_list(struct model *m, struct item *it, const struct field *f, const char *const *text,
	unsigned count, enum list_verb verb, struct model_error *err)
{
	struct growing g = {.missings = 0};
	int rc = set_begin(m, it, f, false, err);

	if (!rc && verb != LIST_REPLACE)
		memcpy(&g.list, field_at(f, it->data), sizeof(g.list));
	for (unsigned i = 0; !rc && i < count; i++)
		rc = list_grow(m, it, f, text[i], verb, &g, err);
	if (!rc)
		rc = list_take(m, it, f, verb, &g, err);
	field_count_texts(m, f, &g.parsed, -1);
	return rc;
}
