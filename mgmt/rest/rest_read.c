/* SPDX-License-Identifier: BSD-3-Clause */
/* GET of items, collections and examples. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rest/rest_facts.h"
#include "rest/rest_list.h"
#include "rest/rest_refuse.h"

/* ---- collections ---- */

static void read_collection(struct rest_call *call)
{
	const struct kind *k = &model_kinds[call->target.kind];
	json_t *request = rest_list_request(&call->target), *result = NULL;
	struct rest_list list;

	rest_fact_add(call);
	rest_page_set(call, request);
	if (call->query.expand)
		json_object_set_new(request, "expand", json_true());
	rest_list_begin(&list, call, rest_kind(k->rest_kind, "collectionstate"),
		rest_link(call->rest, "%s", call->http->path));
	if (rest_ask(call, request, rest_list_row, &list, &result)) {
		rest_list_end(&list, json_integer_value(json_object_get(result, "count")));
	} else {
		rest_list_drop(&list);
		rest_refuse(call);
	}
	json_decref(result);
}

/* ---- items ---- */

/* A path into a partition that does not exist is another error than a missing object. */
static bool partition_missing(struct rest_call *call)
{
	const struct rest_target *t = &call->target;
	const char *path = *t->owner ? t->owner : t->name;
	const char *slash = *path == '/' ? strchr(path + 1, '/') : NULL;
	char folder[REST_NAME_MAX];
	json_t *refused;

	if (!slash || json_integer_value(json_object_get(call->error, "code")) != 404)
		return false;
	snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
	refused = json_incref(call->error);
	json_t *row = rest_ask_row(call, json_pack("{s:s, s:s, s:s, s:s}", "op", "list", "form",
						 "rest", "kind", "sys folder", "name", folder));
	bool missing = !row && call->error &&
		       json_integer_value(json_object_get(call->error, "code")) == 404;
	json_decref(row);
	json_decref(call->error);
	call->error = refused;
	call->lost = 0;
	if (missing)
		rest_refuse_with(call, 400, REST_ERROR_VALUE,
			"The requested folder (%s) was not found.", folder);
	return missing;
}

void rest_refuse_item(struct rest_call *call)
{
	if (!call->error || !partition_missing(call))
		rest_refuse(call);
}

void rest_reply_item(struct rest_call *call)
{
	json_t *request = rest_list_request(&call->target);
	json_t *row;

	rest_fact_add(call);
	if (call->query.expand)
		json_object_set_new(request, "expand", json_true());
	row = rest_ask_row(call, request);
	if (!row) {
		rest_refuse_item(call);
		return;
	}
	rest_shape_object(call, row);
	http_reply_json(call->http, 200, row);
}

/* ---- the folder of all others ---- */

/* It is no object of weir-cp's: nothing of it can be changed. */
static bool is_root(const struct rest_target *t)
{
	return t->kind == KIND_FOLDER && t->what == REST_ITEM && !t->stats && !strcmp(t->name, "/");
}

static void read_root(struct rest_call *call)
{
	json_t *who = rest_whoami(call), *row;

	if (!who)
		return;
	json_decref(who);
	row = json_pack("{s:o, s:s, s:s, s:i, s:o, s:s, s:s, s:s}", "kind",
		rest_kind_of_path("sys/folder", "state"), "name", "/", "fullPath", "/",
		"generation", 1, "selfLink", rest_link(call->rest, "/mgmt/tm/sys/folder/~"),
		"deviceGroup", "none", "hidden", "false", "trafficGroup",
		"/Common/traffic-group-1");
	rest_query_select(&call->query, row);
	http_reply_json(call->http, 200, row);
}

/* ---- examples ---- */

static json_t *example_value(const struct field *f)
{
	const char *text = f->default_text ? f->default_text : "";

	if (f->type == TYPE_FLAG)
		return json_true();
	if (f->type == TYPE_INT && !f->rest_string)
		return json_integer(strtoll(text, NULL, 10));
	if (f->type == TYPE_REFS || f->type == TYPE_STRINGS || f->type == TYPE_SERVICES)
		return json_array();
	return json_string(text);
}

static void put_example(json_t *item, const struct field *f)
{
	json_t *group = item;
	const char *name = f->rest;

	if (f->hidden || f->type == TYPE_HOLDS || (f->type == TYPE_FLAG && !f->default_text))
		return;
	if (f->rest_group && !(group = json_object_get(item, f->rest_group)))
		json_object_set_new(item, f->rest_group, group = json_object());
	if (f->type == TYPE_FLAG && strcmp(f->default_text, f->name))
		name = f->rest_opposite;
	json_object_set_new(group, name, example_value(f));
}

static void read_example(struct rest_call *call)
{
	const struct kind *k = &model_kinds[call->target.kind];
	json_t *item = json_object();

	for (unsigned i = 0; i < k->field_count; i++)
		put_example(item, &k->fields[i]);
	json_object_set_new(item, "propertyDescriptions", json_object());
	for (unsigned i = 0; i < k->field_count; i++)
		if (!k->fields[i].hidden && !k->fields[i].rest_group)
			json_object_set_new(json_object_get(item, "propertyDescriptions"),
				k->fields[i].rest, json_string(k->fields[i].sentence));
	http_reply_json(call->http, 200,
		json_pack("{s:o, s:o, s:[o]}", "kind", rest_kind(k->rest_kind, "collectionstate"),
			"selfLink", rest_link(call->rest, "%s", call->http->path), "items", item));
}

void rest_read(struct rest_call *call)
{
	if (call->target.example)
		read_example(call);
	else if (call->target.what == REST_COLLECTION)
		read_collection(call);
	else if (is_root(&call->target))
		read_root(call);
	else
		rest_reply_item(call);
}
