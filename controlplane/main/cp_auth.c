/* SPDX-License-Identifier: BSD-3-Clause */
/* Who asks: the machine's own users by the kernel's word, all others by what their request brings. */
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auth/auth_as.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/rights.h"
#include "main/cp.h"

/* --- users ---------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t mark, const char *text)
{
	for (const char *p = text; *p; p++)
		mark = (mark ^ (unsigned char)*p) * 1099511628211ull;
	return (mark ^ 0xff) * 1099511628211ull;
}

uint64_t cp_user_mark(const struct cp *cp, const struct object *o)
{
	const struct user *u = model_user(o);
	const struct object *access;
	uint64_t mark =
		mix(14695981039346656037ull, model_string(cp->model, u->conf.encrypted_password));

	for (unsigned i = 0; (access = model_child_at(cp->model, o, i)); i++)
		mark = mix(mark, access->path) + model_partition_access(access)->conf.role;
	for (unsigned i = 0; i < u->conf.agent_nodes.count; i++)
		mark = mix(mark, model_string(cp->model, u->conf.agent_nodes.entry[i]));
	return mark;
}

static bool has_role(const struct cp *cp, const struct object *o, uint8_t role)
{
	const struct object *access;

	for (unsigned i = 0; (access = model_child_at(cp->model, o, i)); i++)
		if (model_partition_access(access)->conf.role == role)
			return true;
	return false;
}

static bool may_log_in(const struct cp *cp, const struct object *o)
{
	const struct object *access;

	if (!o || !model_user(o)->conf.encrypted_password)
		return false;
	for (unsigned i = 0; (access = model_child_at(cp->model, o, i)); i++)
		if (model_partition_access(access)->conf.role != PARTITION_ACCESS_ROLE_NO_ACCESS)
			return true;
	return false;
}

static struct cp_user user_of(
	const struct cp *cp, const struct object *o, const char *address, bool by_password)
{
	struct cp_user user = {.cp = cp, .id = o->id, .by_password = by_password};

	snprintf(user.name, sizeof(user.name), "%s", o->path);
	snprintf(user.address, sizeof(user.address), "%s", address ? address : "");
	user.role = has_role(cp, o, PARTITION_ACCESS_ROLE_ADMIN) ? ROLE_ADMIN : ROLE_GUEST;
	user.class = has_role(cp, o, PARTITION_ACCESS_ROLE_AGENT) ? HOLD_AGENT : HOLD_OPERATOR;
	return user;
}

/* A user of the machine, by the kernel's word. */
static struct cp_user peer_user(
	const struct cp *cp, const struct ipc_peer *peer, bool administrator)
{
	struct cp_user user = {
		.cp = cp, .role = administrator ? ROLE_ADMIN : ROLE_GUEST, .class = HOLD_OPERATOR};
	struct passwd entry, *found = NULL;
	char space[1024];

	if (getpwuid_r(peer->uid, &entry, space, sizeof(space), &found) == 0 && found)
		snprintf(user.name, sizeof(user.name), "%s", found->pw_name);
	else
		snprintf(user.name, sizeof(user.name), "uid %u", peer->uid);
	return user;
}

/* --- where clients may be ------------------------------------------------------------------------- */

static bool address_allowed(const struct cp *cp, const char *address)
{
	const struct httpd *h = model_httpd(model_at(cp->model, KIND_HTTPD, 0));
	struct ip_addr client, net;
	bool is_address = address && ip_parse(address, &client) == 0;
	unsigned len;

	for (unsigned i = 0; i < h->conf.allow.count; i++) {
		const char *text = model_string(cp->model, h->conf.allow.entry[i]);
		if (!strcasecmp(text, "all") ||
			(is_address && model_network(text, &net, &len) == 0 &&
				ip_prefix_match(&net, len, &client)))
			return true;
	}
	return false;
}

/* --- letting in ----------------------------------------------------------------------------------- */

/* A request whose password is being checked. */
struct attempt {
	struct cp *cp;
	struct ipc_request *r;
	cp_identified then;
	struct auth_check *check;
	uint32_t user; /* ID_NONE: there is none of this name */
	uint64_t mark;
	bool right;
	char name[64], address[64];
};

static void let_in(
	struct cp *cp, struct ipc_request *r, const struct cp_user *user, cp_identified then)
{
	struct cp_user *kept = malloc(sizeof(*kept));

	if (!kept) {
		cp_refuse(r, 500, "", "no memory");
		return;
	}
	*kept = *user;
	ipc_request_keep(r, kept, free);
	then(cp, r, kept);
}

static void refuse_password(struct ipc_request *r)
{
	cp_refuse(r, 401, "password", "user or password is wrong");
}

void cp_refuse_delayed(struct ipc_request *r, unsigned retry)
{
	char reason[120];

	snprintf(reason, sizeof(reason), "too many were wrong: the next is looked at in %u s",
		retry);
	ipc_reply_error(r, &(struct ipc_error){.code = 429,
				   .field = "password",
				   .reason = reason,
				   .more = json_pack("{s:i}", "retry", (int)retry)});
}

static void held_back_tell(struct cp *cp)
{
	char text[80];

	snprintf(text, sizeof(text), "%u failed log-ins were not written",
		cp->failed_logins.held_back);
	journal_write(&cp->journal, &(struct event_record){.message = MESSAGE_LOGINS_HELD_BACK,
					    .count = cp->failed_logins.held_back,
					    .text = text});
}

static void success_tell(struct cp *cp, const struct cp_user *user)
{
	char text[250];

	snprintf(text, sizeof(text), "log-in of %s from %s", user->name,
		user->address[0] ? user->address : "the machine");
	journal_write(&cp->journal,
		&(struct event_record){
			.message = MESSAGE_LOGIN, .actor = cp_journal_actor(user), .text = text});
}

/* At most so many lines a second; a name that no user has may be a password in the wrong place. */
static void note_failure(struct cp *cp, const struct attempt *t)
{
	uint32_t second = clock_second();
	char text[250];
	unsigned retry, count = auth_failures(cp->auth, t->name, t->address, &retry);

	if (cp->failed_logins.second == second && cp->failed_logins.written >= 10) {
		cp->failed_logins.held_back++;
		return;
	}
	if (cp->failed_logins.second != second) {
		if (cp->failed_logins.held_back)
			held_back_tell(cp);
		cp->failed_logins = (struct cp_failed_logins){.second = second};
	}
	cp->failed_logins.written++;
	const char *name = t->user == ID_NONE ? "an unknown user" : t->name;
	snprintf(text, sizeof(text), "log-in of %s from %s failed: %u in a row%s", name,
		t->address[0] ? t->address : "the machine", count,
		retry ? ", the next has to wait" : "");
	journal_write(&cp->journal,
		&(struct event_record){.message = MESSAGE_LOGIN_FAILED,
			.actor = {"operator", t->user == ID_NONE ? "" : t->name, t->address},
			.count = count,
			.text = text});
}

static void attempt_gone(void *ctx)
{
	struct attempt *t = ctx;

	auth_check_cancel(t->cp->auth, t->check);
	free(t);
}

static void attempt_resume(struct ipc_request *r, void *ctx)
{
	const struct attempt *t = ctx;
	struct cp *cp = t->cp;
	const struct object *o = t->right ? model_get(cp->model, t->user) : NULL;
	struct cp_user user;

	if (!o || cp_user_mark(cp, o) != t->mark) {
		note_failure(cp, t);
		refuse_password(r);
		return;
	}
	user = user_of(cp, o, t->address, true);
	success_tell(cp, &user);
	let_in(cp, r, &user, t->then);
}

static void attempt_checked(void *ctx, bool right, const char *fresh)
{
	struct attempt *t = ctx;

	t->right = right;
	ipc_request_on_gone(t->r, NULL, NULL);
	ipc_request_resume(t->r, attempt_resume, t);
	free(t);
}

static void check_password(struct cp *cp, struct ipc_request *r, const struct auth_as *c,
	const struct object *o, cp_identified then)
{
	bool known = may_log_in(cp, o);
	struct attempt *t = calloc(1, sizeof(*t));
	struct auth_question q = {.user = known ? o->id : ID_NONE,
		.name = c->user,
		.hash = known ? model_string(cp->model, model_user(o)->conf.encrypted_password)
			      : "",
		.password = c->password,
		.address = c->address ? c->address : ""};
	unsigned retry = 0;

	if (!t) {
		cp_refuse(r, 500, "", "no memory");
		return;
	}
	*t = (struct attempt){.cp = cp, .r = r, .then = then, .user = q.user};
	t->mark = known ? cp_user_mark(cp, o) : 0;
	snprintf(t->name, sizeof(t->name), "%s", q.name);
	snprintf(t->address, sizeof(t->address), "%s", q.address);
	enum auth_admission admission =
		auth_check(cp->auth, &q, attempt_checked, t, &t->check, &retry);
	if (admission == AUTH_WAIT) {
		ipc_request_on_gone(r, attempt_gone, t);
		return;
	}
	free(t);
	if (admission == AUTH_RIGHT) {
		struct cp_user user = user_of(cp, o, c->address, true);
		let_in(cp, r, &user, then);
	} else if (admission == AUTH_DELAYED) {
		cp_refuse_delayed(r, retry);
	} else {
		cp_refuse(r, 503, "password", "too many wait to be checked: try again");
	}
}

/* The user of the token; NULL: refused. */
static const struct object *token_user(
	struct cp *cp, struct ipc_request *r, const struct auth_as *c)
{
	const struct auth_token *t = auth_token_find(cp->auth, c->token);
	const struct object *o = t ? model_get(cp->model, t->user) : NULL;

	if (!o)
		cp_refuse(r, 401, "token", "does not exist, or its time is over");
	return o;
}

static void identify(
	struct cp *cp, struct ipc_request *r, const struct auth_as *c, cp_identified then)
{
	const struct object *by_token = NULL, *by_name = NULL;
	struct cp_user user;

	if (!address_allowed(cp, c->address)) {
		cp_refuse(r, 401, "address", "is none of sys httpd allow");
		return;
	}
	if (c->token && !(by_token = token_user(cp, r, c)))
		return;
	if (!c->user) {
		user = user_of(cp, by_token, c->address, false);
		snprintf(user.token, sizeof(user.token), "%s",
			auth_token_find(cp->auth, c->token)->id);
		let_in(cp, r, &user, then);
		return;
	}
	by_name = model_find(cp->model, KIND_USER, ID_NONE, c->user);
	if (by_token && by_token != by_name)
		cp_refuse(r, 401, "user", "is not that of the token");
	else
		check_password(cp, r, c, by_name, then);
}

bool cp_is_trusted(const struct cp *cp, const struct ipc_peer *peer)
{
	return peer->uid == 0 || peer->uid == geteuid() || peer->uid == cp->mgmt_uid;
}

void cp_identify(struct cp *cp, struct ipc_request *r, cp_identified then)
{
	const struct ipc_peer *peer = ipc_request_peer(r);
	bool administrator = peer->uid == 0 || peer->uid == geteuid();
	const json_t *as = json_object_get(ipc_request_body(r), "as");
	struct cp_user user = peer_user(cp, peer, administrator);
	struct auth_as credentials = {0};
	struct auth_as_fault fault;

	if (!administrator && peer->uid != cp->mgmt_uid)
		cp_refuse(r, 403, "", "%s may not do this", user.name);
	else if (!as && !administrator)
		cp_refuse(r, 401, "as", "is missing");
	else if (!as)
		let_in(cp, r, &user, then);
	else if (!auth_as_parse(as, &credentials, &fault))
		cp_refuse(r, fault.code, fault.field, "%s", fault.reason);
	else
		identify(cp, r, &credentials, then);
}

/* --- changes of users ----------------------------------------------------------------------------- */

static void user_changed(struct cp *cp, uint32_t id)
{
	const struct object *o = model_get(cp->model, id);

	auth_tokens_keep(cp->auth, id, o ? cp_user_mark(cp, o) : 0);
}

/* A right of a user: "bob Common". */
static void access_changed(struct cp *cp, const char *path)
{
	char name[64];
	const struct object *o;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(path, " "), path);
	o = model_find(cp->model, KIND_USER, ID_NONE, name);
	if (o)
		user_changed(cp, o->id);
}

void cp_auth_changed(struct cp *cp, const struct model_changes *changes)
{
	const struct auth_token *t = NULL, *next;

	for (unsigned i = 0; changes && i < changes->count; i++) {
		if (changes->row[i].kind == KIND_USER)
			user_changed(cp, changes->row[i].id);
		else if (changes->row[i].kind == KIND_PARTITION_ACCESS)
			access_changed(cp, changes->row[i].path);
	}
	if (changes)
		return;
	for (t = auth_token_next(cp->auth, NULL); t; t = next) {
		const struct object *o = model_get(cp->model, t->user);
		next = auth_token_next(cp->auth, t);
		if (!o || cp_user_mark(cp, o) != t->mark)
			auth_token_end(cp->auth, t);
	}
}

/* --- start ---------------------------------------------------------------------------------------- */

int cp_auth_init(struct cp *cp, const char *mgmt_user)
{
	struct identity id = {.uid = (uid_t)-1};
	int rc = rights_user("--mgmt-user", mgmt_user, &id);

	if (rc)
		return rc;
	cp->mgmt_uid = id.uid;
	cp->auth = auth_new(cp->base);
	if (cp->auth)
		return 0;
	log_error("log-in: no memory or no randomness");
	return -ENOMEM;
}
