/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics in LTM's nested form, from the rows of weir-cp's "show". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rest/rest_list.h"
#include "rest/rest_refuse.h"

/* Of an entry: what it is called here, and where its value comes from. */
struct stat {
	const char *name;
	const char *from; /* in the row; NULL: the same name */
	const char *text; /* a description, with this value if the row has none; NULL: a number */
};

#define CONNECTIONS(side)                                                                          \
	{side "bitsIn", NULL, NULL}, {side "bitsOut", NULL, NULL}, {side "curConns", NULL, NULL},  \
		{side "maxConns", NULL, NULL}, {side "pktsIn", NULL, NULL},                        \
		{side "pktsOut", NULL, NULL},                                                      \
	{                                                                                          \
		side "totConns", NULL, NULL                                                        \
	}
#define QUEUE(name)                                                                                \
	{name ".ageEdm", NULL, NULL}, {name ".ageEma", NULL, NULL}, {name ".ageHead", NULL, NULL}, \
		{name ".ageMax", NULL, NULL}, {name ".depth", NULL, NULL},                         \
	{                                                                                          \
		name ".serviced", NULL, NULL                                                       \
	}
#define STATUS                                                                                     \
	{"status.availabilityState", NULL, "unknown"}, {"status.enabledState", NULL, "enabled"},   \
	{                                                                                          \
		"status.statusReason", NULL, ""                                                    \
	}
#define SERVER                                                                                     \
	{"addr", NULL, ""}, {"monitorRule", NULL, "none"}, {"monitorStatus", NULL, "unchecked"},   \
		{"sessionStatus", NULL, "enabled"}, {"curSessions", "-", NULL},                    \
	{                                                                                          \
		"totRequests", "-", NULL                                                           \
	}

static const struct stat pool_stats[] = {{"tmName", "name", ""}, {"monitorRule", NULL, "none"},
	{"memberCnt", NULL, NULL}, {"availableMemberCnt", NULL, NULL},
	{"activeMemberCnt", NULL, NULL}, {"minActiveMembers", NULL, NULL},
	{"curSessions", NULL, NULL}, {"curPriogrp", NULL, NULL}, {"highestPriogrp", NULL, NULL},
	{"lowestPriogrp", NULL, NULL}, {"totRequests", NULL, NULL}, CONNECTIONS("serverside."),
	QUEUE("connq"), QUEUE("connqAll"), STATUS, {0}};

static const struct stat member_stats[] = {{"nodeName", NULL, ""}, {"poolName", NULL, ""},
	{"port", NULL, NULL}, SERVER, CONNECTIONS("serverside."), QUEUE("connq"), STATUS, {0}};

static const struct stat node_stats[] = {
	{"tmName", "name", ""}, SERVER, CONNECTIONS("serverside."), STATUS, {0}};

static const struct stat virtual_stats[] = {{"tmName", "name", ""}, {"destination", NULL, ""},
	CONNECTIONS("clientside."), {"clientside.evictedConns", NULL, NULL},
	{"clientside.slowKilled", NULL, NULL}, CONNECTIONS("ephemeral."),
	{"ephemeral.evictedConns", NULL, NULL}, {"ephemeral.slowKilled", NULL, NULL},
	{"csMaxConnDur", NULL, NULL}, {"csMeanConnDur", NULL, NULL}, {"csMinConnDur", NULL, NULL},
	{"cmpEnableMode", NULL, "all-cpus"}, {"cmpEnabled", NULL, "enabled"},
	{"fiveSecAvgUsageRatio", NULL, NULL}, {"oneMinAvgUsageRatio", NULL, NULL},
	{"fiveMinAvgUsageRatio", NULL, NULL}, {"syncookieStatus", NULL, "not-activated"},
	{"syncookie.accepts", NULL, NULL}, {"syncookie.hwAccepts", NULL, NULL},
	{"syncookie.hwSyncookies", NULL, NULL}, {"syncookie.hwsyncookieInstance", NULL, NULL},
	{"syncookie.rejects", NULL, NULL}, {"syncookie.swsyncookieInstance", NULL, NULL},
	{"syncookie.syncacheCurr", NULL, NULL}, {"syncookie.syncacheOver", NULL, NULL},
	{"syncookie.syncookies", NULL, NULL}, {"totRequests", NULL, NULL}, STATUS, {0}};

static const struct stat address_stats[] = {
	{"tmName", "name", ""}, {"addr", NULL, ""}, CONNECTIONS("clientside."), STATUS, {0}};

static const struct stat interface_stats[] = {
	{"tmName", "name", ""}, {"status", NULL, ""}, {"macAddress", "mac", ""}, {0}};

/* Kinds that count nothing: what clients look for among the statistics, from the objects themselves. */
static const struct stat vlan_stats[] = {{"tmName", "name", ""}, {"id", "tag", NULL},
	{"ifIndex", NULL, NULL}, {"mtu", NULL, NULL}, {"macTrue", NULL, "00:00:00:00:00:00"}, {0}};

static const struct stat traffic_group_stats[] = {{"trafficGroup", "name", ""},
	{"deviceName", NULL, ""}, {"failoverState", NULL, "active"}, {"nextActive", NULL, "false"},
	{0}};

static const struct stat plain_stats[] = {{"tmName", "name", ""}, {0}};

static bool is_counted(enum model_kind kind)
{
	return kind == KIND_POOL || kind == KIND_POOL_MEMBER || kind == KIND_NODE ||
	       kind == KIND_VIRTUAL || kind == KIND_VIRTUAL_ADDRESS || kind == KIND_INTERFACE;
}

static const struct stat *stats_of(enum model_kind kind)
{
	switch (kind) {
	case KIND_POOL:
		return pool_stats;
	case KIND_POOL_MEMBER:
		return member_stats;
	case KIND_NODE:
		return node_stats;
	case KIND_VIRTUAL:
		return virtual_stats;
	case KIND_VIRTUAL_ADDRESS:
		return address_stats;
	case KIND_INTERFACE:
		return interface_stats;
	case KIND_VLAN:
		return vlan_stats;
	case KIND_TRAFFIC_GROUP:
		return traffic_group_stats;
	default:
		return plain_stats;
	}
}

/* ---- one row ---- */

static const char *description_of(const struct stat *s, const json_t *row)
{
	const char *text = json_string_value(json_object_get(row, s->from ? s->from : s->name));

	if (!text)
		return s->text;
	if (!strcmp(text, "address-down"))
		return "addr-down";
	/* LTM has the address and port here alone */
	if (!strcmp(s->name, "destination") && strrchr(text, '/'))
		return strrchr(text, '/') + 1;
	return text;
}

static json_t *entries_of(const struct stat *s, const json_t *row)
{
	json_t *entries = json_object();

	for (; s->name; s++) {
		const char *from = s->from ? s->from : s->name;

		json_object_set_new(entries, s->name,
			s->text ? json_pack("{s:s}", "description", description_of(s, row))
				: json_pack("{s:I}", "value",
					  json_integer_value(json_object_get(row, from))));
	}
	return entries;
}

/* "~Common~web" of a path */
static void put_tilde(struct text *out, const char *path)
{
	for (const char *p = path; *p; p++)
		if (*p == '%')
			text_add(out, "%25", 3);
		else
			text_add(out, *p == '/' ? "~" : p, 1);
}

/* The row's own address, without version. */
static void put_address(struct text *out, enum model_kind kind, const json_t *row)
{
	const char *owner = json_string_value(json_object_get(row, "owner"));
	const char *name = json_string_value(json_object_get(row, "name"));
	const struct kind *k = &model_kinds[kind];

	text_printf(
		out, REST_LINK "/mgmt/tm/%s", k->owner < 0 ? k->rest : model_kinds[k->owner].rest);
	if (k->owner >= 0) {
		text_add(out, "/", 1);
		put_tilde(out, owner ? owner : "");
		text_printf(out, "/%s", k->rest);
	}
	if (k->name_form != NAME_SINGLE) {
		text_add(out, "/", 1);
		put_tilde(out, name ? name : "");
	}
	text_add(out, "/stats", 6);
}

static json_t *nested_of(const struct rest_call *call, const char *address, const json_t *row)
{
	const struct kind *k = &model_kinds[call->target.kind];

	return json_pack("{s:{s:o, s:o, s:o}}", "nestedStats", "kind",
		rest_kind(k->rest_kind, "stats"), "selfLink",
		json_sprintf("%s?ver=%s", address, call->rest->version), "entries",
		entries_of(stats_of(call->target.kind), row));
}

/* ---- answers ---- */

struct stats_out {
	struct rest_list list;
	json_int_t generation;
};

static void put_pair(struct text *out, const char *key, json_t *value)
{
	char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;

	if (text)
		text_printf(out, "\"%s\":%s", key, text);
	else
		out->failed = true;
	free(text);
	json_decref(value);
}

/* Rows of "show" have no partition of their own. */
static void put_partition(json_t *row)
{
	const char *name = json_string_value(json_object_get(row, "name"));
	const char *slash = name && *name == '/' ? strchr(name + 1, '/') : NULL;

	if (slash)
		json_object_set_new(
			row, "partition", json_stringn(name + 1, (size_t)(slash - name - 1)));
}

/* Weir-cp shows all interfaces, whatever name is asked for. */
static bool is_another(const struct rest_target *t, const json_t *row)
{
	const char *name = json_string_value(json_object_get(row, "name"));

	return t->kind == KIND_INTERFACE && *t->name && name && strcmp(name, t->name);
}

/* Names of objects have no quotes, backslashes or control characters: keys are JSON as they are. */
static bool stats_row(void *arg, json_t *row)
{
	struct stats_out *s = arg;
	struct rest_list *l = &s->list;
	struct text address = {0};

	rest_shape(l->call->rest, row);
	put_partition(row);
	if (is_another(&l->call->target, row) || !rest_list_wants(l, row))
		return true;
	s->generation = json_integer_value(json_object_get(row, "generation"));
	put_address(&address, l->call->target.kind, row);
	text_printf(&l->text, l->written++ ? "," : "");
	put_pair(&l->text, address.data, nested_of(l->call, address.data, row));
	text_fini(&address);
	return rest_list_goes_on(l);
}

static json_t *show_request(const struct rest_call *call)
{
	const struct rest_target *t = &call->target;
	json_t *request =
		json_pack("{s:s, s:s, s:s*, s:s*}", "op", "show", "what", rest_kind_words(t->kind),
			"owner", *t->owner ? t->owner : NULL, "name", *t->name ? t->name : NULL);

	rest_page_set(call, request);
	return request;
}

/* An object as a row of "show" would name it. */
static bool object_row(void *arg, json_t *row)
{
	struct stats_out *s = arg;
	json_t *path = json_object_get(row, "fullPath");

	if (path)
		json_object_set(row, "name", path);
	json_object_set_new(row, "owner", json_string(s->list.call->target.owner));
	return stats_row(arg, row);
}

static json_t *objects_request(const struct rest_call *call)
{
	json_t *request = rest_list_request(&call->target);

	if (!*call->target.name)
		rest_page_set(call, request);
	return request;
}

static bool ask_rows(struct rest_call *call, struct stats_out *out, json_t **result)
{
	if (call->target.kind == KIND_INTERFACE)
		rest_list_page(&out->list);
	if (is_counted(call->target.kind))
		return rest_ask(call, show_request(call), stats_row, out, result);
	return rest_ask(call, objects_request(call), object_row, out, result);
}

void rest_stats(struct rest_call *call)
{
	const char *rest_kind_name = model_kinds[call->target.kind].rest_kind;
	bool item = call->target.what == REST_ITEM;
	struct stats_out out = {0};
	json_t *result = NULL;

	rest_list_begin_stats(&out.list, call,
		rest_kind(rest_kind_name, item ? "stats" : "collectionstats"),
		rest_link(call->rest, "%s", call->http->path));
	if (!ask_rows(call, &out, &result)) {
		rest_list_drop(&out.list);
		rest_refuse_item(call);
		return;
	}
	if (item)
		rest_list_member(&out.list, "generation", json_integer(out.generation));
	rest_list_end(&out.list, json_integer_value(json_object_get(result, "count")));
	json_decref(result);
}
