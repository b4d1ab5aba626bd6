/* SPDX-License-Identifier: BSD-3-Clause */
#include "rest/rest_fake.h"

#define ROW                                                                                        \
	"{\"token\":\"ABCDEFGHIJKLMNOPQRSTUVWXYZ\",\"id\":\"0123456789abcdef\",\"user\":\"bob\","  \
	"\"address\":\"192.0.2.7\",\"created\":1000,\"updated\":2000,\"expires\":1202000,"         \
	"\"timeout\":1200}"
#define TOKEN "/mgmt/shared/authz/tokens/ABCDEFGHIJKLMNOPQRSTUVWXYZ"

static const char *token(const char *key)
{
	static char text[32];
	json_t *value = json_object_get(json_object_get(fake_reply, "token"), key);

	if (json_is_string(value))
		return json_string_value(value);
	snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(value));
	return text;
}

static void test_login(void)
{
	static const char path[] = "/mgmt/shared/authn/login";

	fake_answer("{\"result\":" ROW "}");
	CHECK_INT(
		fake_request(HTTP_POST, path,
			"{\"username\":\"bob\",\"password\":\"x\",\"loginProviderName\":\"tmos\"}"),
		200);
	CHECK_STR(fake_asked(0, "op"), "\"login\"");
	CHECK_STR(fake_asked(0, "provider"), "\"tmos\"");
	CHECK_STR(fake_asked(0, "as"),
		"{\"address\":\"192.0.2.7\",\"password\":\"x\",\"user\":\"bob\"}");
	CHECK_STR(fake_said("username"), "bob");
	CHECK_STR(fake_said("loginProviderName"), "tmos");
	CHECK_STR(token("token"), "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	CHECK_STR(token("userName"), "bob");
	CHECK_STR(token("timeout"), "1200");
	CHECK_STR(token("lastUpdateMicros"), "2000000");
	CHECK_STR(token("expirationMicros"), "1202000000");
	CHECK(!json_object_get(fake_reply, "refreshToken"));
	CHECK_INT(fake_request(HTTP_POST, path, "{\"username\":\"bob\",\"password\":\"x\"}"), 200);
	/* the header is bob's */
	CHECK_INT(fake_request(HTTP_POST, path, "{\"username\":\"eve\",\"password\":\"x\"}"), 401);
	CHECK_INT(fake.next, 0);
	CHECK_INT(fake_request(HTTP_POST, path, "{\"username\":\"bob\"}"), 400);
	CHECK_INT(fake_request(HTTP_POST, path, NULL), 400);
	CHECK_INT(fake_request(HTTP_GET, path, NULL), 405);
	fake_answer("{\"error\":{\"code\":401,\"field\":\"password\",\"reason\":\"wrong\"}}");
	CHECK_INT(fake_request(HTTP_POST, path, "{\"username\":\"bob\",\"password\":\"y\"}"), 401);
	CHECK_STR(fake_said("code"), "401");
}

static void test_tokens(void)
{
	fake_answer("{\"result\":" ROW "}");
	CHECK_INT(fake_request(HTTP_PATCH, TOKEN, "{\"timeout\":1200}"), 200);
	CHECK_STR(fake_asked(0, "timeout"), "1200");
	CHECK_STR(fake_said("timeout"), "1200");
	CHECK_STR(fake_said("token"), "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	CHECK_INT(fake_request(HTTP_PATCH, TOKEN, "{\"timeout\":\"900\"}"), 200);
	CHECK_STR(fake_asked(0, "timeout"), "900");
	fake_answer("{\"result\":{}}");
	CHECK_INT(fake_request(HTTP_DELETE, TOKEN, NULL), 200);
	CHECK_STR(fake_asked(0, "op"), "\"logout\"");
	CHECK_STR(fake_asked(0, "token"), "\"ABCDEFGHIJKLMNOPQRSTUVWXYZ\"");
	CHECK_INT(
		fake_request(HTTP_DELETE, "/mgmt/shared/authz/tokens/0123456789abcdef", NULL), 200);
	CHECK_STR(fake_asked(0, "token-id"), "\"0123456789abcdef\"");
	fake_answer("{\"error\":{\"code\":404,\"field\":\"token\",\"reason\":\"does not exist\"}}");
	CHECK_INT(fake_request(HTTP_GET, TOKEN, NULL), 404);
	/* a list never has the tokens themselves */
	fake_answer("{\"rows\":[" ROW "],\"result\":{}}");
	CHECK_INT(fake_request(HTTP_GET, "/mgmt/shared/authz/tokens", NULL), 200);
	CHECK(!strstr(fake_http.reply.body, "ABCDEF"));
	CHECK_INT(fake_request(HTTP_POST, "/mgmt/shared/authz/tokens", "{\"a\":1}"), 405);
}

static void test_users(void)
{
	fake_answer("{\"rows\":[{\"name\":\"bob\",\"shell\":\"none\"}],\"result\":{}}");
	CHECK_INT(fake_request(HTTP_GET, "/mgmt/shared/authz/users/bob", NULL), 200);
	CHECK_STR(fake_said("kind"), "shared:authz:users:usersworkerstate");
	CHECK_STR(fake_said("displayName"), "bob");
	fake_answer("{\"result\":{\"user\":\"bob\",\"identity\":\"bob\"}}");
	fake_answer("{\"result\":{}}");
	CHECK_INT(fake_request(HTTP_PATCH, "/mgmt/shared/authz/users/bob",
			  "{\"oldPassword\":\"a\",\"password\":\"b\"}"),
		200);
	CHECK_STR(fake_asked(1, "op"), "\"change-password\"");
	CHECK_STR(fake_asked(1, "old"), "\"a\"");
	fake_answer("{\"result\":{\"user\":\"bob\",\"identity\":\"bob\"}}");
	CHECK_INT(fake_request(HTTP_PATCH, "/mgmt/shared/authz/users/eve",
			  "{\"oldPassword\":\"a\",\"password\":\"b\"}"),
		403);
}

int main(void)
{
	struct rest_settings settings = {0};

	fake_rest = rest_new(&settings);
	test_login();
	test_tokens();
	test_users();
	rest_free(fake_rest);
	return 0;
}
