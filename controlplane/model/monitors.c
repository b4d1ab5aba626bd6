/* SPDX-License-Identifier: BSD-3-Clause */
/* Monitors by name and type, and those that come with Weir. */
#include "model/model_internal.h"

#include <stdio.h>

/* What LTM has beside ours. */
static const char *const ltms_types[] = {"diameter", "firepass", "http2", "module-score", "mqtt",
	"mssql", "oracle", "radius-accounting", "real-server", "rpc", "sasp", "scripted", "smb",
	"snmp-dca-base", "soap", "virtual-location", "wap", "wmi"};

bool model_monitor_type_is_ltms(const char *type)
{
	for (size_t i = 0; i < sizeof(ltms_types) / sizeof(ltms_types[0]); i++)
		if (!strcmp(ltms_types[i], type))
			return true;
	return false;
}

const char *model_monitor_type(enum model_kind kind)
{
	return strrchr(model_kinds[kind].words, ' ') + 1;
}

struct item *monitor_item(const struct model *m, const char *path)
{
	struct item *it = NULL;

	for (unsigned kind = 0; !it && kind < MODEL_KINDS; kind++)
		if (model_kinds[kind].monitor)
			it = item_find(m, kind, ID_NONE, path);
	return it;
}

const struct object *model_monitor_find(const struct model *m, const char *name)
{
	char path[MODEL_PATH_MAX + 1], why[MODEL_REASON_MAX];
	struct item *it = NULL;

	if (name_path(KIND_MONITOR_HTTP, name, path, why, sizeof(why)) == 0)
		it = monitor_item(m, path);
	return it ? &it->o : NULL;
}

const char *monitor_text(const struct model *m, const struct item *it, const char *field)
{
	const struct field *f = model_field_find(it->o.kind, NULL, field);

	if (!f || f->type != TYPE_STRING)
		return "";
	return strings_text(&m->strings, *(const uint32_t *)field_in(f, it->data));
}

bool model_monitor_destination(const struct object *o, struct model_destination *out)
{
	const struct field *f = model_field_find(o->kind, NULL, "destination");

	if (f)
		memcpy(out, field_in(f, o->data), sizeof(*out));
	return f != NULL;
}

bool model_monitor_manual_resume(const struct object *o)
{
	const struct field *f = model_field_find(o->kind, NULL, "manual-resume");

	return f && *(const uint8_t *)field_in(f, o->data);
}

/* ---- built-in ones ---- */

/* The parent of all others of its type holds the texts that the schema gives as defaults. */
static int builtin_parent(struct model *m, enum model_kind kind)
{
	char path[64];
	struct item *it;
	int rc;

	snprintf(path, sizeof(path), FOLDER_COMMON "/%s", model_monitor_type(kind));
	for (char *p = path; *p; p++)
		*p = *p == '-' ? '_' : *p;
	rc = builtin(m, kind, path, &it);
	return rc ? rc : builtin_texts(m, it);
}

int monitors_builtin(struct model *m)
{
	static const struct {
		enum model_kind kind;
		const char *path, *field, *value, *recv;
	} rows[] = {
		{KIND_MONITOR_HTTPS, "/Common/https_443", "destination", "*:443", ""},
		{KIND_MONITOR_HTTP, "/Common/http_head_f5", "send", "HEAD / HTTP/1.0\\r\\n\\r\\n",
			"Server\\:"},
		{KIND_MONITOR_HTTPS, "/Common/https_head_f5", "send", "HEAD / HTTP/1.0\\r\\n\\r\\n",
			"Server\\:"},
	};
	struct model_error err;
	struct item *it;
	int rc = 0;

	for (unsigned kind = 0; !rc && kind < MODEL_KINDS; kind++)
		if (model_kinds[kind].monitor)
			rc = builtin_parent(m, kind);
	for (size_t i = 0; !rc && i < sizeof(rows) / sizeof(rows[0]); i++) {
		enum model_kind kind = rows[i].kind;
		rc = builtin(m, kind, rows[i].path, &it);
		if (!rc)
			rc = set_text(m, it, model_field_find(kind, NULL, rows[i].field),
				rows[i].value, &err);
		if (!rc && *rows[i].recv)
			rc = set_text(
				m, it, model_field_find(kind, NULL, "recv"), rows[i].recv, &err);
	}
	return rc ? rc : builtin(m, KIND_DEFAULT_NODE_MONITOR, "default-node-monitor", NULL);
}
