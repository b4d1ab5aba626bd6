/* SPDX-License-Identifier: BSD-3-Clause */
/* What weir-snmp must know of the configuration, with the secrets that snmpd takes. */
#include <string.h>

#include "main/cp.h"

static json_t *texts(const struct model *m, const struct model_list *list)
{
	json_t *rows = json_array();

	for (unsigned i = 0; i < list->count; i++) {
		const char *text = model_string(m, list->entry[i]);
		json_array_append_new(rows, ipc_text_new(text, strlen(text)));
	}
	return rows;
}

/* All objects of a kind by their words, secrets in plain text. */
static json_t *objects(const struct model *m, const char *words)
{
	json_t *rows = json_array();
	const struct object *o;
	int kind = cp_kind(words);

	for (unsigned i = 0; kind >= 0 && (o = model_at(m, kind, i)); i++) {
		json_t *row = model_monitor_json(m, o);
		const char *name = strrchr(o->path, '/') ? strrchr(o->path, '/') + 1 : o->path;

		json_object_set_new(row, "name", ipc_text_new(name, strlen(name)));
		json_array_append_new(rows, row);
	}
	return rows;
}

static void put_name(const struct model *m, json_t *row, const char *key, enum model_kind kind)
{
	const struct object *o = model_at(m, kind, 0);

	if (o)
		json_object_set_new(row, key, ipc_text_new(o->path, strlen(o->path)));
}

void cp_snmp_settings(struct cp *cp, struct ipc_request *r, const struct cp_user *user)
{
	const struct model *m = cp->model;
	const struct snmp *s = model_snmp(model_at(m, KIND_SNMP, 0));
	const char *host = model_string(
		m, model_global_settings(model_at(m, KIND_GLOBAL_SETTINGS, 0))->conf.hostname);
	json_int_t generation = (json_int_t)model_generation(m);
	const json_t *after = json_object_get(ipc_request_body(r), "after");
	json_t *row;

	if (after && json_integer_value(after) == generation) {
		ipc_reply(r, json_pack("{s:I}", "generation", generation));
		return;
	}
	row = model_monitor_json(m, model_at(m, KIND_SNMP, 0));
	json_object_set_new(row, "allowed-addresses", texts(m, &s->conf.allowed_addresses));
	json_object_set_new(row, "agent-addresses", texts(m, &s->conf.agent_addresses));
	json_object_set_new(row, "communities", objects(m, "sys snmp communities"));
	json_object_set_new(row, "users", objects(m, "sys snmp users"));
	json_object_set_new(row, "hostname", ipc_text_new(host, strlen(host)));
	json_object_set_new(row, "version", json_string(WEIR_VERSION));
	put_name(m, row, "device", KIND_DEVICE);
	put_name(m, row, "traffic-group", KIND_TRAFFIC_GROUP);
	ipc_reply(r, json_pack("{s:I,s:o}", "generation", generation, "settings", row));
}

/* Whether snmpd answers: agent-trap says whether that is told. */
void cp_snmp_report(struct cp *cp, struct ipc_request *r, const struct cp_user *user)
{
	const struct snmp *s = model_snmp(model_at(cp->model, KIND_SNMP, 0));
	const json_t *serving = json_object_get(ipc_request_body(r), "serving");
	bool yes = json_is_true(serving);

	if (!json_is_boolean(serving)) {
		cp_refuse(r, 400, "serving", "is true or false");
		return;
	}
	if (s->conf.agent_trap)
		cp_journal_note(cp, yes ? MESSAGE_SNMP_STARTED : MESSAGE_SNMP_STOPPED, NULL, NULL,
			yes ? "SNMP agent answers" : "SNMP agent answers no more");
	ipc_reply(r, json_object());
}
