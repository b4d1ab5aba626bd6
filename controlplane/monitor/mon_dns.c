/* SPDX-License-Identifier: BSD-3-Clause */
/* One question to a name server over UDP; c-ares writes it. What counts as an answer: LTM's dns monitor. */
#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <ares.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "monitor/mon.h"

#define HEADER 12u

struct query {
	uint16_t id;
};

static const struct {
	const char *name;
	int type;
} types[] = {{"a", ns_t_a}, {"aaaa", ns_t_aaaa}, {"cname", ns_t_cname}, {"mx", ns_t_mx},
	{"ns", ns_t_ns}, {"ptr", ns_t_ptr}, {"soa", ns_t_soa}, {"srv", ns_t_srv},
	{"txt", ns_t_txt}};

static int type_number(const char *name)
{
	if (!*name)
		return ns_t_a;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (!strcasecmp(name, types[i].name))
			return types[i].type;
	return 0;
}

static bool one_of(const char *text, const char *a, const char *b, const char *c)
{
	return !*text || !strcmp(text, a) || !strcmp(text, b) || !strcmp(text, c);
}

/* Bytes for ares_free_string, or NULL: qname is no name. */
static unsigned char *question(const struct mon_monitor *m, uint16_t id, int *length)
{
	unsigned char *bytes = NULL;

	if (ares_create_query(m->text[MON_F_QNAME], ns_c_in, type_number(m->text[MON_F_QTYPE]), id,
		    1, &bytes, length, 0) != ARES_SUCCESS)
		return NULL;
	return bytes;
}

static int dns_check(struct mon_monitor *m, struct mon_fault *fault)
{
	struct ip_addr wanted;
	int length;

	if (!m->length[MON_F_QNAME] || m->length[MON_F_QNAME] > 253)
		return mon_fault(fault, "qname", "must be a name of at most 253 bytes");
	if (!type_number(m->text[MON_F_QTYPE]))
		return mon_fault(
			fault, "qtype", "must be a, aaaa, cname, mx, ns, ptr, soa, srv or txt");
	if (!one_of(m->text[MON_F_ANSWER_CONTAINS], "query-type", "any-type", "anything"))
		return mon_fault(
			fault, "answer-contains", "must be query-type, any-type or anything");
	if (!one_of(m->text[MON_F_ACCEPT_RCODE], "no-error", "anything", "anything"))
		return mon_fault(fault, "accept-rcode", "must be no-error or anything");
	if (m->recv && ip_parse(m->text[MON_F_RECV], &wanted))
		return mon_fault(fault, "recv", "must be an IPv4 or IPv6 address");
	unsigned char *bytes = question(m, 0, &length);
	if (!bytes)
		return mon_fault(fault, "qname", "is no domain name");
	ares_free_string(bytes);
	return 0;
}

static enum mon_outcome dns_open(struct mon_probe *p)
{
	struct query *own = p->own;
	int length;

	if (getrandom(&own->id, sizeof(own->id), 0) != sizeof(own->id))
		return mon_say(p, MON_NOTHING, "not probed: no random numbers");
	unsigned char *bytes = question(p->in->monitor, own->id, &length);
	if (!bytes)
		return mon_say(p, MON_NOTHING, "not probed: no memory");
	mon_send(p, bytes, (size_t)length);
	ares_free_string(bytes);
	return MON_MORE;
}

static unsigned word(const unsigned char *at)
{
	return (unsigned)at[0] << 8 | at[1];
}

/* Is it of the type that was asked for, does it have the address that recv names? */
static void record_judge(const struct mon_monitor *m, const unsigned char *data, unsigned type,
	unsigned size, bool *typed, bool *found)
{
	struct ip_addr wanted, got;

	if ((int)type == type_number(m->text[MON_F_QTYPE]))
		*typed = true;
	if (!m->recv || ip_parse(m->text[MON_F_RECV], &wanted))
		return;
	if (type == ns_t_a && size == 4) {
		uint32_t be;

		memcpy(&be, data, 4);
		got = ip_addr_v4(be);
	} else if (type == ns_t_aaaa && size == 16) {
		memcpy(got.b, data, 16);
	} else {
		return;
	}
	*found = *found || ip_equal(&wanted, &got);
}

/* Steps over a name in a message. NULL: it is damaged. */
static const unsigned char *name_skip(const unsigned char *at, const unsigned char *end)
{
	while (at < end && *at) {
		if ((*at & 0xc0) == 0xc0)
			return end - at < 2 ? NULL : at + 2;
		if (*at & 0xc0)
			return NULL;
		at += 1 + *at;
	}
	return at < end ? at + 1 : NULL;
}

static enum mon_outcome answers_judge(
	struct mon_probe *p, const unsigned char *bytes, const unsigned char *end)
{
	const struct mon_monitor *m = p->in->monitor;
	const char *contains = m->text[MON_F_ANSWER_CONTAINS];
	const unsigned char *at = bytes + HEADER;
	unsigned questions = word(bytes + 4), answers = word(bytes + 6), seen = 0;
	bool typed = false, found = false;

	for (; questions && at; questions--) {
		at = name_skip(at, end);
		at = at && end - at >= 4 ? at + 4 : NULL;
	}
	for (; seen < answers && at; seen++) {
		at = name_skip(at, end);
		if (!at || end - at < 10 || (unsigned)(end - at - 10) < word(at + 8))
			return mon_say(p, MON_BAD, "the answer is damaged");
		record_judge(m, at + 10, word(at), word(at + 8), &typed, &found);
		at += 10 + word(at + 8);
	}
	if (!at)
		return mon_say(p, MON_BAD, "the answer is damaged");
	if (m->recv && found == m->reverse)
		return mon_say(p, found ? MON_BAD_NOW : MON_BAD,
			found ? "reverse: recv is among the addresses"
			      : "recv is not among the addresses");
	if (!strcmp(contains, "anything") || (!strcmp(contains, "any-type") && answers) || typed)
		return MON_GOOD;
	return mon_say(p, MON_BAD, "the answer has no record of the type");
}

static enum mon_outcome dns_input(struct mon_probe *p, const char *text, size_t length, bool end)
{
	const unsigned char *bytes = (const unsigned char *)text;
	const struct query *own = p->own;

	/* What is no answer to our question may come from anywhere. */
	if (length < HEADER || word(bytes) != own->id || !(bytes[2] & 0x80))
		return MON_MORE;
	unsigned rcode = bytes[3] & 15u;
	if (rcode && strcmp(p->in->monitor->text[MON_F_ACCEPT_RCODE], "anything"))
		return mon_say(p, MON_BAD, "answered with rcode %u", rcode);
	if (rcode)
		return MON_GOOD;
	return answers_judge(p, bytes, bytes + length);
}

const struct mon_type mon_dns = {.name = "dns",
	.datagram = true,
	.port = 53,
	.private_size = sizeof(struct query),
	.check = dns_check,
	.open = dns_open,
	.input = dns_input};
