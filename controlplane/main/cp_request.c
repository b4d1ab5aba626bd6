/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of the local interface: who may, which handler, and what they all use. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "main/cp.h"

void cp_refuse(struct ipc_request *r, int code, const char *field, const char *format, ...)
{
	char reason[400], text[500];
	va_list ap;

	va_start(ap, format);
	vsnprintf(reason, sizeof(reason), format, ap);
	va_end(ap);
	snprintf(text, sizeof(text), "%s%s%s", field, *field ? ": " : "", reason);
	ipc_reply_error(r,
		&(struct ipc_error){.code = code, .field = field, .reason = reason, .text = text});
}

static int code_of(int error)
{
	switch (error) {
	case -EINVAL:
		return 400;
	case -EPERM:
		return 403;
	case -ENOENT:
		return 404;
	case -EEXIST:
	case -EBUSY:
		return 409;
	case -E2BIG:
		return 413;
	case -EOPNOTSUPP:
		return 501;
	default:
		return 500;
	}
}

void cp_refuse_model(struct ipc_request *r, const struct model_error *err, json_t *more)
{
	char text[2048];

	ipc_reply_error(r, &(struct ipc_error){
				   .code = code_of(err->code),
				   .kind = err->kind,
				   .object = err->object,
				   .field = err->field,
				   .reason = err->reason,
				   .file = err->file,
				   .line = err->line,
				   .text = model_error_text(err, text, sizeof(text)),
				   .more = more,
			   });
}

bool cp_argument(struct ipc_request *r, const char *name, char **value)
{
	const json_t *argument = json_object_get(ipc_request_body(r), name);

	*value = NULL;
	if (!argument || json_is_null(argument))
		return true;
	*value = ipc_text_get(argument, NULL);
	if (*value)
		return true;
	cp_refuse(r, 400, name, "must be text");
	return false;
}

bool cp_flag(struct ipc_request *r, const char *name, bool *out)
{
	const json_t *value = json_object_get(ipc_request_body(r), name);

	*out = json_is_true(value);
	if (!value || json_is_null(value) || json_is_boolean(value))
		return true;
	cp_refuse(r, 400, name, "must be true or false");
	return false;
}

bool cp_knows_all(struct ipc_request *r, const char *const *known)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)ipc_request_body(r), key, value)
	{
		bool found = !strcmp(key, "op") || !strcmp(key, "id") || !strcmp(key, "as");

		for (const char *const *k = known; *k && !found; k++)
			found = !strcmp(*k, key);
		if (found)
			continue;
		cp_refuse(r, 400, key, "is no part of this request");
		return false;
	}
	return true;
}

int cp_kind(const char *words)
{
	for (int k = 0; k < MODEL_KINDS; k++)
		if (!strcmp(model_kinds[k].words, words))
			return k;
	/* "ltm pool members", as people say, for the block "members" of "ltm pool". */
	for (int k = 0; k < MODEL_KINDS; k++) {
		if (model_kinds[k].owner >= 0 && !strcmp(model_kinds[k].full, words))
			return k;
	}
	return -1;
}

static void not_there(struct ipc_request *r, enum model_kind kind, const char *name)
{
	char text[600];

	snprintf(text, sizeof(text), "%s %s: does not exist", model_kinds[kind].words, name);
	ipc_reply_error(r, &(struct ipc_error){.code = 404,
				   .kind = model_kinds[kind].words,
				   .object = name,
				   .reason = "does not exist",
				   .text = text});
}

bool cp_find_owner(struct cp *cp, struct ipc_request *r, enum model_kind kind, const char *owner,
	uint32_t *owner_id)
{
	int16_t owner_kind = model_kinds[kind].owner;
	const struct object *o = NULL;

	*owner_id = ID_NONE;
	if (owner_kind < 0 && owner) {
		cp_refuse(r, 400, "owner", "%s has no owner", model_kinds[kind].words);
		return false;
	}
	if (!owner)
		return true;
	o = model_find_owner(cp->model, kind, owner);
	if (!o || !cp_may_enter(r, o)) {
		not_there(r, owner_kind, owner);
		return false;
	}
	*owner_id = o->id;
	return true;
}

const struct object *cp_find(struct cp *cp, struct ipc_request *r, enum model_kind kind,
	uint32_t owner_id, const char *name)
{
	const struct object *o = model_find(cp->model, kind, owner_id, name);
	if (o && cp_may_read(r, o))
		return o;
	not_there(r, kind, name);
	return NULL;
}

bool cp_ids_add(struct cp_ids *ids, uint32_t id)
{
	if (ids->count == ids->size) {
		unsigned size = ids->size ? 2 * ids->size : 64;
		uint32_t *more = reallocarray(ids->id, size, sizeof(*more));

		if (!more)
			return false;
		ids->id = more;
		ids->size = size;
	}
	ids->id[ids->count++] = id;
	return true;
}

static bool ids_children(
	struct cp_ids *ids, const struct model *m, enum model_kind kind, const struct object *owner)
{
	const struct object *o;
	bool ok = true;

	for (unsigned i = 0; ok && (o = model_child_at(m, owner, i)); i++)
		if (o->kind == kind)
			ok = cp_ids_add(ids, o->id);
	return ok;
}

bool cp_ids_kind(struct cp_ids *ids, const struct model *m, enum model_kind kind, uint32_t owner_id)
{
	int16_t owner_kind = model_kinds[kind].owner;
	const struct object *o;
	bool ok = true;

	if (owner_kind < 0)
		for (unsigned i = 0; ok && (o = model_at(m, kind, i)); i++)
			ok = cp_ids_add(ids, o->id);
	else if (owner_id != ID_NONE)
		ok = ids_children(ids, m, kind, model_get(m, owner_id));
	else
		for (unsigned i = 0; ok && (o = model_at(m, owner_kind, i)); i++)
			ok = ids_children(ids, m, kind, o);
	return ok;
}

void cp_ids_readable(struct cp_ids *ids, const struct ipc_request *r, const struct model *m)
{
	unsigned count = 0;

	for (unsigned i = 0; i < ids->count; i++) {
		const struct object *o = model_get(m, ids->id[i]);

		if (o && cp_may_read(r, o))
			ids->id[count++] = ids->id[i];
	}
	ids->count = count;
}

static const struct {
	const char *op;
	enum cp_need need;
	void (*handle)(struct cp *cp, struct ipc_request *r, const struct cp_user *user);
} handlers[] = {
	{"list", CP_READ, cp_list},
	{"show", CP_READ, cp_show},
	{"edit", CP_CHANGE, cp_edit},
	{"create", CP_CHANGE, cp_transaction},
	{"modify", CP_CHANGE, cp_transaction},
	{"delete", CP_CHANGE, cp_transaction},
	{"transaction", CP_CHANGE, cp_transaction},
	{"load", CP_LOAD, cp_load},
	{"rollback", CP_LOAD, cp_roll_back},
	{"save", CP_SAVE, cp_save},
	{"delete-connections", CP_CONNECTIONS, cp_delete_connections},
	{"watch", CP_READ, cp_watch},
	{"test-receiver", CP_SAVE, cp_test_receiver},
	{"log", CP_READ, cp_log},
	{"verify-log", CP_AUDIT, cp_verify_log},
	{"start-drain", CP_CHANGE, cp_start_drain},
	{"end-drain", CP_CHANGE, cp_end_drain},
	{"wait-drain", CP_READ, cp_wait_drain},
	{"login", CP_LOGGED_IN, cp_login},
	{"logout", CP_LOGGED_IN, cp_logout},
	{"list-tokens", CP_LOGGED_IN, cp_list_tokens},
	{"modify-token", CP_LOGGED_IN, cp_modify_token},
	{"change-password", CP_LOGGED_IN, cp_change_password},
	{"whoami", CP_LOGGED_IN, cp_whoami},
};

static void handle(struct cp *cp, struct ipc_request *r, const struct cp_user *user)
{
	const char *op = json_string_value(json_object_get(ipc_request_body(r), "op"));

	for (size_t i = 0; op && i < sizeof(handlers) / sizeof(*handlers); i++) {
		if (strcmp(handlers[i].op, op))
			continue;
		if (!cp_authorise(user, handlers[i].need, NULL))
			cp_refuse(r, 403, "", "%s may not do this", user->name);
		else
			handlers[i].handle(cp, r, user);
		return;
	}
	cp_refuse(r, 400, "op", op ? "%s is not known" : "is missing", op ? op : "");
}

void cp_request(struct ipc_request *r, void *ctx)
{
	const char *op = json_string_value(json_object_get(ipc_request_body(r), "op"));

	if (op && !strcmp(op, "list-identities") && cp_is_trusted(ctx, ipc_request_peer(r))) {
		cp_list_identities(ctx, r);
		return;
	}
	cp_identify(ctx, r, handle);
}
