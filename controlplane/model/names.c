/* SPDX-License-Identifier: BSD-3-Clause */
/* Names as LTM writes them: paths, addresses with route domain, address and port. */
#include "model/model_internal.h"

#include <stdio.h>

static const struct {
	const char *name;
	uint16_t port;
} ports[] = {
	{"any", 0},
	{"*", 0},
	{"ftp", 21},
	{"ssh", 22},
	{"telnet", 23},
	{"smtp", 25},
	{"domain", 53},
	{"http", 80},
	{"pop3", 110},
	{"ntp", 123},
	{"imap", 143},
	{"snmp", 161},
	{"ldap", 389},
	{"https", 443},
	{"syslog", 514},
	{"ldaps", 636},
	{"imaps", 993},
	{"pop3s", 995},
};

const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

size_t path_partition(const char *path)
{
	const char *slash = *path == '/' ? strchr(path + 1, '/') : NULL;

	return slash ? (size_t)(slash - path - 1) : 0;
}

static int refuse(char *reason, size_t size, int code, const char *format, const char *a)
{
	snprintf(reason, size, format, a);
	return code;
}

int name_address(const char *text, struct ip_addr *addr, char *reason, size_t size)
{
	char plain[IP_ADDR_TEXT];
	const char *domain = strchr(text, '%');
	size_t len = domain ? (size_t)(domain - text) : strlen(text);

	if (domain && strcmp(domain, "%0")) {
		if (!domain[1] || strspn(domain + 1, "0123456789") != strlen(domain + 1))
			return refuse(reason, size, -EINVAL, "\"%s\" is not an address", text);
		return refuse(
			reason, size, -EOPNOTSUPP, "route domain %s does not exist", domain + 1);
	}
	if (!strcmp(text, "any") || !strcmp(text, "any6"))
		return ip_parse(text[3] ? "::" : "0.0.0.0", addr);
	if (len >= sizeof(plain))
		return refuse(reason, size, -EINVAL, "\"%s\" is not an address", text);
	memcpy(plain, text, len);
	plain[len] = '\0';
	if (ip_parse(plain, addr))
		return refuse(reason, size, -EINVAL, "\"%s\" is not an address", text);
	return 0;
}

/* Folders within partitions are made and deleted by people, others stand there by themselves. */
bool kind_is_fixed(enum model_kind kind, const char *path)
{
	return model_kinds[kind].fixed && !(kind == KIND_FOLDER && path_partition(path));
}

/* Letters LTM allows in a name; a name of an address may have : and %. */
static bool name_ok(const char *name)
{
	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		return false;
	for (const char *p = name; *p; p++)
		if ((unsigned char)*p <= ' ' || (unsigned char)*p == 0x7f ||
			strchr("{}\"'\\#~/,;|", *p))
			return false;
	return true;
}

/* Appends an address in its one spelling if it is one, else the name. */
static int leaf_canonical(const char *leaf, char *out, char *reason, size_t size)
{
	struct ip_addr addr;
	char text[IP_ADDR_TEXT], why[128];
	bool looks =
		strchr(leaf, '%') ||
		(strchr(leaf, ':') && strspn(leaf, "0123456789abcdefABCDEF:.%") == strlen(leaf));
	int rc;

	rc = name_address(leaf, &addr, why, sizeof(why));
	if (rc == 0 && ip_is_v4(&addr) && *leaf >= '0' && *leaf <= '9' && !strchr(leaf, '%'))
		strcpy(out, leaf); /* there is one way to write it */
	else if (rc == 0)
		strcpy(out, ip_format(&addr, text));
	else if (rc == -EOPNOTSUPP || looks)
		return refuse(reason, size, rc, "%s", why);
	else
		strcpy(out, leaf);
	return 0;
}

static char separator_of(const char *host)
{
	return strchr(path_name(host), ':') ? '.' : ':';
}

static int member_path(const char *name, char *path, char *reason, size_t size)
{
	struct member_name member;
	int rc = name_endpoint(name, &member, reason, size);

	if (rc)
		return rc;
	int len = snprintf(path, MODEL_PATH_MAX + 1, "%s%c%u", member.host,
		separator_of(member.host), member.port);
	if (len > MODEL_PATH_MAX)
		return refuse(reason, size, -EINVAL, "the name \"%s\" is too long", name);
	return 0;
}

bool name_is_partition(const char *name)
{
	return name_ok(name) && strlen(name) <= MODEL_PARTITION_MAX && strcmp(name, "all") &&
	       strcmp(name, "none") && strcmp(name, ALL_PARTITIONS);
}

/* "/Common", "/Common/app/deep": a partition, and names below it. */
static bool folder_ok(const char *folder)
{
	char part[MODEL_PATH_MAX + 1];
	unsigned depth = 0;

	if (strlen(folder) > MODEL_PATH_MAX)
		return false;
	while (*folder == '/') {
		size_t len = strcspn(++folder, "/");

		snprintf(part, sizeof(part), "%.*s", (int)len, folder);
		if (depth++ ? !name_ok(part) : !name_is_partition(part))
			return false;
		folder += len;
	}
	return depth && !*folder;
}

/* "/Common/" of a name whose last slash is given. Whether there is such a folder is asked later. */
static int folder_path(const char *name, const char *slash, char *path, char *reason, size_t size)
{
	char folder[MODEL_PATH_MAX + 1];

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - name) : 0, name);
	if (slash && !folder_ok(folder))
		return refuse(reason, size, -EINVAL, "folder \"%s\" does not exist", folder);
	strcpy(path, slash ? folder : FOLDER_COMMON);
	strcat(path, "/");
	return 0;
}

/* The same of a policy, whose drafts have a folder of their own: "Drafts/x", "/Common/Drafts/x". */
static int policy_folder(const char *name, const char *slash, char *path, char *reason, size_t size)
{
	size_t end = sizeof(DRAFTS) - 2; /* of "Drafts" before the slash */
	bool draft = slash && slash - name >= (long)end && !strncmp(slash - end, DRAFTS, end + 1) &&
		     (slash == name + end || slash[-(long)end - 1] == '/');
	const char *above = !draft ? slash : slash == name + end ? NULL : slash - end - 1;
	int rc = folder_path(name, above, path, reason, size);

	if (!rc && draft)
		strcat(path, DRAFTS);
	return rc;
}

int name_path(enum model_kind kind, const char *name, char *path, char *reason, size_t size)
{
	const struct kind *k = &model_kinds[kind];
	const char *leaf = name, *slash = strrchr(name, '/');
	int rc;

	if (strlen(slash ? slash + 1 : name) > MODEL_LEAF_MAX || strlen(name) > MODEL_PATH_MAX)
		return refuse(reason, size, -EINVAL, "the name is longer than 200 bytes%s", "");
	if (k->name_form == NAME_SINGLE) {
		strcpy(path, strrchr(k->words, ' ') + 1);
		return 0;
	}
	if (k->name_form == NAME_MEMBER)
		return member_path(name, path, reason, size);
	if (k->name_form == NAME_FOLDER) {
		if (!folder_ok(name))
			return refuse(
				reason, size, -EINVAL, "\"%s\" is not the path of a folder", name);
		strcpy(path, name);
		return 0;
	}
	if (k->name_form == NAME_PLAIN || k->name_form == NAME_INTERFACE) {
		if (!name_ok(name))
			return refuse(reason, size, -EINVAL, "\"%s\" is not a name", name);
		strcpy(path, name);
		return 0;
	}
	rc = kind == KIND_POLICY ? policy_folder(name, slash, path, reason, size)
				 : folder_path(name, slash, path, reason, size);
	if (rc)
		return rc;
	if (slash)
		leaf = slash + 1;
	if (!name_ok(leaf))
		return refuse(reason, size, -EINVAL, "\"%s\" is not a name", name);
	/* nobody could say "modify ltm pool all" or "pool none" of such an object */
	if (!strcmp(leaf, "all") || !strcmp(leaf, "none"))
		return refuse(
			reason, size, -EINVAL, "\"%s\" is a word with a meaning, no name", leaf);
	if (kind != KIND_VIRTUAL_ADDRESS && !strncmp(leaf, "any", 3)) {
		strcat(path, leaf);
		return 0;
	}
	return leaf_canonical(leaf, path + strlen(path), reason, size);
}

static int port_parse(const char *text, uint16_t *port)
{
	char *end;
	unsigned long value;

	for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++) {
		if (strcmp(ports[i].name, text))
			continue;
		*port = ports[i].port;
		return 0;
	}
	if (strlen(text) > 5 || *text < '0' || *text > '9')
		return -EINVAL;
	value = strtoul(text, &end, 10);
	if (*end || value > UINT16_MAX)
		return -EINVAL;
	*port = (uint16_t)value;
	return 0;
}

/* Two colons or more: an IPv6 address, and a dot goes before the port. */
static const char *port_separator(const char *leaf)
{
	const char *colon = strchr(leaf, ':');

	if (!strncmp(leaf, "any6.", 5))
		return leaf + 4;
	return colon && strchr(colon + 1, ':') ? strrchr(leaf, '.') : colon;
}

int name_endpoint(const char *name, struct member_name *out, char *reason, size_t size)
{
	char host[MODEL_PATH_MAX + 1];
	const char *leaf = path_name(name), *separator = port_separator(leaf);

	if (!separator || strlen(name) > MODEL_PATH_MAX)
		return refuse(reason, size, -EINVAL,
			"\"%s\" is not address:port (IPv6: address.port)", name);
	if (port_parse(separator + 1, &out->port))
		return refuse(reason, size, -EINVAL, "\"%s\" is not a port", separator + 1);
	memcpy(host, name, separator - name);
	host[separator - name] = '\0';
	/* "any" is an address here, and only here and of a virtual address */
	return name_path(KIND_VIRTUAL_ADDRESS, host, out->host, reason, size);
}

void name_endpoint_text(const char *host, uint16_t port, struct text *out)
{
	text_printf(out, "%s%c%u", host, separator_of(host), port);
}
