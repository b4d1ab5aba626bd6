/* SPDX-License-Identifier: BSD-3-Clause */
/* login, logout and what else users do with their tokens and their own password; the first password. */
#include <errno.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "main/cp.h"
#include "store/atomic_file.h"

/* --- tokens --------------------------------------------------------------------------------------- */

static const char *place(const char *address)
{
	return *address ? address : "the machine";
}

static void login_tell(
	struct cp *cp, enum event_message message, const struct cp_user *user, const char *text)
{
	journal_write(&cp->journal,
		&(struct event_record){
			.message = message, .actor = cp_journal_actor(user), .text = text});
}

static json_t *token_row(const struct cp *cp, const struct auth_token *t)
{
	const struct object *o = model_get(cp->model, t->user);

	return json_pack("{s:s,s:s,s:o,s:I,s:I,s:I,s:I}", "id", t->id, "user", o ? o->path : "",
		"address", ipc_text_new(t->address, strlen(t->address)), "created",
		(json_int_t)t->created, "updated", (json_int_t)t->updated, "expires",
		(json_int_t)t->expires, "timeout", (json_int_t)t->timeout);
}

void cp_login(struct cp *cp, struct ipc_request *r, const struct cp_user *user)
{
	const char *provider = json_string_value(json_object_get(ipc_request_body(r), "provider"));
	const struct object *o = model_get(cp->model, user->id);
	char text[AUTH_TOKEN_LENGTH + 1], said[250];

	if (provider && *provider && strcmp(provider, "tmos") && strcmp(provider, "local")) {
		cp_refuse(r, 401, "provider", "there is no such log-in provider");
		return;
	}
	if (!user->by_password || !o) {
		cp_refuse(r, 401, "password", "is missing");
		return;
	}
	const struct auth_token *t =
		auth_token_new(cp->auth, user->id, cp_user_mark(cp, o), user->address, text);
	if (!t) {
		cp_refuse(r, 500, "", "no memory or no randomness");
		return;
	}
	json_t *row = token_row(cp, t);
	json_object_set_new(row, "token", json_string(text));
	explicit_bzero(text, sizeof(text));
	snprintf(said, sizeof(said), "token %s made for %s from %s", t->id, user->name,
		place(user->address));
	login_tell(cp, MESSAGE_TOKEN_MADE, user, said);
	ipc_reply(r, row);
}

/* Of others only for administrators. NULL: refused. */
static const struct auth_token *token_of(
	struct cp *cp, struct ipc_request *r, const struct cp_user *user)
{
	const json_t *body = ipc_request_body(r);
	const char *text = json_string_value(json_object_get(body, "token"));
	const char *id = json_string_value(json_object_get(body, "token-id"));
	const struct auth_token *t = NULL;

	if (!text == !id) {
		cp_refuse(r, 400, "token", "either token or token-id, as text");
		return NULL;
	}
	t = text ? auth_token_find(cp->auth, text) : auth_token_by_id(cp->auth, id);
	if (t && (t->user == user->id || cp_authorise(user, CP_USERS, NULL)))
		return t;
	cp_refuse(r, 404, text ? "token" : "token-id", "does not exist, or its time is over");
	return NULL;
}

void cp_logout(struct cp *cp, struct ipc_request *r, const struct cp_user *user)
{
	const struct auth_token *t = token_of(cp, r, user);

	if (!t)
		return;
	const struct object *o = model_get(cp->model, t->user);
	char said[600];
	snprintf(said, sizeof(said), "log-out of %s from %s: token %s ended by %s",
		o ? o->path : "", place(user->address), t->id, user->name);
	login_tell(cp, MESSAGE_LOGOUT, user, said);
	auth_token_end(cp->auth, t);
	ipc_reply(r, json_object());
}

void cp_list_tokens(struct cp *cp, struct ipc_request *r, const struct cp_user *user)
{
	const json_t *body = ipc_request_body(r);
	const char *name = json_string_value(json_object_get(body, "user"));
	bool all = cp_authorise(user, CP_USERS, NULL);
	const struct auth_token *t;
	unsigned count = 0;

	if (json_object_get(body, "token") || json_object_get(body, "token-id")) {
		t = token_of(cp, r, user);
		if (!t)
			return;
		ipc_row(r, token_row(cp, t));
		ipc_reply(r, json_pack("{s:i}", "count", 1));
		return;
	}
	for (t = auth_token_next(cp->auth, NULL); t; t = auth_token_next(cp->auth, t)) {
		const struct object *o = model_get(cp->model, t->user);
		if ((!all && t->user != user->id) || (name && (!o || strcmp(o->path, name))))
			continue;
		ipc_row(r, token_row(cp, t));
		count++;
	}
	ipc_reply(r, json_pack("{s:i}", "count", (int)count));
}

void cp_modify_token(struct cp *cp, struct ipc_request *r, const struct cp_user *user)
{
	const json_t *timeout = json_object_get(ipc_request_body(r), "timeout");
	json_int_t seconds = json_integer_value(timeout);
	const struct auth_token *t;

	if (!json_is_integer(timeout) || seconds < 1 || seconds > AUTH_TOKEN_SECONDS_MAX) {
		cp_refuse(r, 400, "timeout", "must be a number of seconds from 1 to %u",
			AUTH_TOKEN_SECONDS_MAX);
		return;
	}
	t = token_of(cp, r, user);
	if (!t)
		return;
	auth_token_extend(cp->auth, t, (uint32_t)seconds);
	ipc_reply(r, token_row(cp, t));
}

/* --- who am I ------------------------------------------------------------------------------------- */

/* Built-in users, who are never deleted, have none beside their name. */
static const char *identity_of(const struct cp *cp, const struct object *o)
{
	const char *identity = model_string(cp->model, model_user(o)->conf.identity);

	return *identity ? identity : o->path;
}

void cp_list_identities(struct cp *cp, struct ipc_request *r)
{
	const struct object *o;
	unsigned i;

	for (i = 0; (o = model_at(cp->model, KIND_USER, i)); i++)
		ipc_row(r, json_pack("{s:s}", "identity", identity_of(cp, o)));
	ipc_reply(r, json_pack("{s:i}", "count", (int)i));
}

void cp_whoami(struct cp *cp, struct ipc_request *r, const struct cp_user *user)
{
	const struct object *o = model_get(cp->model, user->id), *access;
	json_t *roles = json_array();

	if (!o)
		json_array_append_new(roles,
			json_pack("{s:s,s:s}", "partition", "all-partitions", "role", "admin"));
	for (unsigned i = 0; o && (access = model_child_at(cp->model, o, i)); i++) {
		const struct field *f = model_field_find(KIND_PARTITION_ACCESS, NULL, "role");
		struct text role = {0};

		model_field_text(cp->model, access, f, &role);
		json_array_append_new(roles, json_pack("{s:s,s:s}", "partition", access->path,
						     "role", role.data ? role.data : ""));
		text_fini(&role);
	}
	const char *identity = o ? identity_of(cp, o) : user->name;
	ipc_reply(r,
		json_pack("{s:o,s:o,s:o,s:o}", "user", ipc_text_new(user->name, strlen(user->name)),
			"identity", ipc_text_new(identity, strlen(identity)), "address",
			ipc_text_new(user->address, strlen(user->address)), "roles", roles));
}

/* --- the own password ----------------------------------------------------------------------------- */

static int put_hash(struct cp *cp, uint32_t user, const char *hash, struct model_error *err)
{
	return model_set_text(cp->model, user, NULL, "encrypted-password", hash, err);
}

struct new_password {
	struct cp *cp;
	struct ipc_request *r;
	struct auth_check *check;
	uint32_t user;
	uint64_t mark; /* of the user when the old one was looked up */
	bool right;
	const char *hash;
};

static int new_password_apply(struct cp *cp, void *ctx, struct model_error *err)
{
	const struct new_password *p = ctx;

	return put_hash(cp, p->user, p->hash, err);
}

/* The right to it is having known the old one. */
static void new_password_resume(struct ipc_request *r, void *ctx)
{
	struct new_password *p = ctx;
	const struct cp_user *user = ipc_request_kept(r);
	const struct object *o = model_get(p->cp->model, p->user);
	struct cp_user self = *user;
	char what[120];

	/* He changed meanwhile: it was the old password of somebody who may be shut out by now. */
	if (!o || cp_user_mark(p->cp, o) != p->mark)
		p->right = false;
	if (!p->right || !p->hash) {
		cp_refuse(r, p->right ? 500 : 401, "old", p->right ? "no memory" : "is wrong");
		return;
	}
	self.id = ID_NONE;
	self.role = ROLE_ADMIN;
	snprintf(what, sizeof(what), "modify auth user %s password ***", user->name);
	cp_commit_reply(p->cp, r,
		&(struct cp_commit){
			.user = &self, .what = what, .change = new_password_apply, .ctx = p});
}

static void new_password_checked(void *ctx, bool right, const char *fresh)
{
	struct new_password *p = ctx;

	p->right = right;
	p->hash = fresh;
	ipc_request_on_gone(p->r, NULL, NULL);
	ipc_request_resume(p->r, new_password_resume, p);
	free(p);
}

static void new_password_gone(void *ctx)
{
	struct new_password *p = ctx;

	auth_check_cancel(p->cp->auth, p->check);
	free(p);
}

static void check_old(struct cp *cp, struct ipc_request *r, const struct cp_user *user,
	const char *old, const char *fresh)
{
	struct new_password *p = calloc(1, sizeof(*p));
	const struct object *o = model_get(cp->model, user->id);
	const struct user *u = model_user(o);
	unsigned retry = 0;

	if (!p) {
		cp_refuse(r, 500, "", "no memory");
		return;
	}
	*p = (struct new_password){.cp = cp, .r = r, .user = user->id, .mark = cp_user_mark(cp, o)};
	enum auth_admission admission = auth_check(cp->auth,
		&(struct auth_question){.user = user->id,
			.name = user->name,
			.hash = model_string(cp->model, u->conf.encrypted_password),
			.password = old,
			.address = user->address,
			.fresh = fresh},
		new_password_checked, p, &p->check, &retry);
	if (admission == AUTH_WAIT) {
		ipc_request_on_gone(r, new_password_gone, p);
		return;
	}
	free(p);
	if (admission == AUTH_DELAYED)
		cp_refuse_delayed(r, retry);
	else
		cp_refuse(r, 503, "old", "too many passwords wait to be checked: try again");
}

void cp_change_password(struct cp *cp, struct ipc_request *r, const struct cp_user *user)
{
	const json_t *body = ipc_request_body(r);
	const char *old = json_string_value(json_object_get(body, "old"));
	const char *fresh = json_string_value(json_object_get(body, "new"));
	char reason[200];

	if (user->id == ID_NONE)
		cp_refuse(r, 400, "", "%s is no auth user", user->name);
	else if (!old || !fresh)
		cp_refuse(r, 400, old ? "new" : "old", "must be text");
	else if (model_password_fault(cp->model, user->name, fresh, reason, sizeof(reason)))
		cp_refuse(r, 400, "new", "%s", reason);
	else
		check_old(cp, r, user, old, fresh);
}

/* --- the first password --------------------------------------------------------------------------- */

struct first_password {
	uint32_t user;
	char text[AUTH_TOKEN_LENGTH + 1];
};

static bool password_make(struct first_password *p)
{
	static const char letters[] = "abcdefghijkmnpqrstuvwxyz23456789";
	uint8_t random[AUTH_TOKEN_LENGTH];

	if (RAND_bytes(random, sizeof(random)) != 1)
		return false;
	for (unsigned i = 0; i < AUTH_TOKEN_LENGTH; i++)
		p->text[i] = letters[random[i] % 32];
	p->text[AUTH_TOKEN_LENGTH] = '\0';
	explicit_bzero(random, sizeof(random));
	return true;
}

static int first_password_apply(struct cp *cp, void *ctx, struct model_error *err)
{
	const struct first_password *p = ctx;

	return model_set_text(cp->model, p->user, NULL, "password", p->text, err);
}

static int first_password_commit(struct cp *cp, struct first_password *p)
{
	static const struct cp_user system = {
		.name = "system", .role = ROLE_ADMIN, .class = HOLD_SYSTEM};
	struct model_changes changes;
	struct model_error err;
	char sentence[2048];
	int rc = cp_commit(cp,
		&(struct cp_commit){.user = &system,
			.what = "modify auth user admin password ***",
			.change = first_password_apply,
			.ctx = p},
		&changes, &err);

	if (rc)
		log_error("log-in: first password: %s",
			model_error_text(&err, sentence, sizeof(sentence)));
	else
		model_changes_fini(&changes);
	return rc;
}

static int first_password_write(const char *path, const char *text)
{
	char line[AUTH_TOKEN_LENGTH + 2];
	int rc;

	snprintf(line, sizeof(line), "%s\n", text);
	unlink(path); /* a file that is there keeps its mode */
	rc = file_replace(path, line, strlen(line), 0600);
	explicit_bzero(line, sizeof(line));
	return rc;
}

int cp_first_password(struct cp *cp, const char *path)
{
	const struct object *admin = model_find(cp->model, KIND_USER, ID_NONE, "admin");
	struct first_password p = {.user = admin->id};
	int rc;

	if (model_user(admin)->conf.encrypted_password)
		return 0;
	if (!password_make(&p))
		return -EIO;
	rc = first_password_write(path, p.text);
	if (rc)
		log_error("log-in: %s: cannot be written: %s", path, strerror(-rc));
	else
		rc = first_password_commit(cp, &p);
	if (rc == 0)
		log_notice("log-in: the first password of admin is in %s", path);
	explicit_bzero(&p, sizeof(p));
	return rc;
}
