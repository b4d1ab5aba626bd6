/* SPDX-License-Identifier: BSD-3-Clause */
#include "rest/rest_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rest/rest_list.h"
#include "rest/rest_refuse.h"
#include "rest/rest_unsupported.h"

/* ---- what the texts of facts stand for ---- */

struct variables {
	char version[32], weir[32], host[256], date[32], uptime[24], mac[24];
	const char *in_force; /* "yes" once the dataplane has the configuration */
};

static void put_date(char *out, size_t size)
{
	time_t now = time(NULL);
	struct tm tm;

	strftime(out, size, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
}

static bool is_in_force(const json_t *dataplane)
{
	return json_is_true(json_object_get(dataplane, "connected")) &&
	       json_integer_value(json_object_get(dataplane, "generation")) >=
		       json_integer_value(json_object_get(dataplane, "running-generation"));
}

static void take_status(struct rest_call *call, struct variables *v)
{
	json_t *row =
		rest_ask_row(call, json_pack("{s:s, s:s}", "op", "show", "what", "sys status"));
	const char *weir = json_string_value(json_object_get(row, "version"));

	snprintf(v->weir, sizeof(v->weir), "%s", weir ? weir : "");
	snprintf(v->uptime, sizeof(v->uptime), "%lld",
		(long long)json_integer_value(json_object_get(row, "uptime")));
	v->in_force = is_in_force(json_object_get(row, "dataplane")) ? "yes" : "no";
	json_decref(row);
}

static void take_host(struct rest_call *call, struct variables *v)
{
	json_t *row = rest_ask_row(call, json_pack("{s:s, s:s, s:s}", "op", "list", "form", "rest",
						 "kind", "sys global-settings"));
	const char *host = json_string_value(json_object_get(row, "hostname"));

	snprintf(v->host, sizeof(v->host), "%s", host ? host : "");
	json_decref(row);
}

static void variables_take(struct rest_call *call, struct variables *v)
{
	*v = (struct variables){.mac = "00:00:00:00:00:00"};
	snprintf(v->version, sizeof(v->version), "%s", call->rest->version);
	put_date(v->date, sizeof(v->date));
	take_status(call, v);
	take_host(call, v);
}

static const char *variable(const struct variables *v, const char *name, size_t length)
{
	const struct {
		const char *name, *value;
	} known[] = {{"version", v->version}, {"weir", v->weir}, {"host", v->host},
		{"date", v->date}, {"uptime", v->uptime}, {"mac", v->mac},
		{"in-force", v->in_force}};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strlen(known[i].name) == length && !strncmp(known[i].name, name, length))
			return known[i].value;
	return "";
}

static json_t *filled_text(const struct variables *v, const char *text)
{
	struct text out = {0};
	json_t *value;

	for (const char *p = text; *p;) {
		const char *end = *p == '$' ? strchr(p + 1, '$') : NULL;

		if (end) {
			text_printf(&out, "%s", variable(v, p + 1, (size_t)(end - p - 1)));
			p = end + 1;
		} else {
			text_add(&out, p++, 1);
		}
	}
	value = out.failed ? NULL : json_string(out.data ? out.data : "");
	text_fini(&out);
	return value;
}

static void fill(const struct variables *v, json_t *value)
{
	const char *key;
	json_t *inner;
	size_t i;

	json_array_foreach(value, i, inner)
	{
		fill(v, inner);
	}
	json_object_foreach(value, key, inner)
	{
		if (json_is_string(inner))
			json_object_set_new(value, key, filled_text(v, json_string_value(inner)));
		else
			fill(v, inner);
	}
}

static json_t *fact_json(struct rest_call *call, const char *text)
{
	struct variables v;
	json_t *json = json_loads(text, 0, NULL);

	if (strchr(text, '$')) {
		variables_take(call, &v);
		fill(&v, json);
	}
	return json;
}

/* ---- answers ---- */

static void read_item(struct rest_call *call, const struct rest_fact *fact)
{
	json_t *item = fact_json(call, fact->json);

	json_object_set_new(item, "kind", rest_kind_of_path(fact->path, "state"));
	json_object_set_new(item, "selfLink", rest_link(call->rest, "/mgmt/tm/%s", fact->path));
	rest_query_select(&call->query, item);
	http_reply_json(call->http, 200, item);
}

/* Entries whose names begin with '/' have entries themselves. */
static json_t *nested_entries(const char *path, json_t *entries)
{
	json_t *out = json_object(), *value;
	const char *name;
	char below[REST_NAME_MAX], key[REST_NAME_MAX + sizeof(REST_LINK) + 16];

	json_object_foreach(entries, name, value)
	{
		if (*name == '=') { /* below another path than the one it stands in */
			snprintf(key, sizeof(key), REST_LINK "/mgmt/tm/%s", name + 1);
			json_object_set_new(out, key,
				json_pack("{s:{s:o}}", "nestedStats", "entries",
					nested_entries(name + 1, value)));
			continue;
		}
		if (*name != '/') {
			json_object_set(out, name, value);
			continue;
		}
		snprintf(below, sizeof(below), "%s%s", path, name);
		snprintf(key, sizeof(key), REST_LINK "/mgmt/tm/%s", below);
		json_object_set_new(out, key,
			json_pack("{s:{s:o}}", "nestedStats", "entries",
				nested_entries(below, value)));
	}
	return out;
}

void rest_fact_stats(struct rest_call *call, const char *path, json_t *entries)
{
	http_reply_json(call->http, 200,
		json_pack("{s:o, s:o, s:o}", "kind", rest_kind_of_path(path, "stats"), "selfLink",
			rest_link(call->rest, "/mgmt/tm/%s", path), "entries",
			nested_entries(path, entries)));
	json_decref(entries);
}

static void read_stats(struct rest_call *call, const struct rest_fact *fact)
{
	rest_fact_stats(call, fact->path, fact_json(call, fact->json));
}

/* Rows of lists that LTM has in partitions; others have bare names. */
static bool has_partition(const char *path)
{
	return !strncmp(path, "ltm/", 4);
}

static void complete_row(struct rest_call *call, const struct rest_fact *fact, json_t *row)
{
	const char *name = json_string_value(json_object_get(row, "name"));
	bool partition = has_partition(fact->path);

	json_object_set_new(row, "kind", rest_kind_of_path(fact->path, "state"));
	if (partition)
		json_object_set_new(row, "partition", json_string("Common"));
	json_object_set_new(
		row, "fullPath", json_sprintf("%s%s", partition ? "/Common/" : "", name));
	json_object_set_new(row, "generation", json_integer(1));
	json_object_set_new(row, "selfLink",
		json_sprintf(REST_LINK "/mgmt/tm/%s/%s%s", fact->path, partition ? "~Common~" : "",
			name));
}

static void read_list(struct rest_call *call, const struct rest_fact *fact)
{
	json_t *rows = fact_json(call, fact->json), *row;
	struct rest_list list;
	size_t i;

	rest_list_begin(&list, call, rest_kind_of_path(fact->path, "collectionstate"),
		rest_link(call->rest, "%s", call->http->path));
	rest_list_page(&list);
	json_array_foreach(rows, i, row)
	{
		complete_row(call, fact, row);
		rest_list_row(&list, row);
	}
	json_decref(rows);
	rest_list_end(&list, list.matched);
}

static bool is_named(const json_t *row, const char *item)
{
	const char *name = json_string_value(json_object_get(row, "name"));

	return !strcmp(name, !strncmp(item, "~Common~", 8) ? item + 8 : item);
}

static void read_row(struct rest_call *call, const struct rest_fact *fact, const char *item)
{
	json_t *rows = fact_json(call, fact->json), *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		if (!is_named(row, item))
			continue;
		complete_row(call, fact, row);
		rest_shape_object(call, row);
		http_reply_json(call->http, 200, json_incref(row));
		json_decref(rows);
		return;
	}
	json_decref(rows);
	char name[REST_NAME_MAX];
	snprintf(name, sizeof(name), "%s", item);
	for (char *p = name; *p; p++)
		if (*p == '~')
			*p = '/';
	rest_refuse_with(call, 404, REST_ERROR_CONFIG,
		"01020036:3: The requested %s (%s) was not found.", strrchr(fact->path, '/') + 1,
		name);
}

bool rest_fact_below(const char *const *segments, unsigned count)
{
	for (const struct rest_fact *f = rest_facts; f->path; f++)
		if (rest_path_begins(f->path, segments, count))
			return true;
	return false;
}

const struct rest_fact *rest_fact_find(
	const char *const *segments, unsigned count, const char **item)
{
	char path[REST_NAME_MAX] = "";
	size_t length = 0;

	*item = "";
	for (unsigned i = 0; i < count && length < sizeof(path); i++) {
		length += (size_t)snprintf(
			path + length, sizeof(path) - length, "%s%s", i ? "/" : "", segments[i]);
		for (const struct rest_fact *f = rest_facts; f->path; f++) {
			if (strcmp(f->path, path))
				continue;
			if (i + 1 == count)
				return f;
			if (i + 2 != count || f->form != FACT_LIST)
				return NULL;
			*item = segments[i + 1];
			return f;
		}
	}
	return NULL;
}

void rest_fact_read(struct rest_call *call, const struct rest_fact *fact, const char *item)
{
	const char *reason = rest_unsupported(fact->path);

	if (call->http->method != HTTP_GET && reason)
		rest_refuse_unsupported(call, fact->path, reason);
	else if (call->http->method != HTTP_GET)
		rest_refuse_with(call, 400, REST_ERROR_CONFIG,
			"01070734:3: Configuration error: %s is only read: Weir does not support "
			"such objects yet",
			fact->path);
	else if (!strcmp(item, "stats"))
		http_reply_json(call->http, 200,
			json_pack("{s:o, s:o}", "kind",
				rest_kind_of_path(fact->path, "collectionstats"), "selfLink",
				rest_link(call->rest, "/mgmt/tm/%s/stats", fact->path)));
	else if (*item)
		read_row(call, fact, item);
	else if (fact->form == FACT_ITEM)
		read_item(call, fact);
	else if (fact->form == FACT_STATS)
		read_stats(call, fact);
	else
		read_list(call, fact);
}

void rest_fact_add(struct rest_call *call)
{
	static const char device[] =
		"{\"hostname\":\"$host$\",\"version\":\"$version$\",\"build\":\"$weir$\","
		"\"edition\":\"Weir $weir$\",\"product\":\"BIG-IP\",\"failoverState\":\"active\","
		"\"managementIp\":\"any6\",\"platformId\":\"Weir\",\"marketingName\":\"Weir\","
		"\"baseMac\":\"$mac$\",\"chassisId\":\"none\",\"chassisType\":\"individual\","
		"\"configsyncIp\":\"none\",\"mirrorIp\":\"any6\",\"mirrorSecondaryIp\":\"any6\","
		"\"multicastInterface\":\"none\",\"multicastIp\":\"any6\",\"multicastPort\":0,"
		"\"timeZone\":\"UTC\",\"activeModules\":[],\"unicastAddress\":[]}";

	if (call->target.kind == KIND_DEVICE && !call->more)
		call->more = fact_json(call, device);
}

void rest_device_info(struct rest_call *call)
{
	static const char info[] =
		"{\"hostname\":\"$host$\",\"version\":\"$version$\",\"build\":\"$weir$\","
		"\"edition\":\"Weir $weir$\",\"product\":\"BIG-IP\",\"baseMac\":\"$mac$\","
		"\"machineId\":\"$host$\",\"platform\":\"Weir\","
		"\"platformMarketingName\":\"Weir\",\"chassisSerialNumber\":\"none\","
		"\"managementAddress\":\"any6\",\"time\":\"$date$\","
		"\"kind\":\"shared:resolver:device-groups:deviceinfostate\","
		"\"selfLink\":\"https://localhost/mgmt/shared/identified-devices/config/"
		"device-info\"}";
	json_t *who = rest_whoami(call);

	if (who && call->http->method == HTTP_GET)
		http_reply_json(call->http, 200, fact_json(call, info));
	else if (who)
		http_reply_error(call->http, 405, "This path is only read: %s", call->http->path);
	json_decref(who);
}
