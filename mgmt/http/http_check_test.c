/* SPDX-License-Identifier: BSD-3-Clause */
#include "http/http_check.h"

#include "base/check.h"

static const struct http_route routes[] = {
	{"/mgmt", NULL, NULL, {"application/json"}, 1000, false, NULL},
	{"/mgmt/shared/authn/login", NULL, NULL, {"application/json"}, 100, true, NULL},
	{"/iControl", NULL, NULL, {"text/xml", "application/soap+xml"}, 1000, false, NULL},
	{"/", NULL, NULL, {NULL}, 0, true, NULL},
};

static struct http_request r;

static void begin(const char *target)
{
	http_request_fini(&r);
	r = (struct http_request){.method = HTTP_POST};
	CHECK(!http_request_target(&r, target));
}

static void header(const char *name, const char *value)
{
	r.headers[r.header_count++] = (struct http_pair){name, value};
}

static const struct http_route *route_of(const char *target, unsigned count)
{
	begin(target);
	return http_check_route(routes, count, &r);
}

static void test_routes(void)
{
	CHECK(route_of("/mgmt", 4) == &routes[0]);
	CHECK(route_of("/mgmt/", 4) == &routes[0]);
	CHECK(route_of("/mgmt/shared/authn", 4) == &routes[0]);
	CHECK(route_of("/mgmt/shared/authn/login", 4) == &routes[1]);
	CHECK(route_of("/mgmt/shared/authn/login/x", 4) == &routes[1]);
	CHECK(route_of("/mgmt/shared/authn/loginx", 4) == &routes[0]);
	CHECK(route_of("/mgmt/shared/authn%2Flogin", 4) == &routes[0]);
	CHECK(route_of("/mgmtx", 4) == &routes[3]);
	CHECK(route_of("/MGMT", 4) == &routes[3]);
	CHECK(route_of("/", 4) == &routes[3]);
	CHECK(!route_of("/mgmtx", 3) && !route_of("/", 3));
}

static bool framed(const char *length, const char *coding, struct http_framing *framing)
{
	begin("/mgmt");
	if (length)
		header("content-length", length);
	if (coding)
		header("TRANSFER-ENCODING", coding);
	return http_check_framing(&r, framing) == NULL;
}

static void test_framing(void)
{
	static const char *const wrong[] = {
		"", "+1", "-1", " 1", "1 ", "1,1", "0x1", "1e3", "9999999999999999"};
	struct http_framing f;

	CHECK(framed(NULL, NULL, &f) && !f.chunked && f.length == 0);
	CHECK(framed("17", NULL, &f) && f.length == 17);
	CHECK(framed("999999999999999", NULL, &f) && f.length == 999999999999999);
	CHECK(framed(NULL, "Chunked", &f) && f.chunked && f.length == 0);
	CHECK(!framed("1", "chunked", &f));
	CHECK(!framed(NULL, "identity", &f) && !framed(NULL, "", &f) &&
		!framed(NULL, "gzip, chunked", &f));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		CHECK(!framed(wrong[i], NULL, &f));
}

static void test_once(void)
{
	static const char *const once[] = {"content-length", "Transfer-Encoding", "host",
		"authorization", "x-f5-auth-token", "content-type", "origin", "sec-fetch-site"};
	struct http_framing f;

	for (size_t i = 0; i < sizeof(once) / sizeof(*once); i++) {
		begin("/mgmt");
		header(once[i], "1");
		header(once[i], "1");
		CHECK(http_check_framing(&r, &f));
	}
	begin("/mgmt");
	header("Accept", "a");
	header("Accept", "b");
	CHECK(!http_check_framing(&r, &f));
}

static void test_types(void)
{
	CHECK(http_check_type(&routes[0], "application/json"));
	CHECK(http_check_type(&routes[0], "APPLICATION/json; charset=UTF-8"));
	CHECK(http_check_type(&routes[2], "application/soap+xml;charset=x"));
	CHECK(!http_check_type(&routes[0], "application/jsonx"));
	CHECK(!http_check_type(&routes[0], "application/jso"));
	CHECK(!http_check_type(&routes[0], "text/plain; application/json"));
	CHECK(!http_check_type(&routes[0], "") && !http_check_type(&routes[0], NULL));
	CHECK(!http_check_type(&routes[3], "application/json"));
}

static unsigned checked(const struct http_route *route, uint64_t length)
{
	struct http_framing framing = {.length = length};

	http_check(&r, route, &framing);
	return r.reply.status;
}

static void test_order(void)
{
	begin("/mgmt");
	CHECK_INT(checked(&routes[0], 0), 401);
	begin("/mgmt");
	CHECK_INT(checked(&routes[1], 0), 0);
	begin("/mgmt");
	header("X-F5-Auth-Token", "A");
	CHECK_INT(checked(&routes[0], 0), 0);
	CHECK_STR(r.credentials.token, "A");
	begin("/mgmt");
	header("X-F5-Auth-Token", "A");
	CHECK_INT(checked(&routes[0], 1001), 413);
	begin("/mgmt");
	header("X-F5-Auth-Token", "A");
	CHECK_INT(checked(&routes[0], 1000), 415);
	begin("/mgmt");
	header("Authorization", "");
	CHECK_INT(checked(&routes[1], 0), 401); /* an open path takes no malformed ones either */
	begin("/mgmt");
	header("Origin", "https://evil.example");
	CHECK_INT(checked(&routes[1], 0), 403);
	begin("/mgmt");
	r.method = HTTP_GET;
	header("Origin", "https://evil.example");
	CHECK_INT(checked(&routes[1], 0), 0);
}

static void test_methods(void)
{
	enum http_method method;

	CHECK(http_check_method("HEAD", &method) && method == HTTP_GET);
	CHECK(http_check_method("PATCH", &method) && method == HTTP_PATCH);
	CHECK(!http_check_method("patch", &method) && !http_check_method("", &method) &&
		!http_check_method("OPTIONS", &method));
}

int main(void)
{
	test_routes();
	test_framing();
	test_once();
	test_types();
	test_order();
	test_methods();
	http_request_fini(&r);
	return 0;
}
