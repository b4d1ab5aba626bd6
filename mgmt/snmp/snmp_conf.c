/* SPDX-License-Identifier: BSD-3-Clause */
#include "snmp/snmp_conf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ipaddr.h"
#include "base/log.h"

#define OBJECT_ID "1.3.6.1.4.1.3375.2.1.3.4.43"
#define ANY_OID ".1"
#define LISTEN_CHARACTERS "0123456789abcdefghijklmnopqrstuvwxyzABCDEF.:[]"

static const char *text_of(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ? text : "";
}

static bool is_word(const json_t *o, const char *key, const char *word)
{
	return !strcmp(text_of(o, key), word);
}

/* A line of snmpd.conf ends at a line feed, and quotes cannot be escaped. */
static bool plain(const char *text)
{
	for (const char *p = text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == '"' || *p == '\\' || *p == 0x7f)
			return false;
	return true;
}

static bool is_oid(const char *text)
{
	return *text && strspn(text, ".0123456789") == strlen(text);
}

/* --- who may ask, with which community -------------------------------------------------------------- */

struct network {
	struct ip_addr addr;
	unsigned length;
};

/* "10.0.0.0/8", "10.0.0.0/255.0.0.0", "fd00::1". */
static bool network_parse(const char *text, struct network *out)
{
	char address[64];
	struct ip_addr mask;
	const char *slash = strchr(text, '/');

	snprintf(address, sizeof(address), "%.*s", (int)strcspn(text, "/"), text);
	if (ip_parse(address, &out->addr))
		return false;
	out->length = ip_prefix_max(&out->addr);
	if (slash && ip_parse(slash + 1, &mask) == 0 && ip_is_v4(&mask))
		out->length = (unsigned)__builtin_popcount(mask.w[3]);
	else if (slash)
		out->length = (unsigned)strtoul(slash + 1, NULL, 10);
	return out->length <= ip_prefix_max(&out->addr);
}

/* Of a community's source and an allowed network the part that both have. */
static bool network_meet(const struct network *a, const struct network *b, struct network *out)
{
	const struct network *wide = a->length <= b->length ? a : b, *narrow = wide == a ? b : a;

	if (!ip_prefix_match(&wide->addr, wide->length, &narrow->addr))
		return false;
	*out = *narrow;
	return true;
}

/* "default" as source is any of its family. */
static bool source_parse(const json_t *community, bool v6, struct network *out)
{
	const char *source = text_of(community, "source");

	if (*source && strcmp(source, "default"))
		return network_parse(source, out) && ip_is_v4(&out->addr) == !v6;
	return network_parse(v6 ? "::/0" : "0.0.0.0/0", out);
}

static void source_put(
	FILE *f, const json_t *settings, const json_t *community, unsigned number, bool v6)
{
	const char *secret = text_of(community, "community-name");
	struct network source, allowed, both;
	char text[IP_ADDR_TEXT];
	json_t *entry;
	size_t i;

	if (!source_parse(community, v6, &source))
		return;
	json_array_foreach(json_object_get(settings, "allowed-addresses"), i, entry)
	{
		const char *network = json_string_value(entry);
		if (!network || !network_parse(network, &allowed) ||
			!network_meet(&source, &allowed, &both))
			continue;
		fprintf(f, "com2sec%s c%u %s/%u \"%s\"\n", v6 ? "6" : "", number,
			ip_format(&both.addr, text), both.length, secret);
	}
}

static void view_put(FILE *f, char kind, unsigned number, const json_t *o)
{
	const char *subset = text_of(o, "oid-subset");

	fprintf(f, "view v%c%u included %s\n", kind, number, is_oid(subset) ? subset : ANY_OID);
}

static void community_put(FILE *f, const json_t *settings, const json_t *c, unsigned number)
{
	const char *secret = text_of(c, "community-name");

	if (!*secret || !plain(secret)) {
		log_warning("sys snmp communities %s: left out: %s", text_of(c, "name"),
			*secret ? "snmpd takes no such characters" : "it has no community-name");
		return;
	}
	source_put(f, settings, c, number, false);
	source_put(f, settings, c, number, true);
	view_put(f, 'c', number, c);
	for (unsigned i = 0; i < 2; i++) {
		const char *version = i ? "v2c" : "v1";
		const json_t *on = json_object_get(settings, i ? "snmpv2c" : "snmpv1");

		if (!json_is_true(on) &&
			strcmp(json_string_value(on) ? json_string_value(on) : "", "enable"))
			continue;
		fprintf(f, "group g%u %s c%u\naccess g%u \"\" %s noauth exact vc%u none none\n",
			number, version, number, number, version, number);
	}
}

/* --- users of version 3 ------------------------------------------------------------------------------ */

static const char *protocol_of(const json_t *user)
{
	static const struct {
		const char *word, *snmpd;
	} known[] = {{"sha", "SHA"}, {"sha224", "SHA-224"}, {"sha256", "SHA-256"},
		{"sha384", "SHA-384"}, {"sha512", "SHA-512"}};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (is_word(user, "auth-protocol", known[i].word))
			return known[i].snmpd;
	return NULL;
}

static void user_put(FILE *f, const json_t *u, unsigned number)
{
	const char *name = *text_of(u, "username") ? text_of(u, "username") : text_of(u, "name");
	const char *auth = text_of(u, "auth-password"), *privacy = text_of(u, "privacy-password");
	bool encrypted = is_word(u, "security-level", "auth-privacy");
	const char *why = NULL;

	if (!*name || !plain(name) || !plain(auth) || !plain(privacy))
		why = "snmpd takes no such characters";
	else if (!encrypted && !is_word(u, "security-level", "auth-no-privacy"))
		why = "reading needs at least auth-no-privacy";
	else if (!protocol_of(u) || strlen(auth) < 8)
		why = "it needs an auth-protocol of SHA and a password of 8 bytes";
	else if (encrypted && (!is_word(u, "privacy-protocol", "aes") || strlen(privacy) < 8))
		why = "it needs privacy-protocol aes and a password of 8 bytes";
	if (why) {
		log_warning("sys snmp users %s: left out: %s", text_of(u, "name"), why);
		return;
	}
	fprintf(f, "createUser \"%s\" %s \"%s\"", name, protocol_of(u), auth);
	if (encrypted)
		fprintf(f, " AES \"%s\"", privacy);
	fprintf(f, "\ngroup u%u usm \"%s\"\n", number, name);
	view_put(f, 'u', number, u);
	fprintf(f, "access u%u \"\" usm %s exact vu%u none none\n", number,
		encrypted ? "priv" : "auth", number);
}

/* --- all ---------------------------------------------------------------------------------------------- */

static void line_put(FILE *f, const char *word, const char *text)
{
	if (*text && plain(text))
		fprintf(f, "%s %s\n", word, text);
}

/* LTM's default means everywhere; here it means that nobody has said where. */
static bool addresses_given(const json_t *list)
{
	static const char *const unset[] = {"tcp6:161", "udp6:161"};
	size_t i, known = 0;
	json_t *entry;

	json_array_foreach(list, i, entry)
	{
		const char *text = json_string_value(entry);
		known += text && (!strcmp(text, unset[0]) || !strcmp(text, unset[1]));
	}
	return json_array_size(list) != sizeof(unset) / sizeof(*unset) || known != i;
}

/* "udp6:161", "10.0.0.1:161": as LTM writes them, which is as snmpd does. None at all would be everywhere for it. */
static void addresses_put(FILE *f, const json_t *settings, const char *addresses)
{
	const json_t *list = json_object_get(settings, "agent-addresses");
	const char *between = "agentaddress ";
	json_t *entry;
	size_t i;

	json_array_foreach(addresses_given(list) ? list : NULL, i, entry)
	{
		const char *text = json_string_value(entry);
		if (!text || strspn(text, LISTEN_CHARACTERS) != strlen(text))
			continue;
		fprintf(f, "%s%s", between, text);
		between = ",";
	}
	if (*between == ',')
		fprintf(f, "\n");
	else
		fprintf(f, "agentaddress %s\n", addresses);
}

char *snmp_conf(const json_t *settings, const char *socket, const char *addresses)
{
	char *text = NULL;
	size_t size, i;
	json_t *entry;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	addresses_put(f, settings, addresses);
	fprintf(f, "master agentx\nagentXSocket unix:%s\nagentXPerms 0660 0710\nagentXTimeout 5\n",
		socket);
	fprintf(f, "sysdescr Weir %s\nsysobjectid " OBJECT_ID "\n", text_of(settings, "version"));
	line_put(f, "syscontact", text_of(settings, "sys-contact"));
	line_put(f, "syslocation", text_of(settings, "sys-location"));
	line_put(f, "sysname", text_of(settings, "hostname"));
	fprintf(f, "sysservices %d\n",
		(int)json_integer_value(json_object_get(settings, "sys-services")));
	json_array_foreach(json_object_get(settings, "communities"), i, entry)
		community_put(f, settings, entry, (unsigned)i);
	json_array_foreach(json_object_get(settings, "users"), i, entry)
		user_put(f, entry, (unsigned)i);
	return fclose(f) ? (free(text), NULL) : text;
}
