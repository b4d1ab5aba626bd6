/* SPDX-License-Identifier: BSD-3-Clause */
/* Users: passwords, of which hashes are kept, roles, and the networks that they may come from. */
#include <crypt.h>
#include <stdio.h>

#include "model/model_internal.h"

enum { USER_NAME_MAX = 63, SHA512_ROUNDS_MAX = 1000000 };

/* ---- hashes ---- */

char *password_hash(const char *password)
{
	struct crypt_data *data = calloc(1, sizeof(*data));
	char *setting = data ? crypt_gensalt_ra("$y$", 0, NULL, 0) : NULL;
	const char *hash = setting ? crypt_r(password, setting, data) : NULL;
	char *out = hash && *hash == '$' ? strdup(hash) : NULL;

	free(setting);
	if (data)
		explicit_bzero(data, sizeof(*data));
	free(data);
	return out;
}

static bool same_text(const char *a, const char *b)
{
	size_t len = strlen(a);
	unsigned char differs = strlen(b) != len;

	for (size_t i = 0; !differs && i < len; i++)
		differs |= (unsigned char)(a[i] ^ b[i]);
	return !differs;
}

bool password_verify(const char *password, const char *hash)
{
	struct crypt_data *data = calloc(1, sizeof(*data));
	const char *made = data && *hash ? crypt_r(password, hash, data) : NULL;
	bool same = made && *made == '$' && same_text(made, hash);

	if (data)
		explicit_bzero(data, sizeof(*data));
	free(data);
	return same;
}

static bool has_salt_and_digest(const char *text, size_t digest)
{
	const char *mark = strchr(text, '$');

	return mark &&
	       strspn(text, "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			    "abcdefghijklmnopqrstuvwxyz") == (size_t)(mark - text) &&
	       strspn(mark + 1, "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				"abcdefghijklmnopqrstuvwxyz") == digest &&
	       strlen(mark + 1) == digest;
}

/* "none" comes as "". Memory and time of a check are bounded: at most four times the default's. */
bool hash_ok(const char *hash)
{
	unsigned long rounds = 0;
	char *end;

	if (!*hash)
		return true;
	if (!strncmp(hash, "$y$j", 4))
		return hash[4] >= '7' && hash[4] <= 'B' && !strncmp(hash + 5, "T$", 2) &&
		       has_salt_and_digest(hash + 7, 43);
	if (strncmp(hash, "$6$", 3))
		return false;
	hash += 3;
	if (!strncmp(hash, "rounds=", 7)) {
		rounds = strtoul(hash + 7, &end, 10);
		if (*end != '$' || rounds > SHA512_ROUNDS_MAX)
			return false;
		hash = end + 1;
	}
	return has_salt_and_digest(hash, 86);
}

/* ---- passwords ---- */

const char *model_password_fault(
	const struct model *m, const char *user, const char *password, char *buf, size_t size)
{
	const struct password_policy *policy =
		model_password_policy(model_at(m, KIND_PASSWORD_POLICY, 0));

	if (strlen(password) < policy->conf.minimum_length)
		snprintf(buf, size, "has fewer than the %u bytes of auth password-policy",
			policy->conf.minimum_length);
	else if (!strcasecmp(password, user))
		snprintf(buf, size, "is the name of the user");
	else if (strlen(password) > 255)
		snprintf(buf, size, "has more than 255 bytes");
	else
		return NULL;
	return buf;
}

/* The same password again stays as it is: the tokens of its user stay, too. */
static int put_password(struct model *m, struct item *it, const struct field *hash_field,
	const char *text, struct model_error *err)
{
	const struct user *u = it->data;
	const char *before = strings_text(&m->strings, u->conf.encrypted_password);
	char *hash;
	int rc;

	if (++m->passwords > MODEL_PASSWORDS_MAX)
		return fail(m, err, -E2BIG, it, "password",
			"is one more than the %u that one change may set", MODEL_PASSWORDS_MAX);
	if (*before && password_verify(text, before))
		return 0;
	hash = password_hash(text);
	rc = hash ? set_text(m, it, hash_field, hash, err)
		  : fail(m, err, -EIO, it, "password", "no hash can be made of it");
	free(hash);
	return rc;
}

int set_password(struct model *m, struct item *it, const struct field *f, const char *text,
	struct model_error *err)
{
	const struct field *hash = model_field_find(it->o.kind, NULL, "encrypted-password");
	char buf[MODEL_REASON_MAX];
	const char *fault =
		*text ? model_password_fault(m, it->o.path, text, buf, sizeof(buf)) : NULL;

	if (fault)
		return fail(m, err, -EINVAL, it, f->name, "%s", fault);
	return *text ? put_password(m, it, hash, text, err) : set_text(m, it, hash, "", err);
}

/* ---- roles ---- */

static bool user_name_ok(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
	size_t len = strlen(name);

	return len && len <= USER_NAME_MAX && strchr(letters, *name) && strcmp(name, "all") &&
	       strcmp(name, "none") &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
			    "0123456789.-@") == len;
}

static bool is_administrator(const struct item *access)
{
	const struct partition_access *a = access->data;

	return !strcmp(access->o.path, ALL_PARTITIONS) &&
	       a->conf.role == PARTITION_ACCESS_ROLE_ADMIN;
}

static int check_nodes(struct model *m, struct item *it, struct model_error *err)
{
	const struct user *u = it->data;
	char path[MODEL_PATH_MAX + 1], why[MODEL_REASON_MAX];

	for (unsigned i = 0; i < u->conf.agent_nodes.count; i++) {
		const char *name = strings_text(&m->strings, u->conf.agent_nodes.entry[i]);
		if (name_path(KIND_NODE, name, path, why, sizeof(why)))
			return fail(m, err, -EINVAL, it, "agent-nodes", "%s", why);
	}
	return 0;
}

int check_user(struct model *m, struct item *it, struct model_error *err)
{
	if (!user_name_ok(it->o.path))
		return fail(m, err, -EINVAL, it, NULL,
			"is no name of a user: letters, digits and ._-@, at most %u, a letter "
			"first",
			USER_NAME_MAX);
	order_fix(&it->children);
	if (it->o.builtin && (it->children.count != 1 || !is_administrator(it->children.v[0])))
		return fail(
			m, err, -EINVAL, it, "partition-access", "stays admin of " ALL_PARTITIONS);
	for (unsigned i = 0; it->children.count > 1 && i < it->children.count; i++)
		if (!strcmp(it->children.v[i]->o.path, ALL_PARTITIONS))
			return fail(m, err, -EINVAL, it, "partition-access",
				ALL_PARTITIONS " goes not with partitions");
	if (it->children.count > MODEL_LIST_MAX)
		return fail(m, err, -E2BIG, it, "partition-access", "takes at most %u partitions",
			MODEL_LIST_MAX);
	return check_nodes(m, it, err);
}

int check_access(struct model *m, struct item *it, struct model_error *err)
{
	const struct partition_access *a = it->data;
	bool everywhere = a->conf.role == PARTITION_ACCESS_ROLE_AUDITOR ||
			  a->conf.role == PARTITION_ACCESS_ROLE_RESOURCE_ADMIN ||
			  a->conf.role == PARTITION_ACCESS_ROLE_ADMIN ||
			  a->conf.role == PARTITION_ACCESS_ROLE_AGENT;
	struct item *owner = item_of(m, it->o.owner);

	if (everywhere && strcmp(it->o.path, ALL_PARTITIONS))
		return fail(
			m, err, -EINVAL, it, "role", "this role goes with " ALL_PARTITIONS " only");
	return check_user(m, owner, err);
}

/* The data of an item as it is, or as it was before the transaction; NULL: it is or was not there. */
static const void *data_at(const struct model *m, const struct item *it, bool before)
{
	if (before && it->touch)
		return touch_of(m, it)->before;
	return before || !it->deleted ? it->data : NULL;
}

/* Some user that is or was an administrator with a password. */
static const struct item *administrator(const struct model *m, bool before)
{
	for (uint32_t i = 1; i < m->slots; i++) {
		const struct item *it = m->slot[i];
		if (!it || it->o.kind != KIND_PARTITION_ACCESS ||
			strcmp(it->o.path, ALL_PARTITIONS))
			continue;
		const struct item *owner = item_of(m, it->o.owner);
		const struct partition_access *a = data_at(m, it, before);
		const struct user *u = data_at(m, owner, before);
		if (a && a->conf.role == PARTITION_ACCESS_ROLE_ADMIN && u &&
			u->conf.encrypted_password)
			return owner;
	}
	return NULL;
}

int check_administrators(struct model *m, struct model_error *err)
{
	bool concerned = false;

	for (uint32_t i = 0; i < m->touches; i++)
		concerned |= m->touch[i].item->o.kind == KIND_USER ||
			     m->touch[i].item->o.kind == KIND_PARTITION_ACCESS;
	if (!concerned || administrator(m, false))
		return 0;
	const struct item *last = administrator(m, true);
	return last ? fail(m, err, -EINVAL, last, NULL,
			      "is the last administrator who can log in: this may not change")
		    : 0;
}

/* ---- where clients may be ---- */

/* Prefix length of a mask as people write it: "8", "255.0.0.0". -1: it is none. */
static int mask_length(const char *text, const struct ip_addr *addr)
{
	unsigned max = ip_prefix_max(addr), len = 0;
	struct ip_addr mask, all;

	if (*text && strlen(text) <= 3 && strspn(text, "0123456789") == strlen(text)) {
		len = (unsigned)strtoul(text, NULL, 10);
		return len <= max ? (int)len : -1;
	}
	if (ip_parse(text, &mask) || ip_is_v4(&mask) != ip_is_v4(addr) ||
		ip_parse(ip_is_v4(addr) ? "255.255.255.255"
					: "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
			&all))
		return -1;
	for (len = 0; len <= max; len++) {
		struct ip_addr net = ip_prefix_of(&all, len);
		if (ip_equal(&net, &mask))
			return (int)len;
	}
	return -1;
}

int model_network(const char *text, struct ip_addr *addr, unsigned *len)
{
	size_t host = strcspn(text, "/");
	char plain[IP_ADDR_TEXT];
	int mask;

	if (host >= sizeof(plain))
		return -EINVAL;
	memcpy(plain, text, host);
	plain[host] = '\0';
	if (ip_parse(plain, addr))
		return -EINVAL;
	mask = text[host] ? mask_length(text + host + 1, addr) : (int)ip_prefix_max(addr);
	if (mask < 0)
		return -EINVAL;
	*len = (unsigned)mask;
	return 0;
}

int check_httpd(struct model *m, struct item *it, struct model_error *err)
{
	const struct httpd *h = it->data;
	struct ip_addr addr;
	unsigned len;

	for (unsigned i = 0; i < h->conf.allow.count; i++) {
		const char *text = strings_text(&m->strings, h->conf.allow.entry[i]);
		if (strcasecmp(text, "all") && model_network(text, &addr, &len))
			return fail(m, err, -EINVAL, it, "allow",
				"\"%s\" is neither All nor an address or network", text);
	}
	return 0;
}
