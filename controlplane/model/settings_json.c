/* SPDX-License-Identifier: BSD-3-Clause */
/* An object as a part of the machine wants it that works with it: its secrets can be read. */
#include "ipc/ipc.h"
#include "model/model_internal.h"

static json_t *text_json(const char *text)
{
	return ipc_text_new(text, strlen(text));
}

static json_t *string_json(const struct model *m, const struct field *f, uint32_t handle)
{
	const char *text = model_string(m, handle);
	char *plain = f->class == FIELD_SECRET && *text ? secret_open(text) : NULL;
	json_t *out = text_json(f->class == FIELD_SECRET ? (plain ? plain : "") : text);

	secret_free(plain);
	return out;
}

static json_t *list_json(const struct model *m, const struct item *it, const struct field *f)
{
	const struct model_list *list = field_in(f, it->data);
	json_t *out = json_array();

	for (unsigned i = 0; i < list->count; i++) {
		const struct object *o = f->type == TYPE_REFS ? model_get(m, list->entry[i]) : NULL;

		if (f->type == TYPE_STRINGS)
			json_array_append_new(out, text_json(model_string(m, list->entry[i])));
		else if (o)
			json_array_append_new(out, text_json(o->path));
	}
	return out;
}

static json_t *value_json(const struct model *m, const struct item *it, const struct field *f)
{
	const struct object *o;

	switch (f->type) {
	case TYPE_INT:
		return json_integer(value_number_get(f, it->data));
	case TYPE_FLAG:
		return json_boolean(value_number_get(f, it->data));
	case TYPE_ENUM:
		return json_string(f->words[value_number_get(f, it->data)].text);
	case TYPE_STRING:
		return string_json(m, f, *(const uint32_t *)field_in(f, it->data));
	case TYPE_REF:
		o = model_get(m, *(const uint32_t *)field_in(f, it->data));
		return text_json(o ? o->path : "");
	case TYPE_REFS:
	case TYPE_STRINGS:
		return list_json(m, it, f);
	case TYPE_ROWS:
		return rows_json(m, it, f);
	default:
		return NULL;
	}
}

json_t *model_settings_json(const struct model *m, const struct object *o)
{
	const struct item *it = (const struct item *)o;
	json_t *out = json_object();

	for (unsigned i = 0; out && i < kind_of(it)->field_count; i++) {
		const struct field *f = &kind_of(it)->fields[i];
		json_t *value = value_json(m, it, f);

		if (value)
			json_object_set_new(out, f->name, value);
	}
	return out;
}
