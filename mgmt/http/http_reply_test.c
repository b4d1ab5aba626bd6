/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/check.h"
#include "http/http.h"

static unsigned freed;

static ssize_t next(void *ctx, char *buffer, size_t size, unsigned wait_ms)
{
	return -1;
}

static void count_free(void *ctx)
{
	freed++;
}

static struct http_request begin(void)
{
	struct http_request r = {.number = 7, .address = "192.0.2.1"};

	CHECK(!http_request_target(&r, "/mgmt/tm/x"));
	return r;
}

static const char *body_text(const struct http_request *r, const char *key)
{
	static char text[512];
	json_t *body = json_loadb(r->reply.body, r->reply.length, 0, NULL);

	CHECK(body);
	snprintf(text, sizeof(text), "%s", json_string_value(json_object_get(body, key)));
	json_decref(body);
	return text;
}

static void test_last_counts(void)
{
	struct http_request r = begin();

	http_reply_stream(&r, next, count_free, NULL);
	CHECK(r.reply.next == next);
	http_reply(&r, 200, "text/plain", strdup("x"), 1);
	CHECK(freed == 1 && !r.reply.next);
	http_reply_json(&r, 201, json_pack("{s:s}", "a", "b"));
	CHECK_INT(r.reply.status, 201);
	CHECK_STR(r.reply.type, "application/json; charset=UTF-8");
	CHECK_INT(r.reply.length, 9);
	http_reply_json(&r, 200, NULL);
	CHECK_INT(r.reply.status, 500);
	http_reply_stream(&r, next, count_free, NULL);
	http_request_fini(&r);
	CHECK_INT(freed, 2);
}

static void test_errors(void)
{
	struct http_request r = begin();

	http_reply_error(&r, 404, "Public URI path not registered: %s", "/tm/x");
	CHECK_INT(r.reply.status, 404);
	CHECK_STR(body_text(&r, "message"), "Public URI path not registered: /tm/x");
	CHECK_STR(body_text(&r, "referer"), "192.0.2.1");
	CHECK_STR(body_text(&r, "kind"), ":resterrorresponse");
	http_reply_unauthorised(&r, NULL);
	CHECK_INT(r.reply.status, 401);
	CHECK(strstr(body_text(&r, "message"),
		"no user authentication header or token detected. Uri:/mgmt/tm/x "));
	CHECK_INT(r.reply.header_count, 1);
	CHECK_STR(r.reply.headers[0].value, "Basic realm=\"BIG-IP\"");
	http_request_fini(&r);
}

/* A browser is not asked to ask. */
static void test_challenge(void)
{
	struct http_request r = begin();

	r.headers[0] = (struct http_pair){"sec-fetch-site", "same-origin"};
	r.header_count = 1;
	http_reply_unauthorised(&r, "the password is empty");
	CHECK_INT(r.reply.header_count, 0);
	CHECK_STR(body_text(&r, "message"), "Authorization failed: the password is empty");
	http_request_fini(&r);
}

static void test_headers(void)
{
	struct http_request r = begin();

	for (unsigned i = 0; i < HTTP_REPLY_HEADERS_MAX + 1; i++)
		http_reply_header(&r, "X", "y");
	CHECK_INT(r.reply.header_count, HTTP_REPLY_HEADERS_MAX);
	http_reply_restarting(&r);
	CHECK_INT(r.reply.status, 503);
	CHECK(strstr(r.reply.body, "Configuration Utility restarting..."));
	http_request_fini(&r);
}

int main(void)
{
	test_last_counts();
	test_errors();
	test_challenge();
	test_headers();
	return 0;
}
