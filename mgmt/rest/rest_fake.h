/* SPDX-License-Identifier: BSD-3-Clause */
/* For unit tests: a weir-cp whose answers the test lays out, and one request after another against it. */
#ifndef WEIR_REST_REST_FAKE_H
#define WEIR_REST_REST_FAKE_H

#include <errno.h>
#include <stdlib.h>

#include "base/check.h"
#include "rest/rest.h"

#define FAKE_ANSWERS_MAX 16u

static struct {
	const char *answer
		[FAKE_ANSWERS_MAX]; /* {"rows", "result"} or {"error"}; NULL: weir-cp is gone */
	unsigned answers, next;
	bool used;
	json_t *asked[FAKE_ANSWERS_MAX];
} fake;

static struct rest *fake_rest;
static struct http_request fake_http;
static struct http_pair fake_headers[4];
static unsigned fake_header_count;
static json_t *fake_reply; /* its body, NULL if it is no JSON */

static int fake_ask(
	void *ctx, json_t *request, rest_row *row, void *arg, json_t **result, json_t **error)
{
	const char *text = fake.answers > fake.next ? fake.answer[fake.next] : NULL;
	json_t *answer = text ? json_loads(text, 0, NULL) : NULL, *one;
	size_t i;

	CHECK(!text || answer);
	CHECK(fake.next < FAKE_ANSWERS_MAX);
	json_decref(fake.asked[fake.next]);
	fake.asked[fake.next++] = request;
	json_array_foreach(json_object_get(answer, "rows"), i, one)
	{
		if (row && !row(arg, one))
			break;
	}
	*result = json_incref(json_object_get(answer, "result"));
	*error = json_incref(json_object_get(answer, "error"));
	json_decref(answer);
	return text ? 0 : -ECONNREFUSED;
}

/* The answers to the requests that come from now on. */
static inline void fake_answer(const char *text)
{
	if (fake.used)
		fake.answers = 0;
	fake.used = false;
	fake.answer[fake.answers++] = text;
}

/* A member of the n-th request to weir-cp, as JSON text. */
static inline const char *fake_asked(unsigned n, const char *key)
{
	static char *text;

	free(text);
	json_t *value = json_object_get(fake.asked[n], key);
	text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS)
		     : strdup("");
	return text;
}

/* A member of the reply. */
static inline const char *fake_said(const char *key)
{
	static char *text;
	json_t *value = json_object_get(fake_reply, key);

	free(text);
	if (json_is_string(value))
		text = strdup(json_string_value(value));
	else
		text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : strdup("");
	return text;
}

static inline unsigned fake_request(enum http_method method, const char *target, const char *body)
{
	static const struct rest_backend backend = {fake_ask, NULL};

	free(fake_http.reply.body);
	for (unsigned i = 0; i < fake_http.reply.header_count; i++) {
		free((char *)fake_http.reply.headers[i].name);
		free((char *)fake_http.reply.headers[i].value);
	}
	free(fake_http.space);
	credentials_fini(&fake_http.credentials);
	fake_http = (struct http_request){0};
	CHECK(!http_request_target(&fake_http, target));
	fake_http.method = method;
	fake_http.body = body ? body : "";
	fake_http.body_length = strlen(fake_http.body);
	strcpy(fake_http.address, "192.0.2.7");
	memcpy(fake_http.headers, fake_headers, sizeof(fake_headers));
	fake_http.header_count = fake_header_count;
	fake_http.credentials.user = strdup("bob");
	fake_http.credentials.password = strdup("secret");
	fake.next = 0;
	fake.used = true;
	rest_handle(&fake_http, fake_rest, &backend);
	json_decref(fake_reply);
	fake_reply = fake_http.reply.body
			     ? json_loadb(fake_http.reply.body, fake_http.reply.length, 0, NULL)
			     : NULL;
	return fake_http.reply.status;
}

#endif
