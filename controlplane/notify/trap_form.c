/* SPDX-License-Identifier: BSD-3-Clause */
/* clang-format off: net-snmp's headers need each other in this order */
#include <net-snmp/net-snmp-config.h>
#include <net-snmp/net-snmp-includes.h>
/* clang-format on */
#include <stdio.h>
#include <string.h>

#include "event/event_message.h"
#include "ipc/ipc.h"
#include "notify/trap_form.h"

#define ENTERPRISES 1, 3, 6, 1, 4, 1
#define LTM ENTERPRISES, 3375, 2, 4
#define WEIR ENTERPRISES, 8072, 9999, 9999, 1 /* netSnmpPlaypen: for private use */
#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define TEXT_MAX 1000u /* bytes of a variable: a trap must fit into a datagram that nobody cuts */

enum { TRAP_MEMBER_DOWN = 10, TRAP_MEMBER_UP, TRAP_NODE_DOWN, TRAP_NODE_UP };

static const oid up_time[] = {1, 3, 6, 1, 2, 1, 1, 3, 0},
		 trap_oid[] = {1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0},
		 enterprise[] = {1, 3, 6, 1, 6, 3, 1, 1, 4, 3, 0};
static const oid ltm_message[] = {LTM, 1, 1}, ltm_node[] = {LTM, 1, 2}, ltm_port[] = {LTM, 1, 3};
static const oid weir_message[] = {WEIR, 1, 1}, weir_object[] = {WEIR, 1, 2},
		 weir_id[] = {WEIR, 1, 3}, weir_incident[] = {WEIR, 1, 4};

static const struct event_message_row *message_of(const json_t *record)
{
	int number = event_message_of(ipc_string(record, "id"));

	return number < 0 ? NULL : &event_messages[number];
}

bool trap_has(const json_t *record)
{
	const struct event_message_row *m = message_of(record);

	return m && (m->trap || m->own_trap);
}

void trap_server(const char *object, char *node, size_t size, const char **port)
{
	const char *colon = strchr(object, ':');
	bool ipv6 = colon && strchr(colon + 1, ':');
	const char *end = strrchr(object, ipv6 ? '.' : ':');

	*port = end ? end + 1 : "";
	snprintf(node, size, "%.*s", end ? (int)(end - object) : (int)strlen(object), object);
}

static bool put(netsnmp_pdu *pdu, const oid *name, size_t count, u_char type, const void *value,
	size_t length)
{
	return snmp_pdu_add_variable(pdu, name, count, type, value, length) != NULL;
}

static bool put_text(netsnmp_pdu *pdu, const oid *name, size_t count, const char *text)
{
	size_t length = strlen(text);

	if (length > TEXT_MAX) {
		length = TEXT_MAX;
		while (length && ((unsigned char)text[length] & 0xc0) == 0x80)
			length--;
	}
	return put(pdu, name, count, ASN_OCTET_STR, text, length);
}

static bool fill_ltm(netsnmp_pdu *pdu, const json_t *record, unsigned trap)
{
	const char *object = ipc_string(record, "object"), *port = "";
	bool member = trap == TRAP_MEMBER_DOWN || trap == TRAP_MEMBER_UP;
	bool node = trap == TRAP_NODE_DOWN || trap == TRAP_NODE_UP;
	char name[600];

	snprintf(name, sizeof(name), "%s", object);
	if (member)
		trap_server(object, name, sizeof(name), &port);
	return put_text(pdu, ltm_message, COUNT(ltm_message), ipc_string(record, "text")) &&
	       (!(member || node) || put_text(pdu, ltm_node, COUNT(ltm_node), name)) &&
	       (!member || put_text(pdu, ltm_port, COUNT(ltm_port), port));
}

static bool fill_own(netsnmp_pdu *pdu, const json_t *record)
{
	char incident[24];

	snprintf(incident, sizeof(incident), "%lld",
		(long long)json_integer_value(json_object_get(record, "incident")));
	return put_text(pdu, weir_message, COUNT(weir_message), ipc_string(record, "text")) &&
	       put_text(pdu, weir_object, COUNT(weir_object), ipc_string(record, "object")) &&
	       put_text(pdu, weir_id, COUNT(weir_id), ipc_string(record, "id")) &&
	       put_text(pdu, weir_incident, COUNT(weir_incident), incident);
}

bool trap_fill(netsnmp_pdu *pdu, const json_t *record, unsigned long uptime)
{
	const struct event_message_row *m = message_of(record);
	oid ltm[] = {LTM, 0, m->trap}, weir[] = {WEIR, 0, m->own_trap};
	const oid ltm_branch[] = {LTM}, weir_branch[] = {WEIR};
	bool is_ltm = m->trap;

	if (!put(pdu, up_time, COUNT(up_time), ASN_TIMETICKS, &uptime, sizeof(uptime)))
		return false;
	if (!put(pdu, trap_oid, COUNT(trap_oid), ASN_OBJECT_ID, is_ltm ? ltm : weir,
		    is_ltm ? sizeof(ltm) : sizeof(weir)))
		return false;
	if (is_ltm ? !fill_ltm(pdu, record, m->trap) : !fill_own(pdu, record))
		return false;
	return put(pdu, enterprise, COUNT(enterprise), ASN_OBJECT_ID,
		is_ltm ? ltm_branch : weir_branch,
		is_ltm ? sizeof(ltm_branch) : sizeof(weir_branch));
}
