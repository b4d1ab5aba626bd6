/* SPDX-License-Identifier: BSD-3-Clause */
/* What weir-notify works with: every receiver of the configuration as one row, with what it refers to put in. */
#include <string.h>

#include "main/cp.h"

/* Text of a certificate or key that is referred to, or NULL. */
static json_t *content_of(const struct model *m, enum model_kind kind, const char *path)
{
	const struct object *o = path && *path ? model_find(m, kind, ID_NONE, path) : NULL;
	json_t *all = o ? model_settings_json(m, o) : NULL, *content = NULL;

	if (all)
		content = json_incref(json_object_get(all, "content"));
	json_decref(all);
	return content;
}

/* The path in one member becomes the text in another. */
static void content_put(const struct model *m, enum model_kind kind, const json_t *from,
	const char *member, json_t *row, const char *name)
{
	json_t *content = content_of(m, kind, json_string_value(json_object_get(from, member)));

	if (content)
		json_object_set_new(row, name, content);
}

static json_t *words_json(const char *text)
{
	json_t *out = json_array();

	while (text && *text) {
		size_t length = strcspn(text, " ");

		if (length)
			json_array_append_new(out, json_stringn(text, length));
		text += length + (text[length] != 0);
	}
	return out;
}

static void name_put(json_t *row, const char *prefix, const char *name, const char *kind)
{
	json_object_set_new(row, "name", json_sprintf("%s%s", prefix, name));
	json_object_set_new(row, "kind", json_string(kind));
}

static void log_server(const struct model *m, json_t *rows, const json_t *server)
{
	static const char *const same[][2] = {{"host", "host"}, {"port", "remotePort"},
		{"local-ip", "localIp"}, {"protocol", "protocol"}, {"level", "level"},
		{"server-name", "serverName"}};
	json_t *row = json_object();

	name_put(row, "syslog:", json_string_value(json_object_get(server, "name")), "syslog");
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
		json_object_set(row, same[i][0], json_object_get(server, same[i][1]));
	json_object_set_new(
		row, "modules", words_json(json_string_value(json_object_get(server, "modules"))));
	content_put(m, KIND_SSL_CERT, server, "caFile", row, "ca");
	content_put(m, KIND_SSL_CERT, server, "cert", row, "certificate");
	content_put(m, KIND_SSL_KEY, server, "key", row, "key");
	json_array_append_new(rows, row);
}

static void syslog_rows(const struct model *m, json_t *rows)
{
	json_t *all = model_settings_json(m, model_at(m, KIND_SYSLOG, 0));
	const json_t *level = json_object_get(all, "local-level"), *server;
	size_t i;

	json_array_foreach(json_object_get(all, "remote-servers"), i, server)
		log_server(m, rows, server);
	if (strcmp(json_string_value(level) ? json_string_value(level) : "none", "none")) {
		json_t *row = json_object();

		name_put(row, "syslog", "", "syslog-local");
		json_object_set(row, "level", (json_t *)level);
		json_object_set(row, "modules", json_object_get(all, "local-modules"));
		json_array_append_new(rows, row);
	}
	json_decref(all);
}

static void trap_rows(const struct model *m, json_t *rows)
{
	json_t *all = model_settings_json(m, model_at(m, KIND_SNMP, 0));
	const char *wanted = json_string_value(json_object_get(all, "bigip-traps"));
	bool some = wanted && !strcmp(wanted, "enabled");
	const struct object *o;

	json_decref(all);
	for (unsigned i = 0; some && (o = model_at(m, KIND_SNMP_TRAP, i)); i++) {
		json_t *row = model_settings_json(m, o);

		name_put(row, "trap:", o->path, "trap");
		json_array_append_new(rows, row);
	}
}

static void mail_servers(const struct model *m, json_t *row)
{
	json_t *servers = json_array(), *path;
	size_t i;

	json_array_foreach(json_object_get(row, "smtp-servers"), i, path)
	{
		const struct object *o =
			model_find(m, KIND_SMTP_SERVER, ID_NONE, json_string_value(path));
		json_t *server = o ? model_settings_json(m, o) : NULL;

		if (!server)
			continue;
		content_put(m, KIND_SSL_CERT, server, "ca-file", server, "ca");
		json_array_append_new(servers, server);
	}
	json_object_set_new(row, "smtp-servers", servers);
}

static void alert_rows(const struct model *m, json_t *rows)
{
	const struct object *o;

	for (unsigned i = 0; (o = model_at(m, KIND_ALERT, i)); i++) {
		const struct alert *a = model_alert(o);
		json_t *row = a->conf.enabled ? model_settings_json(m, o) : NULL, *script;

		if (!row)
			continue;
		name_put(row, "alert:", o->path,
			a->conf.method == ALERT_METHOD_MAIL ? "mail" : "command");
		mail_servers(m, row);
		script = content_of(m, KIND_FILE_ALERT_SCRIPT,
			json_string_value(json_object_get(row, "script")));
		json_object_set_new(row, "script", script ? script : json_string(""));
		json_array_append_new(rows, row);
	}
}

json_t *cp_notify_settings_json(const struct model *m)
{
	json_t *rows = json_array();
	json_t *global = model_settings_json(m, model_at(m, KIND_GLOBAL_SETTINGS, 0));
	json_t *host = json_incref(json_object_get(global, "hostname"));

	json_decref(global);
	syslog_rows(m, rows);
	trap_rows(m, rows);
	alert_rows(m, rows);
	return json_pack("{s:o,s:o}", "host", host, "receivers", rows);
}
