/* SPDX-License-Identifier: BSD-3-Clause */
/* What must hold of a monitor, and of the objects that name it. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>

#include "model/model_internal.h"

/* ---- one monitor ---- */

static int check_name(struct model *m, struct item *it, struct model_error *err)
{
	static const char *const meaning[] = {"and", "default", "min"};

	for (size_t i = 0; i < sizeof(meaning) / sizeof(meaning[0]); i++)
		if (!strcmp(path_name(it->o.path), meaning[i]))
			return fail(m, err, -EINVAL, it, NULL,
				"\"%s\" is a word with a meaning, no name", meaning[i]);
	for (unsigned kind = 0; kind < MODEL_KINDS; kind++)
		if (model_kinds[kind].monitor && kind != it->o.kind &&
			item_find(m, kind, ID_NONE, it->o.path))
			return fail(m, err, -EEXIST, it, NULL, "a monitor of type %s has this name",
				model_monitor_type(kind));
	return 0;
}

static int check_pattern(struct model *m, struct item *it, const struct field *f, const char *text,
	struct model_error *err)
{
	unsigned char why[128];
	PCRE2_SIZE at;
	int code;
	pcre2_code *pattern = pcre2_compile(
		(PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, PCRE2_NEVER_BACKSLASH_C, &code, &at, NULL);

	if (pattern) {
		pcre2_code_free(pattern);
		return 0;
	}
	pcre2_get_error_message(code, why, sizeof(why));
	return fail(m, err, -EINVAL, it, f->name, "is no pattern: at byte %zu: %s", (size_t)at,
		(char *)why);
}

/* What stands in a directory of its own is named without one. */
static int check_file(struct model *m, struct item *it, const struct field *f, const char *text,
	struct model_error *err)
{
	if (!strchr(text, '/') && strcmp(text, ".") && strcmp(text, ".."))
		return 0;
	return fail(m, err, -EINVAL, it, f->name, "\"%s\" is not the plain name of a file in %s/",
		text, f->folder);
}

static int check_texts(struct model *m, struct item *it, struct model_error *err)
{
	const struct kind *k = kind_of(it);
	int rc = 0;

	for (unsigned i = 0; !rc && i < k->field_count; i++) {
		const struct field *f = &k->fields[i];
		const char *text = f->pattern || f->folder ? monitor_text(m, it, f->name) : "";
		if (*text && f->pattern)
			rc = check_pattern(m, it, f, text, err);
		else if (*text)
			rc = check_file(m, it, f, text, err);
	}
	return rc;
}

static int check_reverse(struct model *m, struct item *it, struct model_error *err)
{
	const struct field *f = model_field_find(it->o.kind, NULL, "reverse");
	bool sends = model_field_find(it->o.kind, NULL, "send") != NULL;

	if (!f || !*(const uint8_t *)field_in(f, it->data))
		return 0;
	if (!*monitor_text(m, it, "recv") || (sends && !*monitor_text(m, it, "send")))
		return fail(m, err, -EINVAL, it, "reverse",
			sends ? "needs send and recv" : "needs recv");
	if (*monitor_text(m, it, "recv-disable"))
		return fail(m, err, -EINVAL, it, "recv-disable", "goes not with reverse");
	return 0;
}

static int check_variables(struct model *m, struct item *it, struct model_error *err)
{
	for (const char *p = monitor_text(m, it, "user-defined"); *p; p += *p == '\n') {
		size_t len = strcspn(p, "\n"), name = strcspn(p, "= \t\n{}\"\\");
		if (!name || p[name] != '=' || name + 1 == len)
			return fail(m, err, -EINVAL, it, "user-defined",
				"\"%.*s\" is not NAME=VALUE", (int)(len < 100 ? len : 100), p);
		p += len;
	}
	return 0;
}

static int check_numbers(struct model *m, struct item *it, struct model_error *err)
{
	static const char *const fields[] = {"cpu-coefficient", "cpu-threshold",
		"memory-coefficient", "memory-threshold", "disk-coefficient", "disk-threshold"};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const char *text = monitor_text(m, it, fields[i]);
		size_t whole = strspn(text, "0123456789");
		const char *rest = text + whole + (text[whole] == '.');
		if (!*text || !whole || strspn(rest, "0123456789") != strlen(rest))
			return fail(m, err, -EINVAL, it, fields[i], "\"%s\" is not a number", text);
	}
	return 0;
}

static int check_type(struct model *m, struct item *it, struct model_error *err)
{
	const char *text;
	struct ip_addr addr;

	switch (it->o.kind) {
	case KIND_MONITOR_EXTERNAL:
		return check_variables(m, it, err);
	case KIND_MONITOR_SNMP_DCA:
		return check_numbers(m, it, err);
	case KIND_MONITOR_RADIUS:
		text = monitor_text(m, it, "nas-ip-address");
		if (*text && (ip_parse(text, &addr) || !ip_is_v4(&addr)))
			return fail(m, err, -EINVAL, it, "nas-ip-address",
				"\"%s\" is not an IPv4 address", text);
		return 0;
	default:
		return 0;
	}
}

static int check_parent(struct model *m, struct item *it, struct model_error *err)
{
	uint32_t parent = *(const uint32_t *)field_in(kind_of(it)->fields, it->data);

	if (parent != ID_NONE || it->o.builtin)
		return 0;
	return fail(m, err, -EINVAL, it, "defaults-from", "a monitor needs a parent");
}

/* ---- who can be looked at ---- */

/* A field that the type needs and this monitor lacks, or NULL. */
static const char *lacks(const struct model *m, const struct item *it)
{
	static const struct {
		enum model_kind kind;
		const char *field;
	} needs[] = {
		{KIND_MONITOR_DNS, "qname"},
		{KIND_MONITOR_EXTERNAL, "run"},
		{KIND_MONITOR_RADIUS, "secret"},
		{KIND_MONITOR_RADIUS, "username"},
	};

	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if (it->o.kind == needs[i].kind && !*monitor_text(m, it, needs[i].field))
			return needs[i].field;
	return NULL;
}

/* Whether it can look at a server of which only the address is known. */
static bool needs_no_port(const struct item *it)
{
	struct model_destination to;

	switch (it->o.kind) {
	case KIND_MONITOR_ICMP:
	case KIND_MONITOR_GATEWAY_ICMP:
	case KIND_MONITOR_TCP_ECHO:
	case KIND_MONITOR_SNMP_DCA:
	case KIND_MONITOR_EXTERNAL:
		return true;
	default:
		return model_monitor_destination(&it->o, &to) && to.port;
	}
}

/* port false: only the address of the object is known. node: it is one, or stands for all. */
static int check_rule(struct model *m, struct item *it, const char *field,
	const struct model_monitor_rule *rule, bool node, bool port, struct model_error *err)
{
	for (unsigned i = 0; i < rule->count; i++) {
		const struct item *monitor = item_of(m, rule->monitor[i]);
		const char *lack = monitor ? lacks(m, monitor) : NULL;
		if (!monitor)
			continue;
		if (lack)
			return fail(
				m, err, -EINVAL, it, field, "%s has no %s", monitor->o.path, lack);
		if (node && monitor->o.kind == KIND_MONITOR_INBAND)
			return fail(m, err, -EINVAL, it, field,
				"%s watches connections of pool members, not nodes",
				monitor->o.path);
		if (!port && monitor->o.kind != KIND_MONITOR_INBAND && !needs_no_port(monitor))
			return fail(m, err, -EINVAL, it, field,
				"%s needs a port: a node has none, and its destination names none",
				monitor->o.path);
	}
	return 0;
}

static int check_member(struct model *m, struct item *it, struct model_error *err)
{
	const struct pool_member *member = it->data;

	return check_rule(m, it, "monitor", model_monitor_rule(m, &it->o), false,
		member->conf.port != 0, err);
}

static int check_pool(struct model *m, struct item *it, struct model_error *err)
{
	const struct pool *pool = it->data;
	int rc = check_rule(m, it, "monitor", &pool->conf.monitor, false, true, err);

	for (unsigned i = 0; !rc && pool->conf.monitor.count && i < it->children.count; i++) {
		struct item *child = it->children.v[i];
		if (!child->deleted && !((const struct pool_member *)child->data)->conf.port)
			rc = check_member(m, child, err);
	}
	return rc;
}

int check_rule_of(struct model *m, struct item *it, struct model_error *err)
{
	switch (it->o.kind) {
	case KIND_POOL:
		return check_pool(m, it, err);
	case KIND_POOL_MEMBER:
		return check_member(m, it, err);
	case KIND_NODE:
		return check_rule(m, it, "monitor", &((const struct node *)it->data)->conf.monitor,
			true, false, err);
	case KIND_DEFAULT_NODE_MONITOR:
		return check_rule(m, it, "rule",
			&((const struct default_node_monitor *)it->data)->conf.rule, true, false,
			err);
	default:
		return 0;
	}
}

static bool changed_in_use(const struct touch *t)
{
	const struct item *it = t->item;

	return t->before && !it->deleted && it->o.users && kind_of(it)->monitor;
}

int check_monitor_users(struct model *m, struct model_error *err)
{
	uint32_t n = 0;
	int rc = 0;

	while (n < m->touches && !changed_in_use(&m->touch[n]))
		n++;
	if (n == m->touches)
		return 0;
	m->line = m->touch[n].line;
	for (uint32_t i = 1; !rc && i < m->slots; i++)
		if (m->slot[i] && !m->slot[i]->deleted)
			rc = check_rule_of(m, m->slot[i], err);
	return rc;
}

int check_monitor(struct model *m, struct item *it, struct model_error *err)
{
	int rc = check_name(m, it, err);

	rc = rc ? rc : check_parent(m, it, err);
	rc = rc ? rc : check_texts(m, it, err);
	rc = rc ? rc : check_reverse(m, it, err);
	return rc ? rc : check_type(m, it, err);
}
