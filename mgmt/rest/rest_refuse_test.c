/* SPDX-License-Identifier: BSD-3-Clause */
/* What weir-cp refuses, in the words that clients look for. */
#include "rest/rest_fake.h"

#define ERROR(code, kind, object, field, reason)                                                   \
	"{\"error\":{\"code\":" #code ",\"kind\":\"" kind "\",\"object\":\"" object                \
	"\",\"field\":\"" field "\",\"reason\":\"" reason "\",\"text\":\"" kind " " object         \
	": " reason "\"}}"

static const struct {
	enum http_method method;
	const char *target, *body, *error;
	unsigned status;
	const char *message; /* or how it begins */
	const char *api_error;
} cases[] = {
	{HTTP_PATCH, "ltm/pool/wrong", "{\"a\":1}",
		ERROR(404, "ltm pool", "wrong", "", "does not exist"), 404,
		"01020036:3: The requested Pool (/Common/wrong) was not found.", "3"},
	{HTTP_GET, "ltm/virtual/~Common~v", NULL,
		ERROR(404, "ltm virtual", "/Common/v", "", "does not exist"), 404,
		"01020036:3: The requested Virtual Server (/Common/v) was not found.", "3"},
	{HTTP_DELETE, "ltm/pool/~Common~p/members/~Common~10.0.0.1:80", NULL,
		ERROR(404, "members", "/Common/10.0.0.1:80", "", "does not exist"), 404,
		"01020036:3: The requested Pool Member (/Common/p /Common/10.0.0.1 80) was not "
		"found.",
		"3"},
	{HTTP_DELETE, "ltm/pool/~Common~p/members/~Common~2001:db8::1.80", NULL,
		ERROR(404, "members", "/Common/2001:db8::1.80", "", "does not exist"), 404,
		"01020036:3: The requested Pool Member (/Common/p /Common/2001:db8::1 80) was not "
		"found.",
		"3"},
	{HTTP_GET, "ltm/pool/~Common~p/members/~Common~10.0.0.1:80", NULL,
		ERROR(404, "members", "/Common/10.0.0.1:80", "", "does not exist"), 404,
		"Object not found - /Common/10.0.0.1:80", "1"},
	{HTTP_POST, "ltm/pool/~Common~wrong/members", "{\"name\":\"10.0.0.1:80\"}",
		ERROR(404, "ltm pool", "/Common/wrong", "", "does not exist"), 404,
		"01020036:3: The requested pool (/Common/wrong) was not found.", "3"},
	{HTTP_POST, "ltm/virtual", "{\"name\":\"v\",\"pool\":\"x\"}",
		ERROR(404, "ltm virtual", "/Common/v", "pool", "ltm pool /Common/x does not exist"),
		404, "01020036:3: The requested Pool (/Common/x) was not found.", "3"},
	{HTTP_POST, "ltm/pool", "{\"name\":\"/Common/p\"}",
		ERROR(409, "ltm pool", "/Common/p", "", "exists already"), 409,
		"01020066:3: The requested Pool (/Common/p) already exists in partition Common.",
		"3"},
	{HTTP_POST, "ltm/pool", "{\"name\":\"p\",\"partition\":\"Other\"}",
		ERROR(409, "ltm pool", "/Other/p", "", "exists already"), 409,
		"01020066:3: The requested Pool (/Other/p) already exists in partition Other.",
		"3"},
	{HTTP_POST, "ltm/pool", "{\"name\":\"p\",\"partition\":\"X\"}",
		ERROR(501, "ltm pool", "p", "", "folder \\\"/X\\\" does not exist"), 400,
		"01070734:3: Configuration error: p cannot be in /X: the folder does not exist",
		"3"},
	{HTTP_PATCH, "ltm/node/n", "{\"state\":\"up\"}",
		ERROR(400, "ltm node", "/Common/n", "state", "\\\"up\\\" is none of its words"),
		400, "invalid property value \"state\":\"up\"", "26214401"},
	{HTTP_PATCH, "ltm/node/n", "{\"ratio\":0}",
		ERROR(400, "ltm node", "/Common/n", "ratio", "is not between 1 and 65535"), 400,
		"invalid property value \"ratio\":\"0\"", "26214401"},
	{HTTP_PATCH, "ltm/node/n", "{\"nonsense\":1}",
		ERROR(400, "ltm node", "/Common/n", "nonsense",
			"is no property of ltm node that is supported"),
		400, "\"nonsense\" unknown property", "26214401"},
	{HTTP_POST, "ltm/virtual", "{\"name\":\"a\"}",
		ERROR(409, "ltm virtual", "/Common/a", "destination",
			"/Common/b has the same destination, protocol, source and VLANs"),
		400,
		"01070333:3: Virtual Server /Common/a illegally shares destination address, source "
		"address, service port, ip-protocol, and vlan with Virtual Server /Common/b.",
		"3"},
	{HTTP_DELETE, "ltm/pool/p", NULL,
		ERROR(409, "ltm pool", "/Common/p", "", "is still used by ltm virtual /Common/v"),
		400,
		"01070265:3: The Pool (/Common/p) cannot be deleted because it is in use by a "
		"Virtual "
		"Server (/Common/v).",
		"3"},
	{HTTP_DELETE, "ltm/node/n", NULL,
		ERROR(409, "ltm node", "/Common/n", "",
			"is still used by ltm pool members /Common/p /Common/n:80"),
		400,
		"01070110:3: Node address '/Common/n' is referenced by a member of pool "
		"'/Common/p'.",
		"3"},
	{HTTP_DELETE, "ltm/snatpool/s", NULL,
		ERROR(409, "ltm snatpool", "/Common/s", "",
			"is still used by ltm virtual /Common/v"),
		400, "01070320:3: Snatpool /Common/s is still referenced by a virtual server.",
		"3"},
	{HTTP_PATCH, "ltm/node/n", "{\"monitor\":\"x\"}",
		ERROR(501, "ltm node", "/Common/n", "monitor", "not supported yet"), 400,
		"01070734:3: Configuration error: ltm node /Common/n: not supported yet", "3"},
	{HTTP_GET, "ltm/node", NULL, ERROR(401, "", "", "token", "no such token"), 401,
		"Authorization failed: X-F5-Auth-Token does not exist", ""},
	{HTTP_PATCH, "ltm/node/n", "{\"ratio\":1}", ERROR(403, "", "", "", "bob may not do this"),
		403, "Authorization failed: user=bob resource=/mgmt/tm/ltm/node/n verb=PATCH", ""},
	{HTTP_GET, "ltm/node", NULL, ERROR(429, "", "", "password", "too many wrong passwords"),
		429, " : too many wrong passwords", ""},
	{HTTP_GET, "ltm/node", NULL, ERROR(999, "", "", "", "nonsense"), 500, " : nonsense", ""},
};

static void test_cases(void)
{
	char target[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		fake_answer(cases[i].error);
		fake_answer("{\"rows\":[{}],\"result\":{}}"); /* its partition is there */
		snprintf(target, sizeof(target), "/mgmt/tm/%s", cases[i].target);
		CHECK_INT(fake_request(cases[i].method, target, cases[i].body), cases[i].status);
		CHECK(!strncmp(fake_said("message"), cases[i].message, strlen(cases[i].message)));
		CHECK_INT(atoi(fake_said("code")), cases[i].status);
		CHECK_STR(fake_said("apiError"), cases[i].api_error);
	}
}

static void test_missing_partition(void)
{
	fake_answer(ERROR(404, "ltm pool", "/X/p", "", "does not exist"));
	fake_answer(ERROR(404, "sys folder", "/X", "", "does not exist"));
	CHECK_INT(fake_request(HTTP_GET, "/mgmt/tm/ltm/pool/~X~p", NULL), 400);
	CHECK_STR(fake_said("message"), "The requested folder (/X) was not found.");
	CHECK_STR(fake_said("apiError"), "26214401");
	CHECK_STR(fake_asked(1, "name"), "\"/X\"");
}

/* Text of objects is no part of the answer's form. */
static void test_text_is_escaped(void)
{
	fake_answer(ERROR(400, "ltm node", "/Common/n", "description", "a\\\"},{\\u0001b"));
	CHECK_INT(fake_request(HTTP_PATCH, "/mgmt/tm/ltm/node/n", "{\"description\":\"x\"}"), 400);
	CHECK(strstr(fake_said("message"), "a\"},{\001b"));
	CHECK(!strchr(fake_http.reply.body, '\001'));
}

static void test_gone(void)
{
	fake_answer(NULL);
	CHECK_INT(fake_request(HTTP_GET, "/mgmt/tm/ltm/node", NULL), 503);
	CHECK(strstr(fake_http.reply.body, "Configuration Utility restarting..."));
}

int main(void)
{
	struct rest_settings settings = {0};

	fake_rest = rest_new(&settings);
	test_cases();
	test_missing_partition();
	test_text_is_escaped();
	test_gone();
	rest_free(fake_rest);
	return 0;
}
