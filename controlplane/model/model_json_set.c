/* SPDX-License-Identifier: BSD-3-Clause */
/* iControl REST bodies into objects. */
#include "model/model_internal.h"

#include <stdio.h>

#include "ipc/ipc.h"

/* What a body repeats of the object's identity; not fields. */
static bool is_identity(const char *key)
{
	static const char *const names[] = {"kind", "name", "partition", "subPath", "fullPath",
		"generation", "selfLink", "nameReference"};
	size_t len = strlen(key);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], key))
			return true;
	return len > 9 && !strcmp(key + len - 9, "Reference");
}

/* "Not given", in the ways clients say it. */
static bool is_nothing(const json_t *value)
{
	return json_is_null(value) || (json_is_object(value) && !json_object_size(value));
}

/* Text of a scalar, to be freed; NULL if it has none. */
static char *scalar_text(const struct field *f, const json_t *value)
{
	char *text = NULL;

	if (json_is_integer(value)) {
		if (asprintf(&text, "%lld", (long long)json_integer_value(value)) < 0)
			text = NULL;
		return text;
	}
	if (json_is_real(value))
		return json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
	/* A boolean for one of two words: no, yes; disabled, enabled. */
	if (json_is_boolean(value) && f->type == TYPE_ENUM && f->words[0].text &&
		f->words[1].text && !f->words[2].text)
		return strdup(f->words[json_is_true(value)].text);
	return ipc_text_get(value, NULL);
}

/* Full path of a list's entry: a string, or an object with name and partition, or fullPath. */
static char *entry_name(const json_t *entry)
{
	const char *full = json_string_value(json_object_get(entry, "fullPath"));
	const char *name = json_string_value(json_object_get(entry, "name"));
	const char *partition = json_string_value(json_object_get(entry, "partition"));
	const char *sub = json_string_value(json_object_get(entry, "subPath"));
	char *path = NULL;

	if (json_is_string(entry))
		return strdup(json_string_value(entry));
	if (!name || *name == '/')
		return full || name ? strdup(name ? name : full) : NULL;
	if (!partition)
		return strdup(name);
	if (asprintf(&path, "/%s%s%s/%s", partition, sub && *sub ? "/" : "", sub ? sub : "", name) <
		0)
		return NULL;
	return path;
}

static int set_array(struct model *m, struct item *it, const struct field *f, const json_t *value,
	struct model_error *err)
{
	const char *text[MODEL_LIST_MAX + 2];
	char *copy[MODEL_LIST_MAX + 2];
	unsigned count = 0;
	size_t i;
	json_t *entry;
	int rc = 0;

	json_array_foreach(value, i, entry)
	{
		copy[count] = count <= MODEL_LIST_MAX ? entry_name(entry) : NULL;
		if (!copy[count]) {
			rc = fail(m, err, -EINVAL, it, f->name, "is no list of at most %u names",
				f->max);
			break;
		}
		text[count] = copy[count];
		count++;
	}
	if (!rc)
		rc = set_list(m, it, f, text, count, LIST_REPLACE, err);
	for (unsigned j = 0; j < count; j++)
		free(copy[j]);
	return rc;
}

/* What a body may say of a field and nobody takes. */
static bool is_ignored(const struct field *f)
{
	return f->class == FIELD_READ_ONLY || f->derived;
}

static int set_field(struct model *m, struct item *it, const struct field *f, const char *key,
	const json_t *value, struct model_error *err)
{
	bool opposite = f->rest_opposite && !strcmp(key, f->rest_opposite);
	char *text;
	int rc;

	if (is_ignored(f))
		return 0;
	if (f->type == TYPE_FLAG) {
		if (!json_is_boolean(value))
			return fail(m, err, -EINVAL, it, f->name, "is true or false");
		return set_flag(m, it, f, json_is_true(value) != opposite, err);
	}
	if (f->type == TYPE_ROWS && json_is_array(value))
		return rows_set(m, it, f, value, LIST_REPLACE, err);
	if (field_is_list(f) && json_is_array(value))
		return set_array(m, it, f, value, err);
	text = scalar_text(f, value);
	if (!text)
		return fail(m, err, -EINVAL, it, f->name, "has a value of the wrong type");
	if ((f->type == TYPE_STRING || f->type == TYPE_ROWS) && !strcmp(text, "none"))
		*text = '\0';
	rc = set_text(m, it, f, text, err);
	free(text);
	return rc;
}

/* ---- children ---- */

static int set_body(struct model *m, struct item *it, const json_t *body, struct model_error *err);

static int set_child(struct model *m, struct item *owner, enum model_kind kind, const json_t *entry,
	struct model_error *err)
{
	char path[MODEL_PATH_MAX + 1], why[MODEL_REASON_MAX];
	char *name = entry_name(entry);
	struct item *it;
	uint32_t id;
	int rc;

	if (!name)
		return fail(m, err, -EINVAL, owner, model_kinds[kind].words,
			"has an entry without a name");
	rc = name_path(kind, name, path, why, sizeof(why));
	if (rc) {
		rc = fail_named(m, err, rc, kind, name, NULL, "%s", why);
		free(name);
		return rc;
	}
	it = item_find(m, kind, owner->o.id, path);
	/* of these the body says all */
	if (it && model_kinds[kind].items) {
		rc = model_delete(m, it->o.id, err);
		it = NULL;
	}
	if (!it && !rc) {
		rc = model_create(m, kind, owner->o.id, name, &id, err);
		it = item_of(m, id);
	}
	free(name);
	if (rc)
		return rc;
	it->unseen = false;
	return json_is_object(entry) ? set_body(m, it, entry, err) : 0;
}

/* The array is all there is: children that it does not name go away. */
static int set_children(struct model *m, struct item *owner, enum model_kind kind,
	const json_t *value, struct model_error *err)
{
	struct order *o = &owner->children;
	json_t *entry;
	size_t i;
	int rc = 0;

	if (!json_is_array(value))
		return fail(m, err, -EINVAL, owner, model_kinds[kind].words, "is no list");
	for (unsigned j = 0; j < o->count; j++)
		if (o->v[j]->o.kind == kind)
			o->v[j]->unseen = !item_is_ephemeral(o->v[j]);
	json_array_foreach(value, i, entry)
	{
		rc = set_child(m, owner, kind, entry, err);
		if (rc)
			break;
	}
	for (unsigned j = 0; j < o->count; j++) {
		struct item *it = o->v[j];
		if (it->unseen && !it->deleted && !rc)
			rc = model_delete(m, it->o.id, err);
		it->unseen = false;
	}
	return rc;
}

/* ---- bodies ---- */

static int set_group(struct model *m, struct item *it, const char *group, const json_t *body,
	struct model_error *err)
{
	const char *key;
	json_t *value;
	int rc = 0;

	json_object_foreach((json_t *)body, key, value)
	{
		const struct field *f = model_field_rest(it->o.kind, group, key);
		if (rc || is_nothing(value) || is_identity(key))
			continue;
		rc = f ? set_field(m, it, f, key, value, err)
		       : fail(m, err, -EINVAL, it, key, "is no property of %s", group);
	}
	return rc;
}

static bool is_group(enum model_kind kind, const char *key)
{
	const struct kind *k = &model_kinds[kind];

	for (unsigned i = 0; i < k->field_count; i++)
		if (k->fields[i].rest_group && !strcmp(k->fields[i].rest_group, key))
			return true;
	return false;
}

static int set_property(struct model *m, struct item *it, const char *key, const json_t *value,
	struct model_error *err)
{
	const struct kind *k = kind_of(it);
	const struct field *f = model_field_rest(it->o.kind, NULL, key);

	if (is_nothing(value))
		return 0;
	for (int child = k->child; child >= 0; child = model_kinds[child].sibling)
		if (!strcmp(key, model_kinds[child].rest))
			return set_children(m, it, (enum model_kind)child, value, err);
	if (json_is_object(value) && is_group(it->o.kind, key))
		return set_group(m, it, key, value, err);
	if (f && !f->hidden && f->type != TYPE_HOLDS)
		return set_field(m, it, f, key, value, err);
	if (json_is_array(value) && !json_array_size(value))
		return 0; /* nothing of what is not supported */
	return fail(m, err, -EINVAL, it, key, "is no property of %s that is supported", k->full);
}

/* The children whose "<rest>Reference" this is, if they are taken from there; or -1. */
static int kind_of_items(const struct item *it, const char *key)
{
	int child = kind_of(it)->child;

	while (child >= 0) {
		size_t len = strlen(model_kinds[child].rest);
		if (model_kinds[child].items && !strncmp(key, model_kinds[child].rest, len) &&
			!strcmp(key + len, "Reference"))
			break;
		child = model_kinds[child].sibling;
	}
	return child;
}

static int set_body(struct model *m, struct item *it, const json_t *body, struct model_error *err)
{
	const char *key;
	json_t *value;
	int rc = 0;

	json_object_foreach((json_t *)body, key, value)
	{
		int child = kind_of_items(it, key);
		if (!rc && child >= 0 && json_object_get(value, "items"))
			rc = set_children(m, it, (enum model_kind)child,
				json_object_get(value, "items"), err);
		else if (!rc && !is_identity(key))
			rc = set_property(m, it, key, value, err);
	}
	return rc;
}

/* The fields that a body, or a group of it, gives a value. */
static field_mask named_in(const struct item *it, const char *group, const json_t *body)
{
	const char *key;
	json_t *value;
	field_mask named = 0;

	json_object_foreach((json_t *)body, key, value)
	{
		const struct field *f = model_field_rest(it->o.kind, group, key);
		if (f && !is_nothing(value) && !is_identity(key) && !is_ignored(f))
			named |= field_bit(it, f);
		if (!group && json_is_object(value) && is_group(it->o.kind, key))
			named |= named_in(it, key, value);
	}
	return named;
}

/* Who writes back what he read changes only what is another value then. */
static int set_whole(
	struct model *m, struct item *it, const json_t *body, bool replace, struct model_error *err)
{
	int rc = replace ? set_defaults(m, it, named_in(it, NULL, body), err) : 0;

	m->compared = it;
	rc = rc ? rc : set_body(m, it, body, err);
	m->compared = NULL;
	return rc;
}

int model_set_json(
	struct model *m, uint32_t id, const json_t *body, bool replace, struct model_error *err)
{
	struct item *it = item_of(m, id);

	if (!m->open || m->failed || !it || it->deleted || !json_is_object(body))
		return fail_named(
			m, err, -EINVAL, MODEL_KINDS, "", NULL, "no body, object or transaction");
	return set_whole(m, it, body, replace, err);
}

int model_create_json(struct model *m, enum model_kind kind, uint32_t owner, const json_t *body,
	uint32_t *id, struct model_error *err)
{
	char *name = json_is_object(body) ? entry_name(body) : NULL;
	uint32_t made = ID_NONE;
	int rc;

	if (!name)
		return fail_named(m, err, -EINVAL, kind, "", "name", "is required");
	rc = model_create(m, kind, owner, name, &made, err);
	free(name);
	if (!rc)
		rc = set_body(m, item_of(m, made), body, err);
	if (id)
		*id = made;
	return rc;
}
