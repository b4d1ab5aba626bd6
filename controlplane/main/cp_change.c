/* SPDX-License-Identifier: BSD-3-Clause */
/* edit, create, modify, delete, and several of them as one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "main/cp.h"

static const char *const verb_name[] = {
	[VERB_CREATE] = "create", [VERB_MODIFY] = "modify", [VERB_DELETE] = "delete"};

static int bad(struct model_error *err, int code, const char *field, const char *reason)
{
	*err = (struct model_error){.code = code};
	snprintf(err->field, sizeof(err->field), "%s", field);
	snprintf(err->reason, sizeof(err->reason), "%s", reason);
	return code;
}

static int verb_of(const char *name)
{
	for (int v = VERB_CREATE; v <= VERB_DELETE; v++)
		if (name && !strcmp(verb_name[v], name))
			return v;
	return -1;
}

/* The argument as text, "" if absent; to be freed. NULL: not text. */
static char *text_of(const json_t *request, const char *name)
{
	const json_t *value = json_object_get(request, name);
	return value && !json_is_null(value) ? ipc_text_get(value, NULL) : strdup("");
}

static int apply_edit(struct cp *cp, const json_t *request, struct model_error *err)
{
	int verb = verb_of(json_string_value(json_object_get(request, "verb")));
	char *text;

	if (verb < 0)
		return bad(err, -EINVAL, "verb", "must be create, modify or delete");
	text = ipc_text_get(json_object_get(request, "text"), NULL);
	if (!text)
		return bad(err, -EINVAL, "text", "must be text");
	int rc = model_edit(cp->model, verb, text, err);
	free(text);
	return rc;
}

/* Kind, owner and name of a request, found in the open transaction. */
struct target {
	enum model_kind kind;
	uint32_t owner_id;
	const struct object *object; /* NULL for create */
};

static int not_found(struct model_error *err, const char *kind, const char *object)
{
	bad(err, -ENOENT, "", "does not exist");
	snprintf(err->kind, sizeof(err->kind), "%s", kind);
	snprintf(err->object, sizeof(err->object), "%s", object);
	return -ENOENT;
}

/* What the user may not read is not there. */
static const struct object *known(
	const struct cp_user *user, enum model_kind kind, uint32_t owner, const char *name)
{
	const struct object *o = model_find(user->cp->model, kind, owner, name);

	return o && !cp_hidden(user, o) ? o : NULL;
}

static int target_find(const struct cp_user *user, int kind, const char *owner, const char *name,
	bool create, struct target *out, struct model_error *err)
{
	const struct object *o;

	if (kind < 0)
		return bad(err, -EINVAL, "kind", "is not known");
	*out = (struct target){.kind = kind, .owner_id = ID_NONE};
	if ((model_kinds[kind].owner >= 0) != (*owner != 0))
		return bad(err, -EINVAL, "owner", *owner ? "this kind has none" : "is missing");
	if (*owner) {
		o = model_find_owner(user->cp->model, kind, owner);
		if (!o || (cp_hidden(user, o) && user->class != HOLD_AGENT))
			return not_found(err, model_kinds[model_kinds[kind].owner].words, owner);
		out->owner_id = o->id;
	}
	if (create)
		return 0;
	out->object = known(user, kind, out->owner_id, name);
	return out->object ? 0 : not_found(err, model_kinds[kind].words, name);
}

/* The client has seen an older state of the object than the one it changes. */
static int check_generation(const struct target *t, const json_t *request, struct model_error *err)
{
	const json_t *seen = json_object_get(request, "generation");

	if (!seen || (uint64_t)json_integer_value(seen) >= t->object->generation)
		return 0;
	bad(err, -EEXIST, "generation", "is older than the object's");
	snprintf(err->kind, sizeof(err->kind), "%s", model_kinds[t->kind].full);
	snprintf(err->object, sizeof(err->object), "%s", t->object->path);
	return -EEXIST;
}

static int apply_to(struct cp *cp, const json_t *request, int verb, const struct target *t,
	const char *name, struct model_error *err)
{
	const json_t *body = json_object_get(request, "body");
	json_t *named;
	uint32_t id;

	if (verb == VERB_DELETE)
		return model_delete(cp->model, t->object->id, err);
	if (!json_is_object(body))
		return bad(err, -EINVAL, "body", "must be an object");
	if (verb == VERB_MODIFY && check_generation(t, request, err))
		return err->code;
	if (verb == VERB_MODIFY)
		return model_set_json(cp->model, t->object->id, body,
			json_is_true(json_object_get(request, "replace")), err);
	named = json_copy((json_t *)body);
	if (!named)
		return bad(err, -ENOMEM, "", "no memory");
	if (*name)
		json_object_set_new(named, "name", ipc_text_new(name, strlen(name)));
	int rc = model_create_json(cp->model, t->kind, t->owner_id, named, &id, err);
	json_decref(named);
	return rc;
}

static int apply_object(struct cp *cp, const struct cp_user *user, const json_t *request, int verb,
	struct model_error *err)
{
	char *kind = text_of(request, "kind"), *owner = text_of(request, "owner");
	char *name = text_of(request, "name");
	struct target target;
	int rc;

	if (!kind || !owner || !name)
		rc = bad(err, -EINVAL, !kind ? "kind" : !owner ? "owner" : "name", "must be text");
	else
		rc = target_find(
			user, cp_kind(kind), owner, name, verb == VERB_CREATE, &target, err);
	if (rc == 0)
		rc = apply_to(cp, request, verb, &target, name, err);
	free(kind);
	free(owner);
	free(name);
	return rc;
}

/* One request of the four. */
static int apply_one(
	struct cp *cp, const struct cp_user *user, const json_t *request, struct model_error *err)
{
	const char *op = json_string_value(json_object_get(request, "op"));
	int verb = verb_of(op);

	if (op && !strcmp(op, "edit"))
		return apply_edit(cp, request, err);
	if (verb < 0)
		return bad(err, -EINVAL, "op", "must be edit, create, modify or delete");
	return apply_object(cp, user, request, verb, err);
}

struct batch {
	const struct cp_user *user;
	const json_t *requests; /* a list, or one request */
	size_t failed;		/* number of the one that failed */
};

static int batch_apply(struct cp *cp, void *ctx, struct model_error *err)
{
	struct batch *b = ctx;
	int rc = 0;

	if (!json_is_array(b->requests))
		return apply_one(cp, b->user, b->requests, err);
	for (b->failed = 0; b->failed < json_array_size(b->requests); b->failed++) {
		rc = apply_one(cp, b->user, json_array_get(b->requests, b->failed), err);
		if (rc)
			return rc;
	}
	return 0;
}

/* A command as its author typed it, but for passwords. */
static void describe_edit(const char *verb, const char *text, char *out, size_t size)
{
	struct text masked = {0};

	model_mask_secrets(text, &masked);
	snprintf(out, size, "%s %s", verb, masked.data && !masked.failed ? masked.data : "");
	text_fini(&masked);
}

/* What the history says of a request: its first line, in weirsh's words as far as it has any. */
static void describe(const json_t *request, char *out, size_t size)
{
	const char *op = json_string_value(json_object_get(request, "op"));
	const char *verb = json_string_value(json_object_get(request, "verb"));
	char *text = text_of(request, "text"), *kind = text_of(request, "kind");
	char *owner = text_of(request, "owner"), *name = text_of(request, "name");

	if (op && !strcmp(op, "edit"))
		describe_edit(verb ? verb : "", text ? text : "", out, size);
	else
		snprintf(out, size, "%s %s %s%s%s", op ? op : "", kind ? kind : "",
			owner ? owner : "", owner && *owner ? " " : "", name ? name : "");
	out[strcspn(out, "\r\n")] = 0;
	/* It goes to the log: nothing that steers the reader's terminal. */
	for (char *p = out; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	free(text);
	free(kind);
	free(owner);
	free(name);
}

void cp_edit(struct cp *cp, struct ipc_request *r, const struct cp_user *user)
{
	cp_transaction(cp, r, user);
}

/* An error tells which request of the list it came from, unless the whole did not fit together. */
static json_t *batch_error(void *ctx)
{
	const struct batch *b = ctx;

	if (!json_is_array(b->requests) || b->failed >= json_array_size(b->requests))
		return NULL;
	return json_pack("{s:i}", "request", (int)b->failed);
}

void cp_transaction(struct cp *cp, struct ipc_request *r, const struct cp_user *user)
{
	const json_t *body = ipc_request_body(r), *requests = json_object_get(body, "requests");
	bool many = !strcmp(json_string_value(json_object_get(body, "op")), "transaction");
	struct batch batch = {.user = user, .requests = many ? requests : body};
	char what[160];

	if (many && !json_is_array(requests)) {
		cp_refuse(r, 400, "requests", "must be a list");
		return;
	}
	describe(many ? json_array_get(requests, 0) : body, what, sizeof(what));
	cp_commit_reply(cp, r,
		&(struct cp_commit){
			.user = user,
			.what = what,
			.change = batch_apply,
			.ctx = &batch,
			.error_more = batch_error,
			.verify = json_is_true(json_object_get(body, "verify")),
		});
}
