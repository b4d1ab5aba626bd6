/* SPDX-License-Identifier: BSD-3-Clause */
#include "rest/rest_call.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rest/rest_complete.h"
#include "rest/rest_refuse.h"

#define TM REST_LINK "/mgmt/tm/"

bool rest_ask(struct rest_call *call, json_t *request, rest_row *row, void *arg, json_t **result)
{
	json_t *as = credentials_as(&call->http->credentials, call->http->address);
	json_t *answer = NULL;

	json_decref(call->error);
	call->error = NULL;
	call->lost = 0;
	if (!request || !as || json_object_set_new(request, "as", as)) {
		json_decref(request);
		call->lost = -ENOMEM;
		return false;
	}
	call->lost =
		call->backend->ask(call->backend->ctx, request, row, arg, &answer, &call->error);
	if (result && !call->lost && !call->error)
		*result = answer;
	else
		json_decref(answer);
	return !call->lost && !call->error;
}

static bool row_keep(void *arg, json_t *row)
{
	json_t **kept = arg;

	if (!*kept)
		*kept = json_incref(row);
	return true;
}

json_t *rest_ask_row(struct rest_call *call, json_t *request)
{
	json_t *row = NULL;

	if (!rest_ask(call, request, row_keep, &row, NULL)) {
		json_decref(row);
		return NULL;
	}
	if (!row)
		call->error = json_pack("{s:i, s:s}", "code", 404, "reason", "does not exist");
	return row;
}

json_t *rest_list_request(const struct rest_target *t)
{
	return json_pack("{s:s, s:s, s:b, s:s, s:s*, s:s*}", "op", "list", "form", "rest", "live",
		1, "kind", rest_kind_words(t->kind), "owner", *t->owner ? t->owner : NULL, "name",
		*t->name ? t->name : NULL);
}

json_t *rest_whoami(struct rest_call *call)
{
	json_t *who = NULL;

	if (!rest_ask(call, json_pack("{s:s}", "op", "whoami"), NULL, NULL, &who))
		rest_refuse(call);
	return who;
}

/* ---- how things are written ---- */

const char *rest_word(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static bool is_link(const char *key)
{
	return !strcmp(key, "selfLink") || !strcmp(key, "link");
}

/* Links outside of tm bear no version. */
static json_t *versioned(const struct rest *rest, const json_t *link)
{
	const char *text = json_string_value(link);

	if (strncmp(text, TM, sizeof(TM) - 1))
		return json_string(text);
	return json_sprintf("%s?ver=%s", text, rest->version);
}

/* {"bytes": "..."}: one character per byte. */
static json_t *bytes_of(const json_t *value)
{
	json_t *bytes = json_object_size(value) == 1 ? json_object_get(value, "bytes") : NULL;

	return json_is_string(bytes) ? bytes : NULL;
}

void rest_shape(const struct rest *rest, json_t *value)
{
	const char *key;
	json_t *inner, *bytes;
	size_t i;

	json_array_foreach(value, i, inner)
	{
		if ((bytes = bytes_of(inner)))
			json_array_set(value, i, bytes);
		else
			rest_shape(rest, inner);
	}
	json_object_foreach(value, key, inner)
	{
		if (json_is_string(inner) && is_link(key))
			json_object_set_new(value, key, versioned(rest, inner));
		else if ((bytes = bytes_of(inner)))
			json_object_set(value, key, bytes);
		else
			rest_shape(rest, inner);
	}
}

void rest_shape_object(const struct rest_call *call, json_t *object)
{
	rest_complete(object);
	rest_shape(call->rest, object);
	if (call->more)
		json_object_update_missing(object, call->more);
	rest_query_select(&call->query, object);
}

json_t *rest_link(const struct rest *rest, const char *format, ...)
{
	json_t *link = NULL;
	char *path;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&path, format, ap) < 0)
		path = NULL;
	va_end(ap);
	if (path)
		link = json_sprintf(REST_LINK "%s?ver=%s", path, rest->version);
	free(path);
	return link;
}

json_t *rest_kind(const char *rest_kind, const char *suffix)
{
	size_t n = strlen(rest_kind);

	if (n > 5 && !strcmp(rest_kind + n - 5, "state"))
		n -= 5;
	return json_sprintf("%.*s%s", (int)n, rest_kind, suffix);
}

json_t *rest_kind_of_path(const char *path, const char *suffix)
{
	const char *last = strrchr(path, '/'), *name = strstr(path, "*/");
	char words[REST_NAME_MAX];

	snprintf(words, sizeof(words), "%.*s%s", name ? (int)(name - path) : 0, path,
		name ? name + 2 : path);
	for (char *p = words; *p; p++)
		if (*p == '/')
			*p = ':';
	return json_sprintf("tm%s%s:%s%s", *words ? ":" : "", words,
		last ? last + 1 : (*path ? path : "tm"), suffix);
}
