/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fields that are a list of named rows (records of a data group, metadata): kept as one text, a JSON array
 * of arrays, each a name and a text for every column of the schema. They may be long, and few are.
 */
#include <jansson.h>

#include <stdio.h>

#include "ipc/ipc.h"
#include "model/model_internal.h"

const struct column *rows_column(const struct field *f, const char *name)
{
	for (const struct column *c = f->columns; c->name; c++)
		if (!strcmp(c->name, name) || !strcmp(c->rest, name))
			return c;
	return NULL;
}

static const char *rows_text(const struct model *m, const struct field *f, const void *data)
{
	return strings_text(&m->strings, *(const uint32_t *)field_in(f, data));
}

/* The rows of an object; an empty array if it has none. */
static json_t *rows_of(const struct model *m, const struct field *f, const void *data)
{
	const char *text = rows_text(m, f, data);
	json_t *rows = *text ? json_loads(text, 0, NULL) : NULL;

	return rows ? rows : json_array();
}

static const char *name_of(const json_t *row)
{
	return json_string_value(json_array_get(row, 0));
}

/* ---- one row ---- */

/* Texts of the words that a column takes, for a refusal. */
static void words_text(const struct column *c, char *buf, size_t size)
{
	size_t at = 0;

	for (const char *const *w = c->words; *w && at < size; w++)
		at += (size_t)snprintf(buf + at, size - at, "%s%s", at ? ", " : "", *w);
}

static bool word_known(const struct column *c, const char *text)
{
	const char *const *w = c->words;

	while (w && *w && strcmp(*w, text))
		w++;
	return !w || *w;
}

static bool number_ok(const struct column *c, const char *text)
{
	size_t digits = strspn(text, "0123456789");
	unsigned long number = strtoul(text, NULL, 10);

	return digits && digits <= 10 && !text[digits] && number >= c->min && number <= c->max;
}

static json_t *text_value(struct model *m, struct item *it, const struct field *f, const char *text,
	struct model_error *err)
{
	json_t *value = json_string(text);

	if (!value)
		fail(m, err, -EINVAL, it, f->name, "has a text that is not UTF-8");
	return value;
}

/* A value as it is kept: references by their path. NULL: refused. */
static json_t *value_of(struct model *m, struct item *it, const struct field *f,
	const struct column *c, const char *name, const char *text, struct model_error *err)
{
	char path[MODEL_PATH_MAX + 1], why[MODEL_REASON_MAX];

	if (!word_known(c, text)) {
		words_text(c, why, sizeof(why));
		fail(m, err, -EINVAL, it, f->name, "%s: %s: \"%s\" is none of: %s", name, c->name,
			text, why);
		return NULL;
	}
	if (c->max && !number_ok(c, text)) {
		fail(m, err, -EINVAL, it, f->name, "%s: %s: \"%s\" is not between %u and %u", name,
			c->name, text, c->min, c->max);
		return NULL;
	}
	if (!c->ref_count || !*text || !strcmp(text, "none"))
		return text_value(m, it, f, c->ref_count ? "" : text, err);
	if (name_path(c->refs[0], text, path, why, sizeof(why)) == 0)
		return json_string(path);
	fail(m, err, -EINVAL, it, f->name, "%s: %s: %s", name, c->name, why);
	return NULL;
}

/* Text of a scalar, to be freed. */
static char *scalar(const json_t *value)
{
	char *text = NULL;

	if (json_is_boolean(value))
		return strdup(json_is_true(value) ? "true" : "false");
	if (!json_is_integer(value))
		return ipc_text_get(value, NULL);
	if (asprintf(&text, "%lld", (long long)json_integer_value(value)) < 0)
		return NULL;
	return text;
}

static bool is_decoration(const char *key)
{
	size_t len = strlen(key);

	return !strcmp(key, "name") || !strcmp(key, "partition") ||
	       (len > 9 && !strcmp(key + len - 9, "Reference"));
}

static int row_set(struct model *m, struct item *it, const struct field *f, json_t *row,
	const char *key, const json_t *value, struct model_error *err)
{
	const struct column *c = rows_column(f, key);
	char *text;
	json_t *kept;

	if (is_decoration(key) || json_is_null(value))
		return 0;
	if (!c)
		return fail(m, err, -EINVAL, it, f->name, "%s: %s is no field of an entry",
			name_of(row), key);
	text = scalar(value);
	if (!text)
		return fail(m, err, -EINVAL, it, f->name, "%s: %s has a value of the wrong type",
			name_of(row), key);
	kept = value_of(m, it, f, c, name_of(row), text, err);
	free(text);
	if (kept)
		json_array_set_new(row, 1 + (size_t)(c - f->columns), kept);
	return kept ? 0 : -EINVAL;
}

static int row_begin(struct model *m, struct item *it, const struct field *f, json_t *row,
	const char *name, struct model_error *err)
{
	json_t *text = text_value(m, it, f, name, err);

	if (!text)
		return -EINVAL;
	json_array_append_new(row, text);
	for (const struct column *c = f->columns; c->name; c++)
		json_array_append_new(row, json_string(c->default_text));
	return 0;
}

/* An entry of a body or of a file: a name, or an object with it. before: the row as it is, or NULL. */
static json_t *row_new(struct model *m, struct item *it, const struct field *f, const json_t *entry,
	const json_t *before, struct model_error *err)
{
	const char *key;
	char *name = scalar(json_is_object(entry) ? json_object_get(entry, "name") : entry);
	json_t *value, *row = before ? json_deep_copy(before) : json_array();
	int rc = 0;

	if (!name || !*name)
		rc = fail(m, err, -EINVAL, it, f->name, "has an entry without a name");
	else if (!before)
		rc = row_begin(m, it, f, row, name, err);
	free(name);
	json_object_foreach((json_t *)entry, key, value)
	{
		if (!rc)
			rc = row_set(m, it, f, row, key, value, err);
	}
	if (!rc)
		return row;
	json_decref(row);
	return NULL;
}

/* ---- all rows ---- */

/* Names and their places, so that a hundred thousand entries take no square of the time. */
static json_t *places_of(const json_t *rows)
{
	json_t *places = json_object(), *row;
	size_t i;

	json_array_foreach(rows, i, row)
		json_object_set_new(places, name_of(row), json_integer((json_int_t)i));
	return places;
}

static int rows_change(struct model *m, struct item *it, const struct field *f, json_t *rows,
	json_t *places, const json_t *entry, enum list_verb verb, struct model_error *err)
{
	char *name = scalar(json_is_object(entry) ? json_object_get(entry, "name") : entry);
	const json_t *place = name ? json_object_get(places, name) : NULL;
	size_t at = place ? (size_t)json_integer_value(place) : json_array_size(rows);
	json_t *row = NULL;
	int rc = 0;

	if (place && (verb == LIST_REPLACE || verb == LIST_ADD))
		rc = fail(m, err, -EEXIST, it, f->name, "%s stands there already", name);
	else if (!place && (verb == LIST_DELETE || verb == LIST_MODIFY))
		rc = fail(m, err, -ENOENT, it, f->name, "has no entry %s", name ? name : "");
	else if (!place && at >= f->max)
		rc = fail(m, err, -E2BIG, it, f->name, "takes at most %u entries", f->max);
	else if (verb != LIST_DELETE &&
		 !(row = row_new(m, it, f, entry, place ? json_array_get(rows, at) : NULL, err)))
		rc = -EINVAL;
	if (!rc && verb == LIST_DELETE)
		json_array_set_new(rows, at, json_null());
	else if (!rc && place)
		json_array_set_new(rows, at, row);
	else if (!rc)
		json_array_append_new(rows, row);
	if (!rc)
		json_object_set_new(places, name, json_integer((json_int_t)at));
	free(name);
	return rc;
}

static json_t *without_deleted(const json_t *rows)
{
	json_t *kept = json_array(), *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		if (!json_is_null(row))
			json_array_append(kept, row);
	}
	return kept;
}

static int rows_keep(struct model *m, struct item *it, const struct field *f, json_t *rows,
	struct model_error *err)
{
	char *text = json_array_size(rows) ? json_dumps(rows, JSON_COMPACT) : strdup("");
	struct value v = {.missing = ""};
	uint32_t handle;

	if (!text)
		return fail(m, err, -ENOMEM, it, f->name, "no memory");
	handle = strings_get(&m->strings, text, strlen(text));
	free(text);
	if (handle == UINT32_MAX)
		return fail(m, err, -ENOMEM, it, f->name, "no memory");
	memcpy(v.data, &handle, sizeof(handle));
	return set_value(m, it, f, &v, err);
}

int rows_set(struct model *m, struct item *it, const struct field *f, const json_t *entries,
	enum list_verb verb, struct model_error *err)
{
	json_t *rows, *places, *entry;
	size_t i;
	int rc = 0;

	if (!json_is_array(entries))
		return fail(m, err, -EINVAL, it, f->name, "is no list");
	rows = verb == LIST_REPLACE ? json_array() : rows_of(m, f, it->data);
	places = places_of(rows);
	json_array_foreach(entries, i, entry)
	{
		rc = rows_change(m, it, f, rows, places, entry, verb, err);
		if (rc)
			break;
	}
	if (!rc) {
		json_t *kept = without_deleted(rows);
		rc = rows_keep(m, it, f, kept, err);
		json_decref(kept);
	}
	json_decref(rows);
	json_decref(places);
	return rc;
}

int rows_set_text(struct model *m, struct item *it, const struct field *f, const char *text,
	enum list_verb verb, struct model_error *err)
{
	bool none = !*text || !strcmp(text, "none");
	json_t *entries = none ? json_array() : json_loads(text, 0, NULL);
	int rc = entries ? rows_set(m, it, f, entries, verb, err)
			 : fail(m, err, -EINVAL, it, f->name, "is no list of entries");

	json_decref(entries);
	return rc;
}

/* ---- out ---- */

static void put_link(const struct model *m, json_t *out, const struct column *c, const char *path)
{
	char name[80];
	const struct item *to = NULL;

	for (unsigned i = 0; !to && i < c->ref_count; i++)
		to = item_find(m, c->refs[i], ID_NONE, path);
	snprintf(name, sizeof(name), "%sReference", c->rest);
	if (to)
		json_object_set_new(out, name, link_json(m, to));
}

json_t *rows_json(const struct model *m, const struct item *it, const struct field *f)
{
	json_t *rows = rows_of(m, f, it->data), *out = json_array(), *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		json_t *o = json_object();
		json_object_set(o, "name", json_array_get(row, 0));
		for (const struct column *c = f->columns; c->name; c++) {
			json_t *value = json_array_get(row, 1 + (size_t)(c - f->columns));
			const char *text = json_string_value(value);
			if (c->ref_count && text && !*text)
				continue;
			if (c->max && text)
				json_object_set_new(o, c->rest, json_integer(atoll(text)));
			else
				json_object_set(o, c->rest, value);
			if (c->ref_count && text)
				put_link(m, o, c, text);
		}
		json_array_append_new(out, o);
	}
	json_decref(rows);
	return out;
}

static void print_row(const struct field *f, const json_t *row, unsigned depth, struct text *out)
{
	text_add_word(out, name_of(row));
	text_printf(out, " {");
	for (const struct column *c = f->columns; c->name; c++) {
		const char *text =
			json_string_value(json_array_get(row, 1 + (size_t)(c - f->columns)));
		if (!text || !strcmp(text, c->default_text))
			continue;
		text_printf(out, " %s ", c->name);
		text_add_word(out, text);
	}
	text_printf(out, " }\n");
}

void rows_print(const struct model *m, const struct item *it, const struct field *f, unsigned depth,
	struct text *out)
{
	json_t *rows = rows_of(m, f, it->data), *row;
	size_t i;

	if (!json_array_size(rows))
		text_printf(out, "none\n");
	else
		text_printf(out, "{\n");
	json_array_foreach(rows, i, row)
	{
		text_add(out, "                    ", (depth + 1) * 4);
		print_row(f, row, depth + 1, out);
	}
	if (json_array_size(rows)) {
		text_add(out, "                    ", depth * 4);
		text_printf(out, "}\n");
	}
	json_decref(rows);
}

/* ---- references of rows ---- */

static const char *cell(const json_t *row, const struct field *f, const struct column *c)
{
	const char *text = json_string_value(json_array_get(row, 1 + (size_t)(c - f->columns)));

	return text ? text : "";
}

static int check_cell(struct model *m, struct item *it, const struct field *f, const json_t *row,
	const struct column *c, struct model_error *err)
{
	const char *path = cell(row, f, c);
	bool there = !*path || !c->ref_count;

	for (unsigned i = 0; !there && i < c->ref_count; i++)
		there = item_find(m, c->refs[i], ID_NONE, path) != NULL;
	if (there)
		return 0;
	return fail(m, err, -ENOENT, it, f->name, "%s: %s: %s %s does not exist", name_of(row),
		c->name, model_kinds[c->refs[0]].full, path);
}

static bool has_refs(const struct field *f)
{
	if (f->type != TYPE_ROWS)
		return false;
	for (const struct column *c = f->columns; c->name; c++)
		if (c->ref_count)
			return true;
	return false;
}

int rows_check(struct model *m, struct item *it, struct model_error *err)
{
	const struct kind *k = kind_of(it);
	int rc = 0;

	for (unsigned i = 0; !rc && i < k->field_count; i++) {
		const struct field *f = &k->fields[i];
		json_t *rows = has_refs(f) ? rows_of(m, f, it->data) : NULL, *row;
		size_t at;
		json_array_foreach(rows, at, row) for (const struct column *c = f->columns;
						       !rc && c->name; c++) rc =
			check_cell(m, it, f, row, c, err);
		json_decref(rows);
	}
	return rc;
}

static bool column_names(const struct column *c, unsigned kind)
{
	for (unsigned i = 0; i < c->ref_count; i++)
		if (c->refs[i] == kind)
			return true;
	return false;
}

static bool may_name(const struct field *f, unsigned kind)
{
	if (f->type != TYPE_ROWS)
		return false;
	for (const struct column *c = f->columns; c->name; c++)
		if (column_names(c, kind))
			return true;
	return false;
}

static bool rows_name(
	const struct model *m, const struct item *it, const struct field *f, const struct object *o)
{
	json_t *rows = rows_of(m, f, it->data), *row;
	bool found = false;
	size_t i;

	json_array_foreach(rows, i, row) for (const struct column *c = f->columns;
					      !found && c->name; c++) found =
		column_names(c, o->kind) && !strcmp(cell(row, f, c), o->path);
	json_decref(rows);
	return found;
}

const struct item *rows_user_of(const struct model *m, const struct object *o)
{
	for (unsigned kind = 0; kind < MODEL_KINDS; kind++) {
		const struct kind *k = &model_kinds[kind];
		for (unsigned n = 0; n < k->field_count; n++)
			for (unsigned i = 0;
				may_name(&k->fields[n], o->kind) && i < m->order[kind].count; i++) {
				const struct item *it = m->order[kind].v[i];
				if (!it->deleted && rows_name(m, it, &k->fields[n], o))
					return it;
			}
	}
	return NULL;
}
