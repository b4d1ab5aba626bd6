/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects in iControl REST form. */
#include "model/model_internal.h"

#include <stdio.h>

#include "ipc/ipc.h"

#define HOST "https://localhost/mgmt/tm/"

/* "~Common~web" of "/Common/web"; "%25" for "%" needs nobody: only route domain 0 exists. */
static void tilde_path(const char *path, struct text *out)
{
	for (const char *p = path; *p; p++)
		text_add(out, *p == '/' ? "~" : p, 1);
}

static void link_of(const struct model *m, const struct item *it, struct text *out)
{
	struct item *owner = item_of(m, it->o.owner);

	if (owner) {
		link_of(m, owner, out);
		text_printf(out, "/%s/", kind_of(it)->rest);
	} else {
		text_printf(out, HOST "%s", kind_of(it)->rest);
		if (kind_of(it)->name_form == NAME_SINGLE)
			return;
		text_add(out, "/", 1);
	}
	tilde_path(it->o.path, out);
}

static json_t *text_json(struct text *t)
{
	json_t *value = t->failed ? NULL : ipc_text_new(t->data ? t->data : "", t->len);

	text_fini(t);
	return value;
}

json_t *link_json(const struct model *m, const struct item *it)
{
	struct text t = {0};

	link_of(m, it, &t);
	return json_pack("{s:o}", "link", text_json(&t));
}

/* ---- writing ---- */

static void put_names(json_t *out, const struct model *m, const struct item *it)
{
	struct text t = {0};
	size_t partition = path_partition(it->o.path);
	bool path = partition > 0;
	const char *sub = it->o.path + partition + 2, *leaf = path_name(it->o.path);
	bool single = kind_of(it)->name_form == NAME_SINGLE;

	json_object_set_new(out, "kind", json_string(kind_of(it)->rest_kind));
	if (!single)
		json_object_set_new(
			out, "name", json_string(path ? path_name(it->o.path) : it->o.path));
	if (path)
		json_object_set_new(out, "partition", json_stringn(it->o.path + 1, partition));
	if (path && leaf > sub)
		json_object_set_new(out, "subPath", json_stringn(sub, (size_t)(leaf - sub) - 1));
	if (!single)
		json_object_set_new(out, "fullPath", json_string(it->o.path));
	json_object_set_new(out, "generation", json_integer((json_int_t)it->o.generation));
	link_of(m, it, &t);
	json_object_set_new(out, "selfLink", text_json(&t));
}

static json_t *list_json(const struct model *m, const struct item *it, const struct field *f)
{
	const struct model_list *list = field_in(f, it->data);
	json_t *out;

	if (list->mode == LIST_ALL)
		return json_string("all");
	out = json_array();
	if (list->mode == LIST_DEFAULT)
		json_array_append_new(out, json_string("default"));
	for (unsigned i = 0; i < list->count; i++) {
		struct text t = {0};
		list_text(m, f, list->entry[i], &t);
		json_array_append_new(out, text_json(&t));
	}
	return out;
}

/* A flag is the true one of its two names. */
static void put_flag(json_t *out, const struct item *it, const struct field *f)
{
	bool on = *(const uint8_t *)field_in(f, it->data);
	const char *name = on ? f->rest : f->rest_opposite;

	if (name)
		json_object_set_new(out, name, json_true());
}

/* Texts that are empty and references to nothing are left out, as LTM does. */
static bool json_leaves_out(const struct item *it, const struct field *f, const char *text)
{
	if (f->hidden || f->type == TYPE_HOLDS || f->password || f->hash)
		return true;
	switch (f->type) {
	case TYPE_STRING:
	case TYPE_ROWS:
		return !*text;
	case TYPE_REF:
		return *(const uint32_t *)field_in(f, it->data) == ID_NONE;
	case TYPE_IP:
		return it->o.kind == KIND_ROUTE && !strcmp(text, "any6");
	case TYPE_REFS:
	case TYPE_STRINGS:
	case TYPE_SERVICES:
		return !strcmp(text, "none");
	case TYPE_MONITOR_RULE:
		return !strcmp(text, "none");
	default:
		return false;
	}
}

/* What LTM gives for nothing, where it gives something. */
static void put_nothing(json_t *out, const struct item *it, const struct field *f)
{
	bool list = f->type == TYPE_ROWS || f->type == TYPE_REFS || f->type == TYPE_STRINGS;

	if (!kind_of(it)->rest_none || f->hidden || f->class == FIELD_SECRET)
		return;
	json_object_set_new(out, f->rest,
		list && !f->rest_empty ? json_array() : json_string(list ? f->rest_empty : "none"));
}

static void put_references(
	json_t *out, const struct model *m, const struct item *it, const struct field *f)
{
	const struct model_list *list = field_in(f, it->data);
	char name[80];
	json_t *links;
	struct item *to =
		f->type == TYPE_REF ? item_of(m, *(const uint32_t *)field_in(f, it->data)) : NULL;

	snprintf(name, sizeof(name), "%sReference", f->rest);
	if (to)
		json_object_set_new(out, name, link_json(m, to));
	if (f->type != TYPE_REFS || !list->count)
		return;
	links = json_array();
	for (unsigned i = 0; i < list->count; i++)
		if ((to = item_of(m, list->entry[i])))
			json_array_append_new(links, link_json(m, to));
	json_object_set_new(out, name, links);
}

static void put_field(
	json_t *out, const struct model *m, const struct item *it, const struct field *f)
{
	struct text t = {0};
	json_t *group = out;

	model_field_text(m, &it->o, f, &t);
	if (f->rest_group && !f->hidden) {
		group = json_object_get(out, f->rest_group);
		if (!group)
			json_object_set_new(out, f->rest_group, group = json_object());
	}
	if (json_leaves_out(it, f, t.data ? t.data : ""))
		put_nothing(group, it, f);
	else if (f->type == TYPE_FLAG)
		put_flag(group, it, f);
	else if (f->type == TYPE_INT && !f->rest_string)
		json_object_set_new(group, f->rest, json_integer(value_number_get(f, it->data)));
	else if (f->type == TYPE_ROWS)
		json_object_set_new(group, f->rest, rows_json(m, it, f));
	else if (field_is_list(f))
		json_object_set_new(group, f->rest, list_json(m, it, f));
	else if (f->rest_folder)
		json_object_set_new(
			group, f->rest, json_sprintf(FOLDER_COMMON "/%s", t.data ? t.data : ""));
	else
		json_object_set_new(group, f->rest, text_json(&t));
	text_fini(&t);
	if (f->rest_reference)
		put_references(out, m, it, f);
}

static json_t *children_json(
	const struct model *m, const struct item *it, enum model_kind kind, bool expand)
{
	struct order *o = &((struct item *)it)->children;
	struct text t = {0};
	json_t *items;
	json_t *out;

	link_of(m, it, &t);
	text_printf(&t, "/%s", model_kinds[kind].rest);
	out = json_pack("{s:o, s:b}", "link", text_json(&t), "isSubcollection", 1);
	order_fix(o);
	if (!expand)
		return out;
	items = json_array();
	for (unsigned i = 0; i < o->count; i++)
		if (o->v[i]->o.kind == kind)
			json_array_append_new(items, model_json(m, &o->v[i]->o, true));
	if (json_array_size(items))
		json_object_set_new(out, "items", items);
	else
		json_decref(items);
	return out;
}

/* Those that stand within their owner: names and fields. */
static json_t *inlined_json(const struct model *m, const struct item *it)
{
	struct order *o = &((struct item *)it)->children;
	json_t *out = json_array();

	order_fix(o);
	for (unsigned i = 0; i < o->count; i++) {
		const struct item *child = o->v[i];
		json_t *row = json_pack("{s:s}", "name", child->o.path);
		for (unsigned f = 0; row && f < kind_of(child)->field_count; f++)
			put_field(row, m, child, &kind_of(child)->fields[f]);
		json_array_append_new(out, row);
	}
	return out;
}

void model_json_reveal(const struct model *m, const struct object *o, json_t *row)
{
	const struct item *it = (const struct item *)o;

	for (unsigned i = 0; i < kind_of(it)->field_count; i++) {
		const struct field *f = &kind_of(it)->fields[i];
		char *plain = f->reveal ? secret_open(model_string(
						  m, *(const uint32_t *)field_in(f, it->data)))
					: NULL;
		if (plain)
			json_object_set_new(row, f->rest, ipc_text_new(plain, strlen(plain)));
		secret_free(plain);
	}
}

json_t *model_json(const struct model *m, const struct object *o, bool expand)
{
	const struct item *it = (const struct item *)o;
	const struct kind *k = kind_of(it);
	json_t *out = json_object();
	char name[64];

	if (!out)
		return NULL;
	put_names(out, m, it);
	for (unsigned i = 0; i < k->field_count; i++)
		put_field(out, m, it, &k->fields[i]);
	for (int child = k->child; child >= 0; child = model_kinds[child].sibling) {
		const char *rest = model_kinds[child].rest;
		if (model_kinds[child].inlined) {
			json_object_set_new(out, rest, inlined_json(m, it));
			continue;
		}
		snprintf(name, sizeof(name), "%sReference", rest);
		json_object_set_new(
			out, name, children_json(m, it, (enum model_kind)child, expand));
	}
	return out;
}
