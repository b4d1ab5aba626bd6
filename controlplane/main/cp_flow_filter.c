/* SPDX-License-Identifier: BSD-3-Clause */
/* The filter of "show" and "delete sys connection": names and text to ids and numbers. */
#include <stdlib.h>
#include <string.h>

#include "main/cp.h"

/* "10.0.0.1", "10.0.0.0/8"; prefix NULL: no network. */
static bool parse_network(const char *text, struct ip_addr *addr, uint8_t *prefix)
{
	char host[IP_ADDR_TEXT];
	const char *slash = strchr(text, '/');
	size_t n = slash ? (size_t)(slash - text) : strlen(text);
	char *end = NULL;
	unsigned long bits = slash ? strtoul(slash + 1, &end, 10) : 0;

	if (n >= sizeof(host) || (slash && (!prefix || slash[1] < '0' || slash[1] > '9' || *end)))
		return false;
	memcpy(host, text, n);
	host[n] = 0;
	if (ip_parse(host, addr) || bits > ip_prefix_max(addr))
		return false;
	/* In the message no prefix is a whole address, and zero bytes are everything. */
	if (slash && bits == 0) {
		*addr = (struct ip_addr){0};
	} else if (slash && bits < ip_prefix_max(addr)) {
		*prefix = (uint8_t)bits;
		*addr = ip_prefix_of(addr, (unsigned)bits);
	}
	return true;
}

static bool parse_number(const json_t *value, uint64_t max, uint64_t *out)
{
	const char *text = json_string_value(value);
	char *end;

	if (json_is_integer(value) && json_integer_value(value) >= 0) {
		*out = (uint64_t)json_integer_value(value);
	} else if (text && *text >= '0' && *text <= '9') {
		*out = strtoull(text, &end, 10);
		if (*end)
			return false;
	} else {
		return false;
	}
	return *out <= max;
}

static bool parse_proto(const json_t *value, uint8_t *proto)
{
	static const struct {
		const char *name;
		uint8_t proto;
	} names[] = {
		{"tcp", 6}, {"udp", 17}, {"icmp", 1}, {"ipv6-icmp", 58}, {"icmp6", 58}, {"any", 0}};
	const char *text = json_string_value(value);
	uint64_t number;

	for (size_t i = 0; text && i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i].name, text)) {
			*proto = names[i].proto;
			return true;
		}
	if (!parse_number(value, 255, &number))
		return false;
	*proto = (uint8_t)number;
	return true;
}

struct parser {
	struct cp *cp;
	struct ipc_request *r;
	struct flow_filter *f;
	const json_t *filter;
};

/* Id of a named object. False: refused. */
static bool parse_object(struct parser *p, enum model_kind kind, uint32_t owner,
	const json_t *value, const char *key, uint32_t *id)
{
	char *name = ipc_text_get(value, NULL);
	const struct object *o;

	if (!name) {
		cp_refuse(p->r, 400, key, "must be text");
		return false;
	}
	o = cp_find(p->cp, p->r, kind, owner, name);
	free(name);
	if (o)
		*id = o->id;
	return o != NULL;
}

static bool parse_member(struct parser *p, const json_t *value)
{
	const json_t *pool = json_object_get(p->filter, "pool");
	uint32_t pool_id;

	if (!pool) {
		cp_refuse(p->r, 400, "member", "only with pool");
		return false;
	}
	return parse_object(p, KIND_POOL, ID_NONE, pool, "pool", &pool_id) &&
	       parse_object(p, KIND_POOL_MEMBER, pool_id, value, "member", &p->f->member_id);
}

/* 1: taken, 0: not an address, port or number, -1: refused. */
static int parse_plain(struct parser *p, const char *key, const json_t *value)
{
	struct flow_filter *f = p->f;
	const struct {
		const char *key;
		struct ip_addr *addr;
		uint8_t *prefix;
		uint16_t *port;
		uint32_t *seconds;
	} plain[] = {
		{"cs-client-addr", &f->client, &f->client_prefix, NULL, NULL},
		{"cs-server-addr", &f->virtual_addr, NULL, NULL, NULL},
		{"ss-client-addr", &f->local, NULL, NULL, NULL},
		{"ss-server-addr", &f->server, &f->server_prefix, NULL, NULL},
		{"cs-client-port", NULL, NULL, &f->client_port, NULL},
		{"cs-server-port", NULL, NULL, &f->virtual_port, NULL},
		{"ss-server-port", NULL, NULL, &f->server_port, NULL},
		{"age", NULL, NULL, NULL, &f->age_min},
		{"idle", NULL, NULL, NULL, &f->idle_min},
	};
	const char *text = json_string_value(value);
	uint64_t number;

	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++) {
		if (strcmp(plain[i].key, key))
			continue;
		if (plain[i].addr) {
			if (text && parse_network(text, plain[i].addr, plain[i].prefix))
				return 1;
		} else if (parse_number(value, plain[i].port ? UINT16_MAX : UINT32_MAX, &number)) {
			if (plain[i].port)
				*plain[i].port = (uint16_t)number;
			else
				*plain[i].seconds = (uint32_t)number;
			return 1;
		}
		cp_refuse(p->r, 400, key, "%s",
			plain[i].addr ? "must be an address" : "must be a number");
		return -1;
	}
	return 0;
}

static bool parse_key(struct parser *p, const char *key, const json_t *value)
{
	int plain = parse_plain(p, key, value);

	if (plain)
		return plain > 0;
	if (!strcmp(key, "virtual"))
		return parse_object(p, KIND_VIRTUAL, ID_NONE, value, key, &p->f->virtual_id);
	if (!strcmp(key, "pool"))
		return parse_object(p, KIND_POOL, ID_NONE, value, key, &p->f->pool_id);
	if (!strcmp(key, "node"))
		return parse_object(p, KIND_NODE, ID_NONE, value, key, &p->f->node_id);
	if (!strcmp(key, "member"))
		return parse_member(p, value);
	if (strcmp(key, "protocol")) {
		cp_refuse(p->r, 400, key, "is no part of a filter");
		return false;
	}
	if (parse_proto(value, &p->f->proto))
		return true;
	cp_refuse(p->r, 400, key, "must be tcp, udp, icmp or a number");
	return false;
}

bool cp_flow_filter(
	struct cp *cp, struct ipc_request *r, const json_t *filter, struct flow_filter *out)
{
	struct parser p = {cp, r, out, filter};
	const char *key;
	json_t *value;

	*out = (struct flow_filter){0};
	if (filter && !json_is_object(filter)) {
		cp_refuse(r, 400, "filter", "must be an object");
		return false;
	}
	json_object_foreach(
		(json_t *)filter, key, value) if (!parse_key(&p, key, value)) return false;
	return true;
}
