/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/check.h"
#include "http/http.h"

static struct http_request r;

static bool taken(const char *target)
{
	http_request_fini(&r);
	r = (struct http_request){0};
	return http_request_target(&r, target) == NULL;
}

static void test_paths(void)
{
	static const struct {
		const char *target, *path;
		unsigned segments;
	} cases[] = {
		{"/", "/", 0},
		{"/mgmt/tm/sys", "/mgmt/tm/sys", 3},
		{"/mgmt/tm/sys/", "/mgmt/tm/sys", 3},
		{"//mgmt///tm//sys//", "/mgmt/tm/sys", 3},
		{"/mgmt/tm/sys/?ver=15.1.0", "/mgmt/tm/sys", 3},
		{"/m%67mt/tm", "/mgmt/tm", 2},
		{"/mgmt/tm/ltm/pool/~Common~web/members/~Common~10.0.0.1:80",
			"/mgmt/tm/ltm/pool/~Common~web/members/~Common~10.0.0.1:80", 7},
		{"/mgmt/tm/ltm/pool/%2FCommon%2fweb", "/mgmt/tm/ltm/pool/~Common~web", 5},
		{"/mgmt%2Ftm/sys", "/mgmt~tm/sys", 2},
		{"/n/~Common~10.10.0.2%2510:80", "/n/~Common~10.10.0.2%10:80", 2},
		{"/n/%252e%252e", "/n/%2e%2e", 2},
		{"/n/a+b", "/n/a+b", 2},
		{"/n/...", "/n/...", 2},
		{"/n/.a/..b/c.", "/n/.a/..b/c.", 4},
		{"/n/\xc3\xa4%c3%a4", "/n/\xc3\xa4\xc3\xa4", 2},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		CHECK(taken(cases[i].target));
		CHECK_STR(r.path, cases[i].path);
		CHECK_INT(r.segment_count, cases[i].segments);
	}
}

static void test_paths_refused(void)
{
	static const char *const targets[] = {"", "mgmt", "*", "http://host/mgmt", "/a/..",
		"/a/../b", "/a/.", "/./a", "/%2e%2e/a", "/%2E./a", "/.%2e", "/a/..;/b", "/a;x=1/b",
		"/a%3bx", "/a/..%2fb", "/a/~..~b", "/a/b%2f..", "/a/%5c..%5c", "/a\\b", "/a%00b",
		"/a%0ab", "/a\x01", "/a%7f", "/a%", "/a%2", "/a%zz", "/a%%", "/a%-1",
		"/%c0%ae%c0%ae/a", "/%c0%af", "/%e0%80%af", "/%ff", "/%ed%a0%80", "/%f4%90%80%80",
		"/a\xc0\xaf", "/a%c2%85", "/a#b", "/?a=%00", "/?%zz", "/?a=%c0%80", "/?a#"};

	for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++)
		CHECK(!taken(targets[i]));
}

static void test_limits(void)
{
	static char target[HTTP_TARGET_MAX + 2];
	char deep[2 * HTTP_SEGMENTS_MAX + 3] = "";

	for (unsigned i = 0; i < HTTP_SEGMENTS_MAX; i++)
		strcat(deep, "/a");
	CHECK(taken(deep));
	CHECK_STR(r.path, deep);
	strcat(deep, "/a");
	CHECK(!taken(deep));
	memset(target, 'a', HTTP_TARGET_MAX + 1);
	target[0] = '/';
	CHECK(!taken(target));
	target[HTTP_TARGET_MAX] = '\0';
	CHECK(taken(target));
	strcpy(target, "/?");
	for (unsigned i = 0; i < HTTP_QUERY_MAX; i++)
		strcat(target, "&");
	for (unsigned i = 0; i < HTTP_QUERY_MAX; i++)
		strcat(target, "a&");
	CHECK(taken(target));
	CHECK_INT(r.query_count, HTTP_QUERY_MAX);
	strcat(target, "a");
	CHECK(!taken(target));
}

static void test_query(void)
{
	CHECK(taken("/a?%24filter=partition+eq%20Common&ver=1&ver=2&x&=y&b=c=d&$top=5"));
	CHECK_INT(r.query_count, 7);
	CHECK_STR(http_query(&r, "$filter"), "partition eq Common");
	CHECK_STR(http_query(&r, "ver"), "1");
	CHECK_STR(http_query(&r, "x"), "");
	CHECK_STR(http_query(&r, ""), "y");
	CHECK_STR(http_query(&r, "b"), "c=d");
	CHECK_STR(http_query(&r, "$top"), "5");
	CHECK(!http_query(&r, "VER"));
	CHECK(taken("/a?$filter=partition eq /Common/x?&&"));
	CHECK_STR(http_query(&r, "$filter"), "partition eq /Common/x?");
	CHECK(taken("/a?"));
	CHECK_INT(r.query_count, 0);
}

static void test_headers(void)
{
	CHECK(taken("/"));
	r.headers[0] = (struct http_pair){"Content-Type", "a"};
	r.headers[1] = (struct http_pair){"content-type", "b"};
	r.header_count = 2;
	CHECK_STR(http_header(&r, "content-type"), "a");
	CHECK(!http_header(&r, "content"));
}

int main(void)
{
	test_paths();
	test_paths_refused();
	test_limits();
	test_query();
	test_headers();
	http_request_fini(&r);
	return 0;
}
