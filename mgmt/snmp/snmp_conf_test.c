/* SPDX-License-Identifier: BSD-3-Clause */
/* What snmpd is told: where to listen, and who may ask. */
#include "snmp/snmp_conf.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

#define MINE "udp:192.0.2.5:161"

static json_t *settings(const char *text)
{
	json_t *parsed = json_loads(text, 0, NULL);

	CHECK(parsed);
	return parsed;
}

static char *conf(const char *text)
{
	json_t *parsed = settings(text);
	char *made = snmp_conf(parsed, "/run/weir/snmp/agentx", MINE);

	json_decref(parsed);
	CHECK(made);
	return made;
}

static void has(const char *text, const char *line, bool wanted)
{
	char *made = conf(text);
	bool found = strstr(made, line) != NULL;

	if (found != wanted)
		fprintf(stderr, "%s: \"%s\" in:\n%s\n", wanted ? "not there" : "there", line, made);
	CHECK(found == wanted);
	free(made);
}

/* LTM's default, nothing, or nothing that snmpd may be told: never the whole world. */
static void where(void)
{
	static const char *const unset[] = {"{}", "{\"agent-addresses\": []}",
		"{\"agent-addresses\": [\"tcp6:161\", \"udp6:161\"]}",
		"{\"agent-addresses\": [\"udp6:161\", \"tcp6:161\"]}",
		"{\"agent-addresses\": [\"unix:/tmp/x\", 7]}"};

	for (size_t i = 0; i < sizeof(unset) / sizeof(*unset); i++)
		has(unset[i], "agentaddress " MINE "\n", true);
	has("{\"agent-addresses\": [\"udp6:161\"]}", "agentaddress udp6:161\n", true);
	has("{\"agent-addresses\": [\"tcp:10.0.0.1:161\", \"udp6:[fd00::1]:161\"]}",
		"agentaddress tcp:10.0.0.1:161,udp6:[fd00::1]:161\n", true);
	has("{\"agent-addresses\": [\"udp:161\", \"udp:1\\nrwcommunity x\"]}", "rwcommunity",
		false);
}

#define COMMUNITY(source, allowed)                                                                 \
	"{\"snmpv2c\": \"enable\", \"snmpv1\": \"disable\", \"allowed-addresses\": [" allowed      \
	"], \"communities\": [{\"name\": \"a\", \"community-name\": \"S\", \"source\": \"" source  \
	"\"}]}"

/* The part that the source and the allowed networks both have. */
static void communities(void)
{
	has(COMMUNITY("", "\"10.0.0.0/8\""), "com2sec c0 10.0.0.0/8 \"S\"\n", true);
	has(COMMUNITY("10.1.0.0/16", "\"10.0.0.0/8\""), "com2sec c0 10.1.0.0/16 \"S\"\n", true);
	has(COMMUNITY("10.0.0.0/8", "\"10.1.2.3\""), "com2sec c0 10.1.2.3/32 \"S\"\n", true);
	has(COMMUNITY("default", "\"10.0.0.0/255.0.0.0\""), "com2sec c0 10.0.0.0/8 \"S\"\n", true);
	has(COMMUNITY("10.9.0.0/16", "\"192.0.2.0/24\""), "com2sec", false);
	has(COMMUNITY("", ""), "com2sec", false);
	has(COMMUNITY("", "\"fd00::/8\""), "com2sec6 c0 fd00::/8 \"S\"\n", true);
	has(COMMUNITY("", "\"10.0.0.0/8\""), "group g0 v2c c0\n", true);
	has(COMMUNITY("", "\"10.0.0.0/8\""), "group g0 v1", false);
	has(COMMUNITY("", "\"10.0.0.0/8\""), "view vc0 included .1\n", true);
	has("{\"communities\": [{\"name\": \"a\", \"community-name\": \"x\\ny\"}]}", "view", false);
}

#define USER(level, more)                                                                          \
	"{\"users\": [{\"name\": \"u\", \"security-level\": \"" level                              \
	"\", \"auth-protocol\": \"sha256\", \"auth-password\": \"Long-Enough\"" more "}]}"

static void users(void)
{
	has(USER("auth-no-privacy", ""), "createUser \"u\" SHA-256 \"Long-Enough\"\n", true);
	has(USER("auth-no-privacy", ""), "access u0 \"\" usm auth exact vu0 none none\n", true);
	has(USER("auth-privacy", ""), "createUser", false);
	has(USER("no-auth-no-privacy", ""), "createUser", false);
	has(USER("auth-privacy",
		    ", \"privacy-protocol\": \"aes\", \"privacy-password\": \"Long-Enough\""),
		"createUser \"u\" SHA-256 \"Long-Enough\" AES \"Long-Enough\"\n", true);
	has(USER("auth-no-privacy", ", \"username\": \"a\\\"b\""), "createUser", false);
}

int main(void)
{
	where();
	communities();
	users();
	has("{\"sys-contact\": \"a\\nb\", \"sys-location\": \"cellar\"}", "syslocation cellar\n",
		true);
	has("{\"sys-contact\": \"a\\nb\"}", "syscontact", false);
	return 0;
}
