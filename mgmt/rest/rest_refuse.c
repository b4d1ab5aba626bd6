/* SPDX-License-Identifier: BSD-3-Clause */
#include "rest/rest_refuse.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const method_name[] = {[HTTP_GET] = "GET",
	[HTTP_POST] = "POST",
	[HTTP_PUT] = "PUT",
	[HTTP_PATCH] = "PATCH",
	[HTTP_DELETE] = "DELETE"};

static const char *text_of(const json_t *error, const char *key)
{
	const json_t *value = json_object_get(error, key);

	if (json_is_object(value))
		value = json_object_get(value, "bytes");
	return json_is_string(value) ? json_string_value(value) : "";
}

/* LTM's word for a kind in messages, from weirsh's: "ltm pool" is "Pool". */
static const char *title_of(const char *words)
{
	for (int k = 0; k < MODEL_KINDS; k++)
		if (!strcmp(model_kinds[k].full, words))
			return model_kinds[k].title;
	return words;
}

/* "/Common/p /Common/10.0.0.1 80" of a member, else the full path. */
static void put_object(const struct rest_question *q, struct text *out)
{
	const struct rest_target *t = q->target;
	char name[REST_NAME_MAX + 16], owner[REST_NAME_MAX + 16];
	const struct kind *k = &model_kinds[t->kind];
	const char *leaf, *port;

	rest_name_full(t->kind, t->name, name, sizeof(name));
	if (k->owner < 0) {
		text_printf(out, "%s", name);
		return;
	}
	rest_name_full(k->owner, t->owner, owner, sizeof(owner));
	leaf = strrchr(name, '/') ? strrchr(name, '/') : name;
	port = strrchr(leaf, '.') && strchr(leaf, ':') && strchr(leaf, ':') != strrchr(leaf, ':')
		       ? strrchr(leaf, '.')
		       : strrchr(leaf, ':');
	if (k->name_form == NAME_MEMBER && port)
		text_printf(out, "%s %.*s %s", owner, (int)(port - name), name, port + 1);
	else
		text_printf(out, "%s %s", owner, name);
}

static void put_partition(const struct rest_target *t, struct text *out)
{
	char name[REST_NAME_MAX + 16];
	const char *slash;

	rest_name_full(t->kind, t->name, name, sizeof(name));
	slash = *name == '/' ? strchr(name + 1, '/') : NULL;
	text_printf(out, "%.*s", slash ? (int)(slash - name - 1) : 6, slash ? name + 1 : "Common");
}

/* ---- not there ---- */

/* "ltm pool /Common/x does not exist": what a reference names. */
static bool missing_reference(const char *reason, struct text *out)
{
	static const char end[] = " does not exist";
	size_t n = strlen(reason), tail = sizeof(end) - 1;
	char words[128];
	const char *name;

	if (n <= tail || strcmp(reason + n - tail, end))
		return false;
	name = memrchr(reason, ' ', n - tail);
	if (!name || name[1] != '/' || name - reason >= (long)sizeof(words))
		return false;
	snprintf(words, sizeof(words), "%.*s", (int)(name - reason), reason);
	text_printf(out, "01020036:3: The requested %s (%.*s) was not found.", title_of(words),
		(int)(reason + n - tail - name - 1), name + 1);
	return true;
}

static void put_missing(
	const struct rest_question *q, const json_t *error, struct rest_refusal *out)
{
	const struct kind *k = &model_kinds[q->target->kind];
	const char *words = text_of(error, "kind");
	char name[REST_NAME_MAX + 16];

	out->status = 404;
	out->api_error = REST_ERROR_CONFIG;
	if (*text_of(error, "field") || strcmp(text_of(error, "reason"), "does not exist")) {
		if (!missing_reference(text_of(error, "reason"), &out->message))
			text_printf(&out->message,
				"01020036:3: The requested object was not found: %s",
				text_of(error, "text"));
	} else if (k->owner >= 0 && !strcmp(words, model_kinds[k->owner].full)) {
		rest_name_full(k->owner, q->target->owner, name, sizeof(name));
		text_printf(&out->message, "01020036:3: The requested %s (%s) was not found.",
			q->method == HTTP_POST && k->owner == KIND_POOL ? "pool" : title_of(words),
			name);
	} else if (k->owner >= 0 && q->method == HTTP_GET) {
		rest_name_full(q->target->kind, q->target->name, name, sizeof(name));
		out->api_error = REST_ERROR_OBJECT;
		text_printf(&out->message, "Object not found - %s", name);
	} else {
		text_printf(&out->message, "01020036:3: The requested %s (", k->title);
		put_object(q, &out->message);
		text_printf(&out->message, ") was not found.");
	}
}

/* ---- there already, or in use ---- */

static void put_exists(const struct rest_question *q, struct rest_refusal *out)
{
	out->status = 409;
	text_printf(&out->message, "01020066:3: The requested %s (",
		model_kinds[q->target->kind].title);
	put_object(q, &out->message);
	text_printf(&out->message, ") already exists in partition ");
	put_partition(q->target, &out->message);
	text_printf(&out->message, ".");
}

/* "is still used by ltm virtual /Common/v" */
static void put_in_use(const struct rest_question *q, const json_t *error, struct rest_refusal *out)
{
	const char *user = text_of(error, "reason") + strlen("is still used by ");
	const char *name = strchr(user, '/');
	const char *object = text_of(error, "object");
	char words[128];

	snprintf(words, sizeof(words), "%.*s", name && name > user ? (int)(name - user - 1) : 0,
		user);
	out->reason = text_of(error, "reason");
	if (!strcmp(text_of(error, "kind"), "ltm node") && !strcmp(words, "ltm pool members"))
		text_printf(&out->message,
			"01070110:3: Node address '%s' is referenced by a member of pool '%.*s'.",
			object, (int)strcspn(name, " "), name);
	else if (!strcmp(text_of(error, "kind"), "ltm snatpool"))
		text_printf(&out->message,
			"01070320:3: Snatpool %s is still referenced by a virtual server.", object);
	else
		text_printf(&out->message,
			"01070265:3: The %s (%s) cannot be deleted because it is in use by a %s "
			"(%s).",
			title_of(text_of(error, "kind")), object, title_of(words),
			name ? name : "");
}

static void put_clash(const json_t *error, struct rest_refusal *out)
{
	const char *reason = text_of(error, "reason");

	text_printf(&out->message,
		"01070333:3: Virtual Server %s illegally shares destination address, source "
		"address, "
		"service port, ip-protocol, and vlan with Virtual Server %.*s.",
		text_of(error, "object"), (int)strcspn(reason, " "), reason);
}

static void put_conflict(
	const struct rest_question *q, const json_t *error, struct rest_refusal *out)
{
	const char *reason = text_of(error, "reason"), *field = text_of(error, "field");

	out->status = 400;
	out->api_error = REST_ERROR_CONFIG;
	if (!strncmp(reason, "is still used by ", strlen("is still used by "))) {
		put_in_use(q, error, out);
	} else if (!strcmp(field, "generation")) {
		out->status = 409;
		text_printf(&out->message,
			"01070734:3: Configuration error: the generation of %s %s",
			text_of(error, "object"), reason);
	} else if (!*field && q->method == HTTP_POST &&
		   !strcmp(text_of(error, "kind"), model_kinds[q->target->kind].full)) {
		put_exists(q, out);
	} else if (!strcmp(field, "destination") &&
		   !strcmp(text_of(error, "kind"), "ltm virtual")) {
		put_clash(error, out);
	} else {
		text_printf(&out->message, "01070734:3: Configuration error: %s",
			text_of(error, "text"));
	}
}

/* ---- wrong ---- */

/* The property of the body that LTM's word means, if its value is one of a few or a number. */
static const json_t *wrong_value(
	const struct rest_question *q, const char *word, const struct field **which)
{
	const struct kind *k = &model_kinds[q->target->kind];

	for (unsigned i = 0; i < k->field_count; i++) {
		const struct field *f = &k->fields[i];
		const json_t *group =
			f->rest_group ? json_object_get(q->body, f->rest_group) : q->body;
		const json_t *value = json_object_get(group, f->rest);

		if (strcmp(f->name, word) || (f->type != TYPE_ENUM && f->type != TYPE_INT) ||
			!value)
			continue;
		*which = f;
		return value;
	}
	return NULL;
}

static bool put_invalid(
	const struct rest_question *q, const json_t *error, struct rest_refusal *out)
{
	const struct field *f = NULL;
	const json_t *value = wrong_value(q, text_of(error, "field"), &f);

	if (!value || strcmp(text_of(error, "kind"), model_kinds[q->target->kind].full))
		return false;
	if (json_is_string(value))
		text_printf(&out->message, "invalid property value \"%s\":\"%s\"", f->rest,
			json_string_value(value));
	else if (json_is_integer(value))
		text_printf(&out->message, "invalid property value \"%s\":\"%lld\"", f->rest,
			(long long)json_integer_value(value));
	else
		return false;
	out->api_error = REST_ERROR_VALUE;
	out->reason = text_of(error, "reason");
	return true;
}

/* folder "/X" does not exist */
static bool put_no_folder(const json_t *error, struct rest_refusal *out)
{
	const char *reason = text_of(error, "reason");
	const char *folder = strstr(reason, "folder \""), *end;

	if (!folder || !strstr(folder, "\" does not exist"))
		return false;
	folder += strlen("folder \"");
	end = strchr(folder, '"');
	text_printf(&out->message,
		"01070734:3: Configuration error: %s cannot be in %.*s: the folder does not exist",
		text_of(error, "object"), (int)(end - folder), folder);
	return true;
}

static void put_wrong(const struct rest_question *q, const json_t *error, struct rest_refusal *out)
{
	const char *reason = text_of(error, "reason");

	out->status = 400;
	out->api_error = REST_ERROR_CONFIG;
	if (put_no_folder(error, out) || put_invalid(q, error, out))
		return;
	if (!strncmp(reason, "Cannot create/modify published policy", 37)) {
		text_printf(&out->message, "01071abb:3: %s", reason);
	} else if (!strncmp(reason, "is no property of ", strlen("is no property of "))) {
		out->api_error = REST_ERROR_VALUE;
		out->reason = reason;
		text_printf(&out->message, "\"%s\" unknown property: it %s",
			text_of(error, "field"), reason);
	} else if (!strcmp(text_of(error, "kind"), "ltm rule") && *text_of(error, "field")) {
		text_printf(&out->message, "01070151:3: Rule [%s] error: %s",
			text_of(error, "object"), reason);
	} else {
		text_printf(&out->message, "01070734:3: Configuration error: %s",
			text_of(error, "text"));
	}
}

/* ---- who asks ---- */

static void put_unknown(const json_t *error, struct rest_refusal *out)
{
	bool token = !strcmp(text_of(error, "field"), "token");

	text_printf(&out->message, "%s%s", token ? "X-F5-Auth-Token does not exist: " : "",
		*text_of(error, "reason") ? text_of(error, "reason") : text_of(error, "text"));
}

void rest_refusal_of(const struct rest_question *q, const json_t *error, struct rest_refusal *out)
{
	long code = (long)json_integer_value(json_object_get(error, "code"));

	*out = (struct rest_refusal){.status = (unsigned)code};
	switch (code) {
	case 404:
		put_missing(q, error, out);
		break;
	case 409:
		put_conflict(q, error, out);
		break;
	case 400:
	case 413:
	case 501:
		put_wrong(q, error, out);
		break;
	case 401:
		put_unknown(error, out);
		break;
	default:
		if (code < 400 || code > 599)
			out->status = 500;
		text_printf(&out->message, "%s", text_of(error, "text"));
	}
}

/* ---- answers ---- */

static void reply_config(struct rest_call *call, unsigned status, int api_error,
	const char *message, const char *reason)
{
	json_t *stack = json_array();

	if (reason)
		json_array_append_new(stack, json_string(reason));
	http_reply_json(call->http, status,
		json_pack("{s:i, s:s, s:o, s:i}", "code", (int)status, "message", message,
			"errorStack", stack, "apiError", api_error));
}

static void reply_may_not(struct rest_call *call, const char *message)
{
	const struct http_request *r = call->http;

	http_reply_error(call->http, 403,
		"Authorization failed: user=%s resource=%s verb=%s uri:http://localhost:8100%s "
		"referrer:%s sender:%s: %s",
		r->credentials.user ? r->credentials.user : "", r->path, method_name[r->method],
		r->path, r->address, r->address, message);
}

static void refuse_lost(struct rest_call *call)
{
	if (call->lost == -ECONNREFUSED || call->lost == -ENOENT)
		http_reply_restarting(call->http);
	else if (call->lost == -EMSGSIZE)
		http_reply_error(call->http, 413,
			"The answer is longer than %u MiB, or than there is room for: read it in "
			"pages, with $top and $skip.",
			REST_LIST_MAX >> 20);
	else
		reply_config(call, 500, REST_ERROR_LOST,
			"The connection to mcpd has been lost, try again.", NULL);
}

static void add_retry_after(struct rest_call *call)
{
	char seconds[16];

	snprintf(seconds, sizeof(seconds), "%d",
		(int)json_integer_value(json_object_get(call->error, "retry")) + 1);
	http_reply_header(call->http, "Retry-After", seconds);
}

void rest_refuse(struct rest_call *call)
{
	struct rest_question q = {call->http->method, &call->target, call->body};
	struct rest_refusal refusal;

	if (!call->error) {
		refuse_lost(call);
		return;
	}
	rest_refusal_of(&q, call->error, &refusal);
	const char *message = refusal.message.data ? refusal.message.data : "";
	if (refusal.status == 401)
		http_reply_unauthorised(call->http, message);
	else if (refusal.status == 403)
		reply_may_not(call, message);
	else if (refusal.api_error)
		reply_config(call, refusal.status, refusal.api_error, message, refusal.reason);
	else
		http_reply_error(call->http, refusal.status, "%s", message);
	if (refusal.status == 429)
		add_retry_after(call);
	text_fini(&refusal.message);
}

void rest_refuse_with(
	struct rest_call *call, unsigned status, int api_error, const char *format, ...)
{
	char *message;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&message, format, ap) < 0)
		message = NULL;
	va_end(ap);
	if (api_error == REST_ERROR_FRAMEWORK)
		http_reply_error(call->http, status, "%s", message ? message : "no memory");
	else
		reply_config(call, status, api_error, message ? message : "no memory", NULL);
	free(message);
}
