/* SPDX-License-Identifier: BSD-3-Clause */
/* Services of a self IP's allow-service list: protocol:port. */
#include "model/model_internal.h"

#include <stdio.h>

static const struct {
	const char *name;
	uint8_t number;
} protocols[] = {
	{"icmp", 1},
	{"igmp", 2},
	{"tcp", 6},
	{"egp", 8},
	{"udp", 17},
	{"gre", 47},
	{"esp", 50},
	{"ah", 51},
	{"ipv6-icmp", 58},
	{"ospf", 89},
	{"pim", 103},
	{"vrrp", 112},
	{"sctp", 132},
};

/* LTM's default set: ospf, ssh, snmp, https, domain, iquery (tcp, udp), rip, and network failover. */
static const struct model_service default_services[] = {
	{89, 0},
	{6, 22},
	{6, 53},
	{6, 161},
	{6, 443},
	{6, 4353},
	{17, 53},
	{17, 161},
	{17, 520},
	{17, 1026},
	{17, 4353},
};

int service_parse(const char *text, uint32_t *entry, char *reason, size_t size)
{
	const char *colon = strchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : strlen(text);
	unsigned long proto = UINT8_MAX + 1, port = 0;

	for (size_t i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++)
		if (strlen(protocols[i].name) == len && !strncmp(protocols[i].name, text, len))
			proto = protocols[i].number;
	if (len && len <= 3 && strspn(text, "0123456789") >= len)
		proto = strtoul(text, NULL, 10);
	if (proto > UINT8_MAX || !colon) {
		snprintf(reason, size, "\"%s\" is not protocol:port", text);
		return -EINVAL;
	}
	if (strcmp(colon + 1, "any") && strcmp(colon + 1, "*")) {
		struct member_name name;
		char host[64];
		snprintf(host, sizeof(host), "x:%.40s", colon + 1);
		if (name_endpoint(host, &name, reason, size))
			return -EINVAL;
		port = name.port;
	}
	*entry = (uint32_t)proto << 16 | (uint32_t)port;
	return 0;
}

void service_text(uint32_t entry, struct text *out)
{
	struct model_service s = model_service(entry);

	for (size_t i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++)
		if (protocols[i].number == s.proto) {
			text_printf(out, "%s:%u", protocols[i].name, s.port);
			return;
		}
	text_printf(out, "%u:%u", s.proto, s.port);
}

unsigned model_services(
	const struct model_list *list, struct model_service out[MODEL_SERVICES_MAX], bool *all)
{
	unsigned count = 0;

	*all = list->mode == LIST_ALL;
	if (list->mode == LIST_DEFAULT) {
		memcpy(out, default_services, sizeof(default_services));
		count = sizeof(default_services) / sizeof(default_services[0]);
	}
	for (unsigned i = 0; i < list->count; i++)
		out[count++] = model_service(list->entry[i]);
	return count;
}
