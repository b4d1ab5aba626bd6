/* SPDX-License-Identifier: BSD-3-Clause */
#include "rest/rest_edit.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "rest/rest_complete.h"
#include "rest/rest_refuse.h"
#include "rest/rest_upload.h"

/* ---- taking a request ---- */

static bool has_tag(const char *text)
{
	const char *open = text ? strchr(text, '<') : NULL;

	return open && strchr(open, '>');
}

static bool body_has_tag(const json_t *body)
{
	static const char *const names[] = {"name", "partition", "subPath", "fullPath"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (has_tag(json_string_value(json_object_get(body, names[i]))))
			return true;
	return false;
}

static const char *not_allowed(const struct rest_target *t, enum http_method method)
{
	bool item = t->what == REST_ITEM;

	if (t->stats || t->example)
		return "is only read";
	if (method == HTTP_POST)
		return item ? "creates only in a collection" : NULL;
	if (method == HTTP_DELETE)
		return NULL;
	return item ? NULL : "needs an object";
}

static bool check_create(struct rest_call *call)
{
	const char *name = json_string_value(json_object_get(call->body, "name"));
	const char *slash = name ? strrchr(name, '/') : NULL;

	if (name && strcmp(slash ? slash + 1 : name, "example"))
		return true;
	if (name)
		rest_refuse_with(call, 400, REST_ERROR_VALUE,
			"01070734:3: Configuration error: the name %s is a reserved keyword", name);
	else
		rest_refuse_with(call, 400, REST_ERROR_VALUE,
			"\"name\" must be specified to create a %s",
			model_kinds[call->target.kind].title);
	return false;
}

static bool check_body(struct rest_call *call)
{
	if (call->http->method == HTTP_DELETE)
		return true;
	if (body_has_tag(call->body))
		rest_refuse_with(call, 400, REST_ERROR_VALUE,
			"HTML Tag-like Content in the Request URL/Body");
	else if (!call->body || (call->http->method != HTTP_PUT && !json_object_size(call->body)))
		rest_refuse_with(
			call, 400, REST_ERROR_VALUE, "one or more properties must be specified");
	else
		return call->http->method != HTTP_POST || check_create(call);
	return false;
}

/* DELETE of all objects that a pattern names. */
static bool take_options(struct rest_call *call, struct rest_edit *edit)
{
	const char *options = http_query(call->http, "options");
	int n;

	if (call->http->method != HTTP_DELETE || call->target.what == REST_ITEM)
		return true;
	if (!options || !*options) {
		rest_refuse_with(call, 400, REST_ERROR_VALUE,
			"deleting a collection needs options=PATTERN, the names that are meant");
		return false;
	}
	n = snprintf(edit->options, sizeof(edit->options), "%s", options);
	if (n < (int)sizeof(edit->options))
		return true;
	rest_refuse_with(call, 400, REST_ERROR_VALUE, "options is too long");
	return false;
}

/* POST of {"command": "publish", "name": ...}: a change of the draft that is named. */
static bool take_publish(struct rest_call *call, struct rest_edit *edit)
{
	const char *command = json_string_value(json_object_get(call->body, "command"));
	const char *name = json_string_value(json_object_get(call->body, "name"));

	if (edit->target.kind != KIND_POLICY || edit->method != HTTP_POST || !command)
		return false;
	if (strcmp(command, "publish") || !name || strlen(name) >= REST_NAME_MAX) {
		rest_refuse_with(call, 400, REST_ERROR_VALUE,
			"the command for policies is publish, with the name of a draft");
		edit->refused = true;
		return false;
	}
	edit->method = HTTP_PATCH;
	edit->echo = true;
	edit->target.what = REST_ITEM;
	strcpy(edit->target.name, name);
	edit->body = json_pack("{s:b}", "publish", 1);
	return true;
}

/* PATCH with options=create-draft, which needs no body, is the property createDraft. */
static bool take_create_draft(struct rest_call *call)
{
	const char *options = http_query(call->http, "options");

	if (call->target.kind != KIND_POLICY || call->http->method != HTTP_PATCH || !options ||
		strcmp(options, "create-draft"))
		return true;
	if (!call->body)
		call->body = json_object();
	return call->body && json_object_set_new(call->body, "createDraft", json_true()) == 0;
}

bool rest_edit_take(struct rest_call *call, struct rest_edit *edit)
{
	const char *why = not_allowed(&call->target, call->http->method);

	*edit = (struct rest_edit){.method = call->http->method, .target = call->target};
	if (!why && (take_publish(call, edit) || edit->refused))
		return !edit->refused;
	if (!take_create_draft(call)) {
		rest_refuse_with(call, 500, REST_ERROR_VALUE, "no memory");
		return false;
	}
	if (why) {
		http_reply_error(call->http, 405, "This method %s: %s", why, call->http->path);
		return false;
	}
	if (!check_body(call) || !take_options(call, edit))
		return false;
	edit->body = call->body ? json_copy(call->body) : NULL;
	rest_complete_taken(rest_kind_words(edit->target.kind), edit->body);
	return rest_upload_content(call, edit->target.kind, edit->body);
}

void rest_edit_fini(struct rest_edit *edit)
{
	json_decref(edit->body);
	edit->body = NULL;
}

/* ---- flags of which clients send both names ---- */

static bool both_given(const struct field *f, const json_t *body)
{
	const json_t *a = json_object_get(body, f->rest);
	const json_t *b = f->rest_opposite ? json_object_get(body, f->rest_opposite) : NULL;

	return f->type == TYPE_FLAG && !f->rest_group && json_is_true(a) && json_is_true(b);
}

static bool any_both_given(const struct rest_edit *edit)
{
	const struct kind *k = &model_kinds[edit->target.kind];

	for (unsigned i = 0; edit->body && i < k->field_count; i++)
		if (both_given(&k->fields[i], edit->body))
			return true;
	return false;
}

/* The one that differs from what is stored wins; stored NULL: from the default. */
static void drop_losers(const struct rest_edit *edit, const json_t *stored)
{
	const struct kind *k = &model_kinds[edit->target.kind];

	for (unsigned i = 0; i < k->field_count; i++) {
		const struct field *f = &k->fields[i];
		const char *now = f->default_text;

		if (!both_given(f, edit->body))
			continue;
		if (stored)
			now = json_object_get(stored, f->rest) ? f->name : f->opposite;
		json_object_del(
			edit->body, now && !strcmp(now, f->name) ? f->rest : f->rest_opposite);
	}
}

static bool settle_pairs(struct rest_call *call, struct rest_edit *edit)
{
	json_t *stored = NULL;

	if (!any_both_given(edit))
		return true;
	if (edit->method != HTTP_POST) {
		stored = rest_ask_row(call, rest_list_request(&edit->target));
		if (!stored)
			return false;
	}
	drop_losers(edit, stored);
	json_decref(stored);
	return true;
}

/* The body was read here: what it says of states is then no word of a person. */
static bool is_read_back(const json_t *body)
{
	return json_object_get(body, "kind") || json_object_get(body, "selfLink") ||
	       json_object_get(body, "fullPath");
}

static bool is_one_of(const json_t *body, const char *name, const char *const words[])
{
	const char *value = json_string_value(json_object_get(body, name));

	for (; value && *words; words++)
		if (!strcmp(value, *words))
			return true;
	return false;
}

/* What devices tolerate: a server's states that come of checks, which they say themselves, and empty words. */
static void drop_tolerated(struct rest_edit *edit)
{
	static const char *const always[] = {
		"unchecked", "fqdn-up", "fqdn-up-no-addr", "fqdn-down", "fqdn-checking", NULL};
	static const char *const states[] = {
		"up", "down", "checking", "address-down", "down-wait-for-manual-resume", NULL};
	static const char *const sessions[] = {"monitor-enabled", "monitor-disabled", NULL};
	static const char *const unset[] = {"", NULL};
	bool back = is_read_back(edit->body);

	if (edit->target.kind == KIND_MONITOR_LDAP && is_one_of(edit->body, "security", unset))
		json_object_del(edit->body, "security");
	if (edit->target.kind != KIND_NODE && edit->target.kind != KIND_POOL_MEMBER)
		return;
	if (is_one_of(edit->body, "state", always) ||
		(back && is_one_of(edit->body, "state", states)))
		json_object_del(edit->body, "state");
	if (back && is_one_of(edit->body, "session", sessions))
		json_object_del(edit->body, "session");
}

/* ---- requests ---- */

/* Name of a new object, as weir-cp will make it of the body. */
static void take_name(struct rest_edit *edit)
{
	const char *name = json_string_value(json_object_get(edit->body, "name"));
	const char *partition = json_string_value(json_object_get(edit->body, "partition"));
	const char *sub = json_string_value(json_object_get(edit->body, "subPath"));
	uint8_t form = model_kinds[edit->target.kind].name_form;

	/* clients name a partition for objects that are in none, too */
	if (form == NAME_PLAIN)
		json_object_del(edit->body, "partition");
	if (*name == '/' || !partition || form == NAME_PLAIN || form == NAME_INTERFACE)
		snprintf(edit->target.name, REST_NAME_MAX, "%s", name);
	else
		snprintf(edit->target.name, REST_NAME_MAX, "/%s%s%s/%s", partition,
			sub && *sub ? "/" : "", sub ? sub : "", name);
	edit->target.what = REST_ITEM;
}

static json_t *request_of(const char *op, const struct rest_target *t, json_t *body)
{
	return json_pack("{s:s, s:s, s:s*, s:s*, s:O*}", "op", op, "kind", rest_kind_words(t->kind),
		"owner", *t->owner ? t->owner : NULL, "name", *t->name ? t->name : NULL, "body",
		body);
}

struct matches {
	struct rest_edit *edit;
	json_t *requests;
};

static bool match_row(void *arg, json_t *row)
{
	struct matches *m = arg;
	const char *path = json_string_value(json_object_get(row, "fullPath"));
	const char *name = json_string_value(json_object_get(row, "name"));
	struct rest_target target = m->edit->target;

	if (!path || (fnmatch(m->edit->options, path, 0) &&
			     fnmatch(m->edit->options, name ? name : "", 0)))
		return true;
	snprintf(target.name, sizeof(target.name), "%s", path);
	json_array_append_new(m->requests, request_of("delete", &target, NULL));
	return true;
}

static json_t *request_matches(struct rest_call *call, struct rest_edit *edit)
{
	struct matches m = {edit, json_array()};

	if (rest_ask(call, rest_list_request(&edit->target), match_row, &m, NULL))
		return m.requests;
	json_decref(m.requests);
	return NULL;
}

static void put_generation(
	const struct rest_call *call, const struct rest_edit *edit, json_t *request)
{
	json_t *seen = json_object_get(edit->body, "generation");

	if (call->rest->check_generation && json_is_integer(seen))
		json_object_set(request, "generation", seen);
}

json_t *rest_edit_request(struct rest_call *call, struct rest_edit *edit)
{
	json_t *request;

	if (edit->method == HTTP_DELETE)
		return *edit->options ? request_matches(call, edit)
				      : request_of("delete", &edit->target, NULL);
	drop_tolerated(edit);
	if (!settle_pairs(call, edit))
		return NULL;
	if (edit->method == HTTP_POST)
		take_name(edit);
	request = request_of(
		edit->method == HTTP_POST ? "create" : "modify", &edit->target, edit->body);
	if (edit->method == HTTP_POST)
		return request;
	if (edit->method == HTTP_PUT)
		json_object_set_new(request, "replace", json_true());
	put_generation(call, edit, request);
	return request;
}
