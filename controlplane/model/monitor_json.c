/* SPDX-License-Identifier: BSD-3-Clause */
/* A monitor as weir-mon wants it. */
#include "ipc/ipc.h"
#include "model/model_internal.h"

/* Lines A=1, B=2 as {"A": "1", "B": "2"}. */
static json_t *variables_json(const char *text)
{
	json_t *out = json_object();

	for (const char *p = text; *p; p += *p == '\n') {
		size_t len = strcspn(p, "\n");
		const char *equal = memchr(p, '=', len);
		char *name = equal ? strndup(p, (size_t)(equal - p)) : NULL;
		if (name)
			json_object_set_new(
				out, name, ipc_text_new(equal + 1, len - (size_t)(equal + 1 - p)));
		free(name);
		p += len;
	}
	return out;
}

static bool is_switch(const struct field *f)
{
	const struct field_word *w = f->words;

	return (!strcmp(w[0].text, "disabled") || !strcmp(w[0].text, "no")) && w[1].text &&
	       !w[2].text;
}

static json_t *secret_json(const char *sealed)
{
	char *plain = secret_open(sealed);
	json_t *out = plain ? ipc_text_new(plain, strlen(plain)) : NULL;

	secret_free(plain);
	return out;
}

static json_t *value_json(const struct model *m, const struct object *o, const struct field *f)
{
	uint32_t number;
	const char *text;

	switch (f->type) {
	case TYPE_INT:
		return json_integer(value_number_get(f, o->data));
	case TYPE_ENUM:
		number = value_number_get(f, o->data);
		return is_switch(f) ? json_boolean(number) : json_string(f->words[number].text);
	case TYPE_STRING:
		text = model_string(m, *(const uint32_t *)field_in(f, o->data));
		if (!*text)
			return NULL;
		if (f->class == FIELD_SECRET)
			return secret_json(text);
		return f->pairs ? variables_json(text) : ipc_text_new(text, strlen(text));
	default:
		return NULL;
	}
}

json_t *model_monitor_json(const struct model *m, const struct object *o)
{
	const struct kind *k = &model_kinds[o->kind];
	json_t *out = json_object();

	for (unsigned i = 0; out && i < k->field_count; i++) {
		const struct field *f = &k->fields[i];
		json_t *value = f->own ? NULL : value_json(m, o, f);
		if (value)
			json_object_set_new(out, f->probe ? f->probe : f->name, value);
	}
	return out;
}
