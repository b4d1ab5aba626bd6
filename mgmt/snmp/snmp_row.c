/* SPDX-License-Identifier: BSD-3-Clause */
/* A row of weir-cp's "show" in the numbers that LTM has for its words. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ipaddr.h"
#include "ipc/ipc.h"
#include "snmp/snmp_data.h"

const char *const snmp_show_of[SNMP_SHOWN] = {
	"ltm node", "ltm pool", "ltm pool members", "ltm virtual", "ltm virtual-address"};

struct word {
	const char *word;
	uint16_t value;
};

static const struct word availability[] = {
	{"available", 1}, {"unavailable", 2}, {"offline", 3}, {"unknown", 4}, {0}};
static const struct word enabled[] = {
	{"enabled", 1}, {"disabled", 2}, {"disabled-by-parent", 3}, {0}};
/* What its own checks say, and what comes of it with its node: that alone knows of the node's state. */
static const struct word monitor_state[] = {{"unchecked", 0}, {"checking", 1}, {"up", 4},
	{"down", 19}, {"address-down", 19}, {"forced-down", 20},
	{"down-wait-for-manual-resume", 24}, {"fqdn-checking", 26}, {"fqdn-down", 27},
	{"fqdn-up", 28}, {"fqdn-up-no-addr", 29}, {0}};
static const struct word monitor_status[] = {{"unchecked", 0}, {"checking", 1}, {"up", 4},
	{"address-down", 18}, {"down", 19}, {"forced-down", 20},
	{"down-wait-for-manual-resume", 24}, {"fqdn-checking", 26}, {"fqdn-down", 27},
	{"fqdn-up", 28}, {"fqdn-up-no-addr", 29}, {0}};
static const struct word session_status[] = {
	{"enabled", 1}, {"addr-disabled", 2}, {"disabled", 3}, {"user-disabled", 4}, {0}};
static const struct word action[] = {{"none", 0}, {"reset", 1}, {"drop", 2}, {"reselect", 3}, {0}};
static const struct word protocol[] = {
	{"any", 0}, {"icmp", 1}, {"tcp", 6}, {"udp", 17}, {"ipv6-icmp", 58}, {"sctp", 132}, {0}};
static const struct word mode[] = {{"round-robin", 0}, {"ratio-member", 1},
	{"least-connections-member", 2}, {"observed-member", 3}, {"predictive-member", 4},
	{"ratio-node", 5}, {"least-connections-node", 6}, {"fastest-node", 7}, {"observed-node", 8},
	{"predictive-node", 9}, {"dynamic-ratio-node", 10}, {"fastest-app-response", 11},
	{"least-sessions", 12}, {"dynamic-ratio-member", 13},
	{"weighted-least-connections-member", 15}, {"weighted-least-connections-node", 16},
	{"ratio-session", 17}, {0}};

static const char *text_of(const json_t *row, const char *key)
{
	return json_string_value(json_object_get(row, key));
}

static void put_word(struct snmp_row *to, unsigned which, const json_t *row, const char *key,
	const struct word *words)
{
	const char *text = text_of(row, key);

	for (; text && words->word; words++)
		if (!strcmp(words->word, text))
			to->number[which] = words->value;
}

static void put_number(struct snmp_row *to, unsigned which, const json_t *row, const char *key)
{
	const json_t *value = json_object_get(row, key);

	if (json_is_integer(value) && json_integer_value(value) >= 0)
		to->number[which] = (uint64_t)json_integer_value(value);
}

static void put_text(struct snmp_row *to, unsigned which, const json_t *row, const char *key)
{
	char *text = ipc_text_get(json_object_get(row, key), NULL);

	free(to->text[which]);
	to->text[which] = text;
}

static void put_counters(struct snmp_row *to, const json_t *row, const char *side)
{
	static const struct {
		const char *key;
		enum snmp_number which;
		unsigned divide; /* weir-cp counts bits, as LTM's REST interface */
	} counters[] = {{"pktsIn", NUMBER_PACKETS_IN, 1}, {"bitsIn", NUMBER_BYTES_IN, 8},
		{"pktsOut", NUMBER_PACKETS_OUT, 1}, {"bitsOut", NUMBER_BYTES_OUT, 8},
		{"maxConns", NUMBER_MAX, 1}, {"totConns", NUMBER_TOTAL, 1},
		{"curConns", NUMBER_CURRENT, 1}};
	char key[64];

	for (size_t i = 0; i < sizeof(counters) / sizeof(*counters); i++) {
		snprintf(key, sizeof(key), "%s.%s", side, counters[i].key);
		put_number(to, counters[i].which, row, key);
		if (to->number[counters[i].which] != SNMP_ABSENT)
			to->number[counters[i].which] /= counters[i].divide;
	}
}

/* "10.0.0.1", "fd00::1%2": InetAddress with its type. */
static void put_address(struct snmp_row *to, const json_t *row, const char *domain)
{
	const char *text = text_of(row, "addr");
	char plain[IP_ADDR_TEXT] = "";
	struct ip_addr a;
	uint32_t zone;

	if (!text)
		return;
	snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(text, "%"), text);
	if (ip_parse(plain, &a))
		return;
	bool v4 = ip_is_v4(&a);
	to->address_length = v4 ? 4 : 16;
	to->address_type = v4 ? 1 : 2;
	memcpy(to->address, v4 ? a.b + 12 : a.b, to->address_length);
	if (!domain)
		domain = strchr(text, '%');
	if (!domain || !(zone = (uint32_t)strtoul(domain + 1, NULL, 10)))
		return;
	zone = htonl(zone);
	memcpy(to->address + to->address_length, &zone, 4);
	to->address_length += 4;
	to->address_type += 2;
}

static void put_server(struct snmp_row *to, const json_t *row)
{
	const char *session = text_of(row, "session"), *state = text_of(row, "state");
	const char *said = text_of(row, "sessionStatus");

	put_word(to, NUMBER_MONITOR_STATE, row, "monitorStatus", monitor_state);
	put_word(to, NUMBER_MONITOR_STATUS, row, "monitorStatus", monitor_status);
	put_word(to, NUMBER_SESSION, row, "sessionStatus", session_status);
	if (state && !strcmp(state, "user-down"))
		to->number[NUMBER_SESSION] = 5;
	if (session && !strcmp(session, "user-disabled"))
		to->number[NUMBER_NEW_SESSION] = 1;
	else if (said && !strcmp(said, "disabled"))
		to->number[NUMBER_NEW_SESSION] = 4;
	else
		to->number[NUMBER_NEW_SESSION] = to->number[NUMBER_MONITOR_STATUS] ? 3 : 2;
	put_number(to, NUMBER_RATIO, row, "ratio");
	put_number(to, NUMBER_DYNAMIC_RATIO, row, "dynamicRatio");
	put_text(to, TEXT_RULE, row, "monitorRule");
	put_address(to, row, NULL);
}

static void put_pool(struct snmp_row *to, const json_t *row)
{
	put_text(to, TEXT_RULE, row, "monitorRule");
	put_word(to, NUMBER_MODE, row, "loadBalancingMode", mode);
	put_word(to, NUMBER_ACTION, row, "serviceDownAction", action);
	put_number(to, NUMBER_MIN_UP, row, "minUpMembers");
	put_number(to, NUMBER_MEMBERS, row, "memberCnt");
	put_number(to, NUMBER_ACTIVE, row, "activeMemberCnt");
}

static void put_virtual(struct snmp_row *to, const json_t *row)
{
	const char *destination = text_of(row, "destination");
	const char *number = text_of(row, "ipProtocol");

	put_text(to, TEXT_POOL, row, "pool");
	put_text(to, TEXT_ADDRESS_NAME, row, "virtualAddress");
	put_number(to, NUMBER_PORT, row, "port");
	put_word(to, NUMBER_PROTOCOL, row, "ipProtocol", protocol);
	if (number && *number >= '0' && *number <= '9')
		to->number[NUMBER_PROTOCOL] = strtoul(number, NULL, 10);
	put_address(to, row, destination ? strchr(destination, '%') : NULL);
}

int snmp_data_take(struct snmp_data *d, enum snmp_class class, const json_t *row)
{
	struct snmp_row *to;
	bool server = class == SNMP_NODE || class == SNMP_MEMBER;

	if (!json_object_get(row, "name"))
		return 0;
	to = snmp_data_add(d, class);
	if (!to)
		return -ENOMEM;
	put_text(to, TEXT_NAME, row, "name");
	put_text(to, TEXT_REASON, row, "status.statusReason");
	put_word(to, NUMBER_AVAILABLE, row, "status.availabilityState", availability);
	put_word(to, NUMBER_ENABLED, row, "status.enabledState", enabled);
	to->number[NUMBER_IS_ENABLED] = to->number[NUMBER_ENABLED] == 1;
	put_number(to, NUMBER_LIMIT, row, "connectionLimit");
	put_counters(to, row, class >= SNMP_VIRTUAL ? "clientside" : "serverside");
	if (class == SNMP_MEMBER) {
		put_text(to, TEXT_POOL, row, "poolName");
		put_text(to, TEXT_NODE, row, "nodeName");
		put_number(to, NUMBER_PORT, row, "port");
		put_number(to, NUMBER_PRIORITY, row, "priorityGroup");
	}
	if (server)
		put_server(to, row);
	else if (class == SNMP_POOL)
		put_pool(to, row);
	else if (class == SNMP_VIRTUAL)
		put_virtual(to, row);
	else
		put_address(to, row, NULL);
	return 0;
}
