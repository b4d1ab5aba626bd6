/* SPDX-License-Identifier: BSD-3-Clause */
/* The journal over HTTP: ours in pages, and LTM's log as text. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log_words.h"
#include "observe/observe.h"

#define LINES_DEFAULT 100
#define LINES_MAX 10000

static bool keep_row(void *arg, json_t *row)
{
	return json_array_append(arg, row) == 0;
}

/* The answer as {..., "items": [...]}, or NULL: answered. */
static json_t *ask(struct http_request *r, const struct observe_backend *b, json_t *request)
{
	json_t *as = credentials_as(&r->credentials, r->address), *rows = json_array();
	json_t *result = NULL, *error = NULL;
	int lost = -ENOMEM;

	if (request && as && rows && !json_object_set(request, "as", as))
		lost = b->rest.ask(
			b->rest.ctx, json_incref(request), keep_row, rows, &result, &error);
	json_decref(as);
	json_decref(request);
	if (!lost && !error && result) {
		json_object_set_new(result, "items", rows);
		return result;
	}
	json_decref(rows);
	json_decref(result);
	observe_refuse(r, error, lost);
	return NULL;
}

static bool flag_put(const struct http_pair *pair, json_t *request)
{
	if (strcmp(pair->name, "audit") ||
		(strcmp(pair->value, "true") && strcmp(pair->value, "false")))
		return false;
	json_object_set_new(request, "audit", json_boolean(!strcmp(pair->value, "true")));
	return true;
}

/* NULL: answered. */
static json_t *request_of(struct http_request *r)
{
	json_t *request = json_pack("{s:s}", "op", "log");
	char reason[300];

	for (unsigned i = 0; request && i < r->query_count; i++) {
		const struct http_pair *pair = &r->query[i];
		const struct log_word *w = log_word_find(pair->name);

		if (!w && flag_put(pair, request))
			continue;
		snprintf(reason, sizeof(reason), "%.60s chooses no records", pair->name);
		if (w && log_word_put(w, pair->value, time(NULL), request, reason, sizeof(reason)))
			continue;
		json_decref(request);
		http_reply_error(r, 400, "%s", reason);
		return NULL;
	}
	return request;
}

void observe_log(struct http_request *r, const struct observe_backend *b)
{
	json_t *request = observe_is_get(r) ? request_of(r) : NULL;
	json_t *result = request ? ask(r, b, request) : NULL;

	if (!result)
		return;
	json_object_set_new(result, "kind", json_string("weir:log:logcollectionstate"));
	http_reply_json(r, 200, result);
}

void observe_receivers(struct http_request *r, const struct observe_backend *b)
{
	json_t *result = NULL;

	if (observe_is_get(r))
		result = ask(r, b, json_pack("{s:s, s:s}", "op", "show", "what", "sys receiver"));
	if (result)
		json_object_set_new(
			result, "kind", json_string("weir:receivers:receivercollectionstate"));
	if (result)
		http_reply_json(r, 200, result);
}

/* ---- LTM's ---- */

/* Of "lines,N"; 0: it is something else. */
static json_int_t lines_of(const struct http_request *r)
{
	const char *options = http_query(r, "options");
	const char *digits = options && !strncmp(options, "lines,", 6) ? options + 6 : NULL;
	json_int_t lines = digits ? strtoll(digits, NULL, 10) : 0;

	if (!options)
		return LINES_DEFAULT;
	if (!digits || !*digits || digits[strspn(digits, "0123456789")] || strlen(digits) > 9)
		return 0;
	return lines < LINES_MAX ? lines : LINES_MAX;
}

static char *host_name(struct http_request *r, const struct observe_backend *b)
{
	json_t *result = ask(r, b,
		json_pack("{s:s, s:s, s:s}", "op", "list", "kind", "sys global-settings", "form",
			"rest"));
	char host[256];

	if (!result)
		return NULL;
	log_host(json_string_value(json_object_get(
			 json_array_get(json_object_get(result, "items"), 0), "hostname")),
		host);
	json_decref(result);
	return strdup(host);
}

static json_t *text_of(const json_t *items, const char *host)
{
	char *text = NULL;
	size_t size = 0, i;
	FILE *out = open_memstream(&text, &size);
	json_t *row, *value;

	if (!out)
		return NULL;
	json_array_foreach(items, i, row)
	{
		char *line = log_line(row, host);
		fprintf(out, "%s\n", line ? line : "");
		free(line);
	}
	fclose(out);
	value = text ? json_stringn(text, size) : NULL;
	free(text);
	return value;
}

/* ["mgmt", "tm", "sys", "log", "ltm", "stats"] */
static const char *log_asked(const struct http_request *r)
{
	const char *name = r->segment_count == 6 ? r->segments[4] : "";
	bool known = !strcmp(name, "ltm") || !strcmp(name, "audit");

	return known && !strcmp(r->segments[5], "stats") ? name : NULL;
}

void observe_log_stats(struct http_request *r, const struct observe_backend *b)
{
	const char *which = log_asked(r);
	json_int_t lines = lines_of(r);
	char *host = which && observe_is_get(r) ? host_name(r, b) : NULL;
	json_t *result = NULL;

	if (!which)
		http_reply_error(r, 404, "Public URI path not registered: %s", r->path + 5);
	else if (host && lines <= 0)
		http_reply_error(r, 400, "options takes lines,N, N from 1 on");
	else if (host)
		result = ask(r, b,
			json_pack("{s:s, s:I, s:b}", "op", "log", "limit", lines, "audit",
				!strcmp(which, "audit")));
	if (result)
		http_reply_json(r, 200,
			json_pack("{s:s, s:o, s:{s:o}}", "kind", "tm:sys:log:logstats", "selfLink",
				json_sprintf("https://localhost%s?options=lines%%2C%lld", r->path,
					(long long)lines),
				"apiRawValues", "apiAnonymous",
				text_of(json_object_get(result, "items"), host)));
	json_decref(result);
	free(host);
}
