/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * snmp-dca: a server's load, from its SNMP agent, becomes its dynamic ratio. net-snmp writes and reads the packets; they
 * go through a socket of the probe's own, since the library's sessions know no event loop and no large descriptors.
 */
/* clang-format off: net-snmp's headers need each other in this order */
#include <net-snmp/net-snmp-config.h>
#include <net-snmp/net-snmp-includes.h>
#include <net-snmp/library/snmp_impl.h>
/* clang-format on */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "ipc/ipc.h"
#include "monitor/mon.h"
#include "monitor/mon_snmp.h"

#define COMMUNITY_MAX 256u

/* What is asked for, all below UCD-SNMP-MIB. */
static const oid ucd[] = {1, 3, 6, 1, 4, 1, 2021};
#define NAME_LENGTH(value) (sizeof(ucd) / sizeof(*ucd) + names[value].length)

static const struct {
	oid tail[4];
	size_t length;
} names[SNMP_VALUES] = {
	[SNMP_CPU_IDLE] = {{11, 11, 0}, 3},	/* ssCpuIdle, % */
	[SNMP_MEMORY] = {{4, 5, 0}, 3},		/* memTotalReal, kB */
	[SNMP_MEMORY_FREE] = {{4, 6, 0}, 3},	/* memAvailReal */
	[SNMP_MEMORY_BUFFER] = {{4, 14, 0}, 3}, /* memBuffer */
	[SNMP_MEMORY_CACHED] = {{4, 15, 0}, 3}, /* memCached */
	[SNMP_DISK_USED] = {{9, 1, 9, 1}, 4},	/* dskPercent.1 */
};

struct snmp {
	long request;
	unsigned missing; /* bits: the agent does not have these */
};

/* --- the ratio ---------------------------------------------------------------------------------- */

static double percent(double used)
{
	return used < 0 ? 0 : used > 100 ? 100 : used;
}

/* In percent, or -1: not known. */
static void used_read(const double *value, double *used)
{
	used[SNMP_CPU] = value[SNMP_CPU_IDLE] < 0 ? -1 : percent(100 - value[SNMP_CPU_IDLE]);
	used[SNMP_DISK] = value[SNMP_DISK_USED] < 0 ? -1 : percent(value[SNMP_DISK_USED]);
	used[SNMP_RAM] = -1;
	if (value[SNMP_MEMORY] > 0 && value[SNMP_MEMORY_FREE] >= 0) {
		double spare = value[SNMP_MEMORY_FREE] + fmax(0, value[SNMP_MEMORY_BUFFER]) +
			       fmax(0, value[SNMP_MEMORY_CACHED]);

		used[SNMP_RAM] = percent(100 - 100 * spare / value[SNMP_MEMORY]);
	}
}

unsigned snmp_ratio(const struct snmp_weights *w, const double value[SNMP_VALUES])
{
	double used[SNMP_RESOURCES], sum = 0, all = 0;

	used_read(value, used);
	for (int i = 0; i < SNMP_RESOURCES; i++) {
		if (used[i] < 0 || w->coefficient[i] <= 0)
			continue;
		if (used[i] >= w->threshold[i])
			return 1;
		sum += w->coefficient[i] * (w->threshold[i] - used[i]) / w->threshold[i];
		all += w->coefficient[i];
	}
	return all > 0 ? 1 + (unsigned)lround(99 * sum / all) : 0;
}

bool snmp_differs(long long before, unsigned ratio)
{
	long long by = llabs(before - (long long)ratio);

	return !before || by >= 3 || (by && (ratio == 1 || ratio == 100));
}

/* --- fields ------------------------------------------------------------------------------------- */

/* A number, or a text of one. */
static bool real_read(const json_t *message, const char *name, double min, double max, double *out,
	struct mon_fault *fault)
{
	const json_t *value = json_object_get(message, name);
	const char *text = json_string_value(value);
	char *end = NULL;
	double number = text ? strtod(text, &end) : json_number_value(value);

	if (!value || (text && !*text))
		return true;
	if ((text ? *end != 0 : !json_is_number(value)) || !(number >= min && number <= max)) {
		mon_fault(fault, name, "must be a number, %g to %g", min, max);
		return false;
	}
	*out = number;
	return true;
}

static bool weights_read(const json_t *message, struct snmp_weights *w, struct mon_fault *fault)
{
	static const char *const words[SNMP_RESOURCES][2] = {
		[SNMP_CPU] = {"cpu-coefficient", "cpu-threshold"},
		[SNMP_RAM] = {"memory-coefficient", "memory-threshold"},
		[SNMP_DISK] = {"disk-coefficient", "disk-threshold"}};

	*w = (struct snmp_weights){.coefficient = {1.5, 1, 2}, .threshold = {80, 70, 90}};
	for (int i = 0; i < SNMP_RESOURCES; i++)
		if (!real_read(message, words[i][0], 0, 1000, &w->coefficient[i], fault) ||
			!real_read(message, words[i][1], 1, 100, &w->threshold[i], fault))
			return false;
	return true;
}

static bool is_v2(const struct mon_monitor *m)
{
	return strchr(m->text[MON_F_VERSION], '2') != NULL;
}

static bool word_is(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (!strcmp(text, *words))
			return true;
	return false;
}

static int snmp_check(struct mon_monitor *m, struct mon_fault *fault)
{
	static const char *const versions[] = {"", "v1", "v2c", NULL}, *const agents[] = {
									       "", "UCD", NULL};
	struct snmp_weights w;

	snmp_enable_calllog(); /* the library says nothing by itself */
	netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_REVERSE_ENCODE, 1);
	if (!word_is(m->text[MON_F_VERSION], versions))
		return mon_fault(fault, "version", "must be v1 or v2c");
	if (!word_is(m->text[MON_F_AGENT_TYPE], agents))
		return mon_fault(fault, "agent-type", "must be UCD, the only one there is");
	if (m->length[MON_F_COMMUNITY] > COMMUNITY_MAX)
		return mon_fault(fault, "community", "must have at most %u bytes", COMMUNITY_MAX);
	return weights_read(m->source, &w, fault) ? 0 : -EINVAL;
}

/* --- the conversation --------------------------------------------------------------------------- */

static void name_of(unsigned value, oid *out)
{
	memcpy(out, ucd, sizeof(ucd));
	memcpy(out + sizeof(ucd) / sizeof(*ucd), names[value].tail,
		names[value].length * sizeof(oid));
}

static bool packet_send(struct mon_probe *p, netsnmp_pdu *pdu)
{
	netsnmp_session session = {.version = pdu->version};
	size_t size = 2048, length = 0;
	u_char *bytes = malloc(size);
	bool good = bytes && snmp_build(&bytes, &size, &length, &session, pdu) == 0;

	/* Written from the end: it is the last part. */
	if (good && length <= size)
		mon_send(p, bytes + size - length, length);
	free(bytes);
	return good;
}

static enum mon_outcome ask(struct mon_probe *p)
{
	const struct mon_monitor *m = p->in->monitor;
	const char *community = *m->text[MON_F_COMMUNITY] ? m->text[MON_F_COMMUNITY] : "public";
	netsnmp_pdu *pdu = snmp_pdu_create(SNMP_MSG_GET);
	struct snmp *own = p->own;
	oid name[MAX_OID_LEN];

	if (!pdu || getrandom(&own->request, sizeof(own->request), 0) != sizeof(own->request)) {
		snmp_free_pdu(pdu);
		return mon_say(p, MON_NOTHING, "not probed: no memory");
	}
	own->request &= 0x7fffffff;
	pdu->version = is_v2(m) ? SNMP_VERSION_2c : SNMP_VERSION_1;
	pdu->reqid = own->request;
	pdu->community = (u_char *)strdup(community);
	pdu->community_len = strlen(community);
	for (unsigned value = 0; value < SNMP_VALUES; value++) {
		name_of(value, name);
		if (!(own->missing & 1u << value))
			snmp_add_null_var(pdu, name, NAME_LENGTH(value));
	}
	bool good = pdu->community && packet_send(p, pdu);
	snmp_free_pdu(pdu);
	return good ? MON_MORE : mon_say(p, MON_NOTHING, "not probed: no memory");
}

/* Version 1 refuses all for the sake of one: ask for the others. */
static enum mon_outcome ask_without(struct mon_probe *p, long index)
{
	struct snmp *own = p->own;

	for (unsigned value = 0; value < SNMP_VALUES; value++)
		if (!(own->missing & 1u << value) && --index == 0) {
			own->missing |= 1u << value;
			break;
		}
	if (index || own->missing == (1u << SNMP_VALUES) - 1)
		return mon_say(p, MON_NOTHING, "the agent has nothing of UCD-SNMP-MIB");
	return ask(p);
}

static void values_read(const netsnmp_pdu *pdu, double value[SNMP_VALUES])
{
	oid name[MAX_OID_LEN];

	for (unsigned i = 0; i < SNMP_VALUES; i++)
		value[i] = -1;
	for (const netsnmp_variable_list *v = pdu->variables; v; v = v->next_variable)
		for (unsigned i = 0; i < SNMP_VALUES; i++) {
			name_of(i, name);
			if (!snmp_oid_compare(v->name, v->name_length, name, NAME_LENGTH(i)) &&
				(v->type == ASN_INTEGER || v->type == ASN_GAUGE) && v->val.integer)
				value[i] = (double)*v->val.integer;
		}
}

static enum mon_outcome response_judge(struct mon_probe *p, const netsnmp_pdu *pdu)
{
	struct mon_instance *in = p->in;
	double value[SNMP_VALUES];
	struct mon_fault fault;
	struct snmp_weights w;

	if (pdu->errstat == SNMP_ERR_NOSUCHNAME)
		return ask_without(p, pdu->errindex);
	if (pdu->errstat)
		return mon_say(p, MON_NOTHING, "the agent answers with error %ld", pdu->errstat);
	values_read(pdu, value);
	unsigned ratio = weights_read(in->monitor->source, &w, &fault) ? snmp_ratio(&w, value) : 0;
	if (!ratio)
		return mon_say(p, MON_NOTHING, "the agent has nothing of UCD-SNMP-MIB");
	p->step = 1;
	if (!snmp_differs(json_integer_value(json_object_get(in->advice, "ratio")), ratio))
		return MON_GOOD;
	mon_instance_advise(in, json_pack("{s:s,s:I,s:I,s:i}", "type", MON_DYNAMIC_RATIO, "object",
					(json_int_t)in->object, "monitor",
					(json_int_t)in->monitor->id, "ratio", (int)ratio));
	return MON_GOOD;
}

static enum mon_outcome snmp_input(struct mon_probe *p, const char *text, size_t length, bool end)
{
	const struct snmp *own = p->own;
	netsnmp_pdu *pdu = snmp_response(text, length);
	enum mon_outcome outcome = MON_MORE; /* what is no answer to us may be from anywhere */

	if (pdu && pdu->command == SNMP_MSG_RESPONSE && pdu->reqid == own->request)
		outcome = response_judge(p, pdu);
	snmp_free_pdu(pdu);
	return outcome;
}

netsnmp_pdu *snmp_response(const char *bytes, size_t length)
{
	u_char community[COMMUNITY_MAX], copy[MON_SEARCH_MAX];
	size_t community_length = sizeof(community), left = length;
	long version;

	if (!length || length > sizeof(copy))
		return NULL;
	memcpy(copy, bytes, length); /* the library wants to be able to write */
	u_char *at = snmp_comstr_parse(copy, &left, community, &community_length, &version);
	netsnmp_pdu *pdu = at ? snmp_pdu_create(SNMP_MSG_RESPONSE) : NULL;
	if (pdu && snmp_pdu_parse(pdu, at, &left) == 0)
		return pdu;
	snmp_free_pdu(pdu);
	return NULL;
}

const struct mon_type mon_snmp_dca = {.name = "snmp-dca",
	.datagram = true,
	.advice = true,
	.port = 161,
	.private_size = sizeof(struct snmp),
	.check = snmp_check,
	.open = ask,
	.input = snmp_input};
