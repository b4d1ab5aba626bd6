/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of types, and those that are hardly more than a socket. */
#include <string.h>

#include "monitor/mon.h"

const struct mon_type *const mon_types[] = {&mon_tcp, &mon_tcp_half_open, &mon_tcp_echo, &mon_udp,
	&mon_http, &mon_https, &mon_icmp, &mon_gateway_icmp, &mon_agent_check, &mon_external,
	&mon_dns, &mon_smtp, &mon_ftp, &mon_nntp, &mon_pop3, &mon_imap, &mon_redis, &mon_sip,
	&mon_radius, &mon_mysql, &mon_postgresql, &mon_ldap, &mon_snmp_dca, NULL};

const struct mon_type *mon_type_find(const char *name)
{
	for (const struct mon_type *const *t = mon_types; *t; t++)
		if (!strcmp((*t)->name, name))
			return *t;
	return NULL;
}

/* Without a pattern the connection is the answer. */
static enum mon_outcome tcp_open(struct mon_probe *p)
{
	const struct mon_monitor *m = p->in->monitor;

	if (m->length[MON_F_SEND])
		mon_send(p, m->text[MON_F_SEND], m->length[MON_F_SEND]);
	return m->recv || m->recv_disable ? MON_MORE : MON_GOOD;
}

static enum mon_outcome plain_input(struct mon_probe *p, const char *bytes, size_t length, bool end)
{
	return mon_judge(p, bytes, length, end && !p->in->monitor->type->datagram);
}

const struct mon_type mon_tcp = {
	.name = "tcp", .stream = true, .open = tcp_open, .input = plain_input};

static enum mon_outcome half_open(struct mon_probe *p)
{
	return MON_GOOD;
}

const struct mon_type mon_tcp_half_open = {.name = "tcp-half-open",
	.stream = true,
	.half_open = true,
	.open = half_open,
	.input = plain_input};

static enum mon_outcome udp_input(struct mon_probe *p, const char *bytes, size_t length, bool end)
{
	return mon_judge(p, bytes, length, true);
}

const struct mon_type mon_udp = {
	.name = "udp", .datagram = true, .quiet_is_good = true, .input = udp_input};

static const char echoed[] = "weir-mon echo\r\n";

static enum mon_outcome echo_open(struct mon_probe *p)
{
	mon_send(p, echoed, sizeof(echoed) - 1);
	return MON_MORE;
}

static enum mon_outcome echo_input(struct mon_probe *p, const char *bytes, size_t length, bool end)
{
	size_t part = length < sizeof(echoed) - 1 ? length : sizeof(echoed) - 1;

	if (memcmp(bytes, echoed, part))
		return mon_say_answer(p, MON_BAD, "not what was sent", bytes, length);
	return part == sizeof(echoed) - 1 ? MON_GOOD : MON_MORE;
}

const struct mon_type mon_tcp_echo = {
	.name = "tcp-echo", .stream = true, .port = 7, .open = echo_open, .input = echo_input};
