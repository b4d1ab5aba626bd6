/* SPDX-License-Identifier: BSD-3-Clause */
/* Those who may ask by SNMP and those who get its traps: what must hold of one object. */
#include "model/model_internal.h"

#include <stdlib.h>

struct security {
	uint8_t level, auth, privacy;
	uint32_t auth_password, privacy_password;
};

static int check_security(
	struct model *m, struct item *it, const struct security *s, struct model_error *err)
{
	const struct {
		const char *password, *protocol;
		bool needed, chosen;
		uint32_t handle;
	} parts[] = {
		{"auth-password", "auth-protocol",
			s->level >= SNMP_USER_SECURITY_LEVEL_AUTH_NO_PRIVACY, s->auth,
			s->auth_password},
		{"privacy-password", "privacy-protocol",
			s->level >= SNMP_USER_SECURITY_LEVEL_AUTH_PRIVACY, s->privacy,
			s->privacy_password},
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		char *plain = secret_open(strings_text(&m->strings, parts[i].handle));
		bool brief = plain && strlen(plain) < 8;

		secret_free(plain);
		if (brief)
			return fail(
				m, err, -EINVAL, it, parts[i].password, "has fewer than 8 bytes");
		if (parts[i].needed && !parts[i].chosen)
			return fail(m, err, -EINVAL, it, parts[i].protocol,
				"is needed for this security-level");
		if (parts[i].needed && !parts[i].handle)
			return fail(m, err, -EINVAL, it, parts[i].password,
				"is needed for this security-level");
	}
	return 0;
}

static int check_access_word(struct model *m, struct item *it, bool rw, struct model_error *err)
{
	if (!rw)
		return 0;
	return fail(m, err, -EOPNOTSUPP, it, NULL,
		"access rw is not given: SNMP only reads here; what changes goes through REST or "
		"weirsh, "
		"where it is known who asks");
}

static int check_oid(struct model *m, struct item *it, uint32_t handle, struct model_error *err)
{
	const char *oid = strings_text(&m->strings, handle);

	if (strspn(oid, "0123456789.") == strlen(oid) && !strstr(oid, ".."))
		return 0;
	return fail(m, err, -EINVAL, it, "oid-subset", "\"%s\" is no OID", oid);
}

/* Communities and names stand in a configuration file of words. */
static int check_word(struct model *m, struct item *it, const char *field, const char *text,
	struct model_error *err)
{
	for (const char *p = text; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == 127 || strchr("\"'\\#", *p))
			return fail(m, err, -EINVAL, it, field,
				"takes no blanks, quotes, backslashes and #");
	return 0;
}

static int check_secret_word(struct model *m, struct item *it, const char *field, uint32_t handle,
	struct model_error *err)
{
	char *plain = secret_open(strings_text(&m->strings, handle));
	int rc = plain ? check_word(m, it, field, plain, err) : 0;

	secret_free(plain);
	return rc;
}

static int check_community(struct model *m, struct item *it, struct model_error *err)
{
	const struct snmp_community_conf *c = &((const struct snmp_community *)it->data)->conf;
	const char *source = strings_text(&m->strings, c->source);
	struct ip_addr addr;
	unsigned len;
	int rc;

	if (!c->community_name)
		return fail(m, err, -EINVAL, it, "community-name", "is missing");
	rc = check_secret_word(m, it, "community-name", c->community_name, err);
	rc = rc ? rc : check_access_word(m, it, c->access == SNMP_COMMUNITY_ACCESS_RW, err);
	rc = rc ? rc : check_oid(m, it, c->oid_subset, err);
	if (rc || !*source || !strcmp(source, "default") || !strcmp(source, "all"))
		return rc;
	if (model_network(source, &addr, &len))
		return fail(
			m, err, -EINVAL, it, "source", "\"%s\" is no address or network", source);
	if (ip_is_v4(&addr) == (c->ipv6 == 1))
		return fail(m, err, -EINVAL, it, "ipv6", "does not fit source %s", source);
	return 0;
}

static int check_snmp_user(struct model *m, struct item *it, struct model_error *err)
{
	const struct snmp_user_conf *c = &((const struct snmp_user *)it->data)->conf;
	const struct security s = {c->security_level, c->auth_protocol, c->privacy_protocol,
		c->auth_password, c->privacy_password};
	const char *name = strings_text(&m->strings, c->username);
	int rc = check_word(m, it, "username", name, err);

	rc = rc ? rc : check_access_word(m, it, c->access == SNMP_USER_ACCESS_RW, err);
	rc = rc ? rc : check_oid(m, it, c->oid_subset, err);
	return rc ? rc : check_security(m, it, &s, err);
}

/* RFC 3411: 5 to 32 bytes. */
static bool engine_ok(const char *id)
{
	size_t digits = strlen(id) - 2;

	return !*id ||
	       (!strncmp(id, "0x", 2) && strspn(id + 2, "0123456789abcdefABCDEF") == digits &&
		       digits >= 10 && digits <= 64 && digits % 2 == 0);
}

static int check_trap(struct model *m, struct item *it, struct model_error *err)
{
	const struct snmp_trap_conf *c = &((const struct snmp_trap *)it->data)->conf;
	const struct security s = {c->security_level, c->auth_protocol, c->privacy_protocol,
		c->auth_password, c->privacy_password};
	const char *host = strings_text(&m->strings, c->host);
	int rc = check_modules(m, it, "modules", &c->modules, err);

	rc = rc ? rc : check_secret_word(m, it, "community", c->community, err);
	rc = rc ? rc
		: check_word(
			  m, it, "security-name", strings_text(&m->strings, c->security_name), err);
	if (rc)
		return rc;
	if (!host_ok(host))
		return fail(m, err, -EINVAL, it, "host", "\"%s\" is neither an address nor a name",
			host);
	if (!engine_ok(strings_text(&m->strings, c->engine_id)))
		return fail(m, err, -EINVAL, it, "engine-id",
			"is 0x and 10 to 64 hexadecimal digits, two for each byte");
	if (c->version == SNMP_TRAP_VERSION_2C && !c->community)
		return fail(m, err, -EINVAL, it, "community", "is needed for version 2c");
	if (c->version == SNMP_TRAP_VERSION_3 && !c->security_name)
		return fail(m, err, -EINVAL, it, "security-name", "is needed for version 3");
	return c->version == SNMP_TRAP_VERSION_3 ? check_security(m, it, &s, err) : 0;
}

static bool port_ok(const char *text)
{
	unsigned long port = strtoul(text, NULL, 10);

	return *text && strlen(text) <= 5 && strspn(text, "0123456789") == strlen(text) && port &&
	       port <= UINT16_MAX;
}

/* Passes the transport: 4, 6, or 0 if none is named. */
static unsigned listen_family(const char **text)
{
	static const struct {
		const char *word;
		unsigned family;
	} transports[] = {{"udp6:", 6}, {"tcp6:", 6}, {"udp:", 4}, {"tcp:", 4}};

	for (unsigned i = 0; i < 4; i++) {
		size_t length = strlen(transports[i].word);
		if (strncmp(*text, transports[i].word, length))
			continue;
		*text += length;
		return transports[i].family;
	}
	return 0;
}

/* "udp:192.0.2.5:161", "tcp6:[fd00::1]:161", "192.0.2.5", "udp6:161" */
static bool listen_ok(const char *text)
{
	unsigned family = listen_family(&text);
	bool six = *text == '[';
	const char *host = text + six, *end = host + strcspn(host, six ? "]" : ":");
	char plain[IP_ADDR_TEXT];
	struct ip_addr addr;

	if (!six && !*end && port_ok(text))
		return true;
	if (end - host >= (int)sizeof(plain) || (six && *end != ']'))
		return false;
	memcpy(plain, host, (size_t)(end - host));
	plain[end - host] = '\0';
	if (ip_parse(plain, &addr) || ip_is_v4(&addr) == six || (family && (family == 6) != six))
		return false;
	end += six;
	return !*end || (*end == ':' && port_ok(end + 1));
}

static int check_snmp_settings(struct model *m, struct item *it, struct model_error *err)
{
	const struct snmp_conf *c = &((const struct snmp *)it->data)->conf;
	struct ip_addr addr;
	unsigned len;

	if (c->auth_trap)
		return fail(m, err, -EOPNOTSUPP, it, NULL,
			"auth-trap enabled is not given: snmpd does not say whom it refused; "
			"bigip-traps "
			"tell of wrong passwords at the management API");
	if (!c->agent_addresses.count)
		return fail(m, err, -EINVAL, it, "agent-addresses", "needs one at least");
	for (unsigned i = 0; i < c->agent_addresses.count; i++) {
		const char *text = strings_text(&m->strings, c->agent_addresses.entry[i]);
		if (!listen_ok(text))
			return fail(m, err, -EINVAL, it, "agent-addresses",
				"\"%s\" is not as udp:192.0.2.5:161, tcp6:[fd00::1]:161 or udp:161",
				text);
	}
	for (unsigned i = 0; i < c->allowed_addresses.count; i++) {
		const char *text = strings_text(&m->strings, c->allowed_addresses.entry[i]);
		if (model_network(text, &addr, &len))
			return fail(m, err, -EINVAL, it, "allowed-addresses",
				"\"%s\" is no address or network", text);
	}
	return 0;
}

int check_snmp(struct model *m, struct item *it, struct model_error *err)
{
	switch (it->o.kind) {
	case KIND_SNMP:
		return check_snmp_settings(m, it, err);
	case KIND_SNMP_COMMUNITY:
		return check_community(m, it, err);
	case KIND_SNMP_USER:
		return check_snmp_user(m, it, err);
	default:
		return check_trap(m, it, err);
	}
}
