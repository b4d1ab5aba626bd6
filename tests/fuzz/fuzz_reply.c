/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A whole conversation with a hostile server, type by type: the first byte chooses the monitor, the second in how
 * large portions the rest comes. Random values that an answer must repeat are all zero.
 */
#include <openssl/ssl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/mon.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define LIMIT_USUAL MON_SEARCH_MAX

static const char *const sources[] = {
	"{'kind':'http','recv':'200 OK','recv-disable':'drain'}",
	"{'kind':'tcp','recv':'up','reverse':true}",
	"{'kind':'tcp-echo'}",
	"{'kind':'agent-check'}",
	"{'kind':'dns','qname':'a.test','recv':'10.0.0.1'}",
	"{'kind':'dns','qname':'a.test','qtype':'txt','answer-contains':'any-type'}",
	"{'kind':'smtp'}",
	"{'kind':'ftp','username':'u','password':'p','send':'f'}",
	"{'kind':'nntp','username':'u','newsgroup':'g'}",
	"{'kind':'pop3','username':'u'}",
	"{'kind':'imap','username':'u'}",
	"{'kind':'redis','password':'p','send':'k','recv':'v'}",
	"{'kind':'sip'}",
	"{'kind':'radius','secret':'s','username':'u'}",
	"{'kind':'mysql','username':'u','password':'p','send':'q','recv':'v'}",
	"{'kind':'ldap','base':'b','filter':'a=b','mandatory-attributes':true}",
	"{'kind':'ldap','security':'tls'}",
	"{'kind':'snmp-dca'}",
	"{'kind':'udp','recv':'x'}",
};

#define MONITORS (sizeof(sources) / sizeof(*sources))

static struct mon mon;
static struct mon_monitor *monitors[MONITORS];

static void monitors_make(void)
{
	for (size_t i = 0; i < MONITORS; i++) {
		struct mon_fault fault;
		char text[256];
		json_t *message;

		strcpy(text, sources[i]);
		for (char *p = text; (p = strchr(p, '\''));)
			*p = '"';
		message = json_loads(text, 0, NULL);
		if (!message)
			abort();
		json_object_set_new(message, "id", json_integer((json_int_t)i + 1));
		json_object_set_new(message, "name", json_string("m"));
		monitors[i] = mon_monitor_new(message, &fault);
		json_decref(message);
		if (!monitors[i])
			abort();
	}
}

/* As mon_stream.c does it; the copy has exactly the size, so that a step behind it is seen. */
static enum mon_outcome portion(struct mon_probe *p, const uint8_t *data, size_t length, bool end)
{
	const struct mon_type *type = p->in->monitor->type;
	size_t limit = p->limit ? p->limit : LIMIT_USUAL;

	if (type->datagram)
		p->length = 0;
	if (length > limit - p->length)
		length = limit - p->length;
	char *fresh = malloc(p->length + length + 1);
	if (!fresh)
		abort();
	if (p->length)
		memcpy(fresh, p->buf, p->length);
	memcpy(fresh + p->length, data, length);
	free(p->buf);
	p->buf = fresh;
	p->length += length;
	p->buf[p->length] = 0;
	enum mon_outcome outcome = type->input(p, p->buf, p->length, end || type->datagram);
	if (outcome == MON_MORE && p->length >= limit)
		return MON_BAD;
	return outcome;
}

static enum mon_outcome converse(struct mon_probe *p, const uint8_t *data, size_t len, size_t step)
{
	const struct mon_type *type = p->in->monitor->type;
	enum mon_outcome outcome = type->open ? type->open(p) : MON_MORE;

	if (p->own)
		memset(p->own, 0, type->private_size);
	for (size_t at = 0; at < len && outcome == MON_MORE && !p->ssl; at += step)
		outcome = portion(p, data + at, len - at < step ? len - at : step, false);
	if (outcome == MON_MORE && !p->ssl && !type->datagram)
		outcome = portion(p, data, 0, true);
	return outcome;
}

static void check_reason(const struct mon_probe *p)
{
	for (const char *c = p->reason; *c; c++)
		if (*c < ' ' || *c > '~')
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	if (!monitors[0])
		monitors_make();
	if (len < 2)
		return 0;
	struct mon_instance in = {
		.mon = &mon, .monitor = monitors[data[0] % MONITORS], .object = 1};
	struct mon_probe p = {.in = &in, .fd = -1};

	TAILQ_INIT(&in.probes);
	in.address = in.to_address = ip_addr_v4(0x0100007f);
	p.own = calloc(1, in.monitor->type->private_size + 1);
	converse(&p, data + 2, len - 2, data[1] ? data[1] : 4096);
	check_reason(&p);
	SSL_free(p.ssl);
	json_decref(in.advice);
	free(p.own);
	free(p.out);
	free(p.buf);
	return 0;
}
