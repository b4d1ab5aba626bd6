/* SPDX-License-Identifier: BSD-3-Clause */
/* Built-in objects as the schema lists them. */
#include "model/model_internal.h"

/* Entries of a list that the schema gives as one text. */
static int default_entries(struct model *m, struct item *it, const struct field *f)
{
	struct model_error err;
	char entry[MODEL_ENTRY_MAX + 1];
	const char *text = entry;
	int rc = 0;

	for (const char *p = f->default_text; !rc && *p; p += *p == ' ') {
		size_t len = strcspn(p, " ");
		memcpy(entry, p, len);
		entry[len] = '\0';
		rc = set_list(m, it, f, &text, 1, LIST_ADD, &err);
		p += len;
	}
	return rc;
}

int builtin_texts(struct model *m, struct item *it)
{
	const struct kind *k = kind_of(it);
	struct model_error err;
	int rc = 0;

	for (unsigned i = 0; !rc && i < k->field_count; i++) {
		const struct field *f = &k->fields[i];
		if (f->type == TYPE_STRING && f->default_text)
			rc = set_text(m, it, f, f->default_text, &err);
		else if (f->type == TYPE_STRINGS && f->default_text)
			rc = default_entries(m, it, f);
	}
	return rc;
}

static int builtin_row(struct model *m, const struct builtin_row *row, bool parent)
{
	struct model_error err;
	struct item *it;
	int rc = change_create(m, row->kind, NULL, row->path, id_make(row->slot, 0), &it, &err);

	if (rc)
		return rc;
	it->o.builtin = true;
	rc = parent ? builtin_texts(m, it) : 0;
	for (const struct builtin_value *v = row->value; !rc && v && v->text; v++) {
		const struct field *f = &kind_of(it)->fields[v->field];
		rc = field_is_list(f) ? set_list(m, it, f, &v->text, 1, LIST_ADD, &err)
				      : set_text(m, it, f, v->text, &err);
	}
	return rc;
}

int builtins_of_schema(struct model *m)
{
	const struct builtin_row *before = NULL;
	int rc = 0;

	for (const struct builtin_row *row = model_builtins; !rc && row->path; row++) {
		rc = builtin_row(m, row, !before || before->kind != row->kind);
		before = row;
	}
	return rc;
}
