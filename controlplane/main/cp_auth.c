/* SPDX-License-Identifier: BSD-3-Clause */
/* Who asks: the machine's own users by the kernel's word, all others by what their request brings. */
#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "main/cp.h"

int cp_auth_init(struct cp *cp, const char *mgmt_user)
{
	struct passwd *entry = mgmt_user ? getpwnam(mgmt_user) : NULL;

	cp->mgmt_uid = entry ? entry->pw_uid : (uid_t)-1;
	if (!mgmt_user || entry)
		return 0;
	log_error("arguments: --mgmt-user: there is no user %s", mgmt_user);
	return -ENOENT;
}

/* What a request brings to show who asks; NULL where it brings nothing. */
struct credentials {
	const char *user, *password, *token, *address;
};

/* One member; false: refused. max: bytes. */
static bool text_take(
	struct ipc_request *r, const json_t *as, const char *name, size_t max, const char **out)
{
	const json_t *value = json_object_get(as, name);

	*out = json_string_value(value);
	if (!value)
		return true;
	if (!*out)
		cp_refuse(r, 400, name, "must be text");
	else if (!**out)
		cp_refuse(r, 400, name, "is empty");
	else if (json_string_length(value) > max || strlen(*out) != json_string_length(value))
		cp_refuse(r, 400, name, "is not one");
	else
		return true;
	return false;
}

static bool credentials_parse(struct ipc_request *r, const json_t *as, struct credentials *c)
{
	static const char *const known[] = {"user", "password", "token", "address"};
	const char *name;
	json_t *value;

	if (!json_is_object(as)) {
		cp_refuse(r, 400, "as", "must be an object");
		return false;
	}
	json_object_foreach((json_t *)as, name, value)
	{
		bool found = false;

		for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
			found |= !strcmp(known[i], name);
		if (!found) {
			cp_refuse(r, 400, "as", "has an unknown member");
			return false;
		}
	}
	if (!text_take(r, as, "user", 63, &c->user) ||
		!text_take(r, as, "password", 255, &c->password) ||
		!text_take(r, as, "token", 63, &c->token) ||
		!text_take(r, as, "address", 63, &c->address))
		return false;
	if (!c->user != !c->password) {
		cp_refuse(r, 400, c->user ? "password" : "user", "is missing");
		return false;
	}
	if (!c->user && !c->token)
		cp_refuse(r, 401, "as", "has neither user nor token");
	return c->user || c->token;
}

/* A user of the machine, by the kernel's word. */
static void peer_user(const struct ipc_peer *peer, bool administrator, struct cp_user *user)
{
	struct passwd entry, *found = NULL;
	char space[1024];

	*user = (struct cp_user){
		.role = administrator ? ROLE_ADMIN : ROLE_GUEST, .class = HOLD_OPERATOR};
	if (getpwuid_r(peer->uid, &entry, space, sizeof(space), &found) == 0 && found)
		snprintf(user->name, sizeof(user->name), "%s", found->pw_name);
	else
		snprintf(user->name, sizeof(user->name), "uid %u", peer->uid);
}

void cp_identify(struct cp *cp, struct ipc_request *r,
	void (*then)(struct cp *cp, struct ipc_request *r, const struct cp_user *user))
{
	const struct ipc_peer *peer = ipc_request_peer(r);
	bool administrator = peer->uid == 0 || peer->uid == geteuid();
	const json_t *as = json_object_get(ipc_request_body(r), "as");
	struct credentials credentials = {0};
	struct cp_user user;

	peer_user(peer, administrator, &user);
	if (!administrator && peer->uid != cp->mgmt_uid)
		cp_refuse(r, 403, "", "%s may not do this", user.name);
	else if (!as && !administrator)
		cp_refuse(r, 401, "as", "is missing");
	else if (!as)
		then(cp, r, &user);
	else if (credentials_parse(r, as, &credentials))
		cp_refuse(r, 401, credentials.token ? "token" : "password",
			credentials.token ? "does not exist" : "user or password is wrong");
}
