/* SPDX-License-Identifier: BSD-3-Clause */
/* Every refusal names object, field and reason, and fails the open transaction. */
#include "model/model_internal.h"

#include <stdio.h>

void item_name(const struct model *m, const struct item *it, char *buf, size_t size)
{
	struct item *owner = item_of(m, it->o.owner);
	size_t length = 0;

	if (owner) {
		item_name(m, owner, buf, size);
		length = strlen(buf);
	}
	snprintf(buf + length, size - length, "%s%s", owner ? " " : "", it->o.path);
}

static int fail_write(struct model *m, struct model_error *err, int code, enum model_kind kind,
	const char *name, const char *field, const char *format, va_list ap)
{
	m->failed = m->open;
	*err = (struct model_error){.code = code, .line = m->line};
	snprintf(err->file, sizeof(err->file), "%s", m->file ? m->file : "");
	if (kind < MODEL_KINDS)
		snprintf(err->kind, sizeof(err->kind), "%s", model_kinds[kind].full);
	snprintf(err->object, sizeof(err->object), "%s", name);
	snprintf(err->field, sizeof(err->field), "%s", field ? field : "");
	vsnprintf(err->reason, sizeof(err->reason), format, ap);
	return code;
}

int fail_named(struct model *m, struct model_error *err, int code, enum model_kind kind,
	const char *name, const char *field, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fail_write(m, err, code, kind, name, field, format, ap);
	va_end(ap);
	return code;
}

int fail(struct model *m, struct model_error *err, int code, const struct item *it,
	const char *field, const char *format, ...)
{
	char name[MODEL_NAME_MAX];
	va_list ap;

	item_name(m, it, name, sizeof(name));
	if (kind_of(it)->name_form == NAME_SINGLE)
		name[0] = '\0';
	va_start(ap, format);
	fail_write(m, err, code, it->o.kind, name, field, format, ap);
	va_end(ap);
	return code;
}

const char *model_error_text(const struct model_error *err, char *buf, size_t size)
{
	struct text t = {0};

	if (err->file[0] && err->line)
		text_printf(&t, "%s:%d: ", err->file, err->line);
	else if (err->file[0])
		text_printf(&t, "%s: ", err->file);
	if (err->kind[0] || err->object[0])
		text_printf(&t, "%s%s%s: ", err->kind, err->kind[0] && err->object[0] ? " " : "",
			err->object);
	if (err->field[0])
		text_printf(&t, "%s: ", err->field);
	text_printf(&t, "%s", err->reason);
	snprintf(buf, size, "%s", t.data ? t.data : err->reason);
	text_fini(&t);
	return buf;
}
