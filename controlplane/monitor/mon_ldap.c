/* SPDX-License-Identifier: BSD-3-Clause */
/* ldap: bind and search, written and read with OpenLDAP's BER functions (RFC 4511). */
#include <errno.h>
#include <lber.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/mon.h"
#include "monitor/mon_tls.h"

#define VERSION 3
#define MESSAGE_MAX 65536u
#define SIZE_LIMIT_EXCEEDED 4 /* there is more than the one entry that we ask for */

enum {
	BIND_REQUEST = 0x60,
	BIND_RESPONSE = 0x61,
	SEARCH_REQUEST = 0x63,
	SEARCH_ENTRY = 0x64,
	SEARCH_DONE = 0x65,
	SIMPLE = 0x80,
	PRESENT = 0x87,
	EXTENDED_REQUEST = 0x77,
	EXTENDED_RESPONSE = 0x78,
	EXTENDED_NAME = 0x80
};

enum { ONE_LEVEL = 1, SUBTREE = 2 };

struct ldap {
	unsigned entries;
};

static enum mon_outcome ber_send(struct mon_probe *p, BerElement *ber, int good)
{
	struct berval bytes;

	if (good < 0 || ber_flatten2(ber, &bytes, 0) < 0) {
		ber_free(ber, 1);
		return mon_say(p, MON_NOTHING, "not probed: no memory");
	}
	mon_send(p, bytes.bv_val, bytes.bv_len);
	ber_free(ber, 1);
	return MON_MORE;
}

static enum mon_outcome log_in(struct mon_probe *p)
{
	char *const *text = p->in->monitor->text;
	BerElement *ber = ber_alloc_t(LBER_USE_DER);

	if (!ber)
		return mon_say(p, MON_NOTHING, "not probed: no memory");
	return ber_send(p, ber,
		ber_printf(ber, "{it{isto}}", 1, (ber_tag_t)BIND_REQUEST, VERSION,
			text[MON_F_USERNAME], (ber_tag_t)SIMPLE, text[MON_F_PASSWORD],
			(ber_len_t)strlen(text[MON_F_PASSWORD])));
}

/* RFC 4511, section 4.14. */
static enum mon_outcome start_tls(struct mon_probe *p)
{
	BerElement *ber = ber_alloc_t(LBER_USE_DER);

	if (!ber)
		return mon_say(p, MON_NOTHING, "not probed: no memory");
	return ber_send(p, ber,
		ber_printf(ber, "{it{ts}}", 3, (ber_tag_t)EXTENDED_REQUEST,
			(ber_tag_t)EXTENDED_NAME, "1.3.6.1.4.1.1466.20037"));
}

static enum mon_outcome ldap_open(struct mon_probe *p)
{
	p->limit = MESSAGE_MAX;
	return p->in->monitor->tls_later ? start_tls(p) : log_in(p);
}

/* The filter is (attribute=*) or (attribute=value). */
static enum mon_outcome search(struct mon_probe *p)
{
	const struct mon_monitor *m = p->in->monitor;
	const char *filter = m->length[MON_F_FILTER] ? m->text[MON_F_FILTER] : "objectClass=*";
	char name[128], value[512];
	BerElement *ber = ber_alloc_t(LBER_USE_DER);
	int rc = 0;

	if (!ber)
		return mon_say(p, MON_NOTHING, "not probed: no memory");
	sscanf(filter, *filter == '(' ? "(%127[^=()]=%511[^()])" : "%127[^=()]=%511[^()]", name,
		value);
	rc = ber_printf(ber, "{it{seeiib", 2, (ber_tag_t)SEARCH_REQUEST, m->text[MON_F_BASE],
		m->mandatory_attributes ? SUBTREE : ONE_LEVEL, 0, 1, 0, 0);
	if (rc >= 0 && !strcmp(value, "*"))
		rc = ber_printf(ber, "ts", (ber_tag_t)PRESENT, name);
	else if (rc >= 0)
		rc = ber_printf(ber, "t{ss}", (ber_tag_t)0xa3, name, value);
	if (rc >= 0)
		rc = ber_printf(ber, "{s}}}", "1.1");
	return ber_send(p, ber, rc);
}

static enum mon_outcome result_judge(struct mon_probe *p, BerElement *ber, const char *what)
{
	const struct ldap *own = p->own;
	ber_int_t code;

	if (ber_scanf(ber, "{e", &code) == LBER_ERROR)
		return mon_say(p, MON_BAD, "ldap: %s: damaged answer", what);
	if (code && (code != SIZE_LIMIT_EXCEEDED || !own->entries))
		return mon_say(p, MON_BAD, "ldap: %s: result %d", what, (int)code);
	return MON_GOOD;
}

static enum mon_outcome encrypted(struct mon_probe *p)
{
	enum mon_outcome outcome = p->ssl ? MON_BAD : mon_tls_begin(p);

	return outcome == MON_MORE ? log_in(p) : outcome;
}

static enum mon_outcome message_judge(struct mon_probe *p, BerElement *ber)
{
	const struct mon_monitor *m = p->in->monitor;
	struct ldap *own = p->own;
	ber_int_t id;
	ber_len_t length;
	enum mon_outcome outcome;

	if (ber_scanf(ber, "{i", &id) == LBER_ERROR)
		return mon_say(p, MON_BAD, "ldap: damaged answer");
	switch (ber_peek_tag(ber, &length)) {
	case BIND_RESPONSE:
		outcome = result_judge(p, ber, "bind");
		if (outcome == MON_GOOD && (m->length[MON_F_BASE] || m->length[MON_F_FILTER]))
			return search(p);
		return outcome;
	case EXTENDED_RESPONSE:
		outcome = result_judge(p, ber, "start TLS");
		return outcome == MON_GOOD && m->tls_later ? encrypted(p) : outcome;
	case SEARCH_ENTRY:
		own->entries++;
		return MON_MORE;
	case SEARCH_DONE:
		outcome = result_judge(p, ber, "search");
		if (outcome == MON_GOOD && !own->entries && m->mandatory_attributes)
			return mon_say(p, MON_BAD, "ldap: search: nothing found");
		return outcome;
	default:
		return MON_MORE;
	}
}

/* Length of the whole element that bytes begin with; 0: not known yet, above MESSAGE_MAX: none. */
static size_t element_length(const unsigned char *bytes, size_t length)
{
	size_t size = 0, head;

	if (length < 2)
		return 0;
	if (bytes[0] != 0x30)
		return MESSAGE_MAX + 1;
	if (bytes[1] < 0x80)
		return 2u + bytes[1];
	head = 2u + (bytes[1] & 0x7f);
	if (head > 6)
		return MESSAGE_MAX + 1;
	if (length < head)
		return 0;
	for (size_t i = 2; i < head; i++)
		size = size << 8 | bytes[i];
	return size + head;
}

static enum mon_outcome ldap_input(struct mon_probe *p, const char *b, size_t n, bool end)
{
	enum mon_outcome outcome = MON_MORE;
	size_t size;

	while (outcome == MON_MORE && (size = element_length((unsigned char *)p->buf, p->length))) {
		if (size > MESSAGE_MAX)
			return mon_say_answer(p, MON_BAD, "ldap: no LDAP", p->buf, p->length);
		if (size > p->length)
			break;
		struct berval bytes = {.bv_val = p->buf, .bv_len = size};
		BerElement *ber = ber_init(&bytes);
		if (!ber)
			return mon_say(p, MON_NOTHING, "not probed: no memory");
		outcome = message_judge(p, ber);
		ber_free(ber, 1);
		if (p->length) /* TLS has begun: the rest is nobody's */
			mon_take(p, size);
	}
	return outcome;
}

static int ldap_check(struct mon_monitor *m, struct mon_fault *fault)
{
	const char *filter = m->text[MON_F_FILTER];
	char name[128], value[512];

	const char *security = m->text[MON_F_SECURITY];
	bool tls = !strcmp(security, "ssl") || !strcmp(security, "tls");

	if (*security && !tls && strcmp(security, "none"))
		return mon_fault(fault, "security", "must be none, ssl or tls");
	m->tls_later = !strcmp(security, "tls");
	if (tls && mon_tls_context(m, fault))
		return -EINVAL;
	if (*filter &&
		sscanf(filter, *filter == '(' ? "(%127[^=()]=%511[^()])" : "%127[^=()]=%511[^()]",
			name, value) != 2)
		return mon_fault(fault, "filter", "must be attribute=value or attribute=*");
	return 0;
}

const struct mon_type mon_ldap = {.name = "ldap",
	.stream = true,
	.port = 389,
	.private_size = sizeof(struct ldap),
	.check = ldap_check,
	.open = ldap_open,
	.input = ldap_input};
