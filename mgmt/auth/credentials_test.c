/* SPDX-License-Identifier: BSD-3-Clause */
#include "auth/credentials.h"

#include <stdbool.h>

#include "base/check.h"

static struct credentials c;

static bool taken(const char *authorization, const char *token)
{
	credentials_fini(&c);
	return credentials_parse(authorization, token, &c) == NULL;
}

static void test_basic(void)
{
	CHECK(taken("Basic YWRtaW46c2VjcmV0", NULL)); /* admin:secret */
	CHECK_STR(c.user, "admin");
	CHECK_STR(c.password, "secret");
	CHECK(!c.token);
	CHECK(taken("basic  YWRtaW46czplY3I=  ", NULL)); /* admin:s:ecr */
	CHECK_STR(c.password, "s:ecr");
	CHECK(taken("Basic YWRtaW46czplY3I", NULL)); /* without its padding */
	CHECK(taken("Basic w6Q6w78=", NULL));	     /* UTF-8 */
	CHECK_STR(c.user, "\xc3\xa4");
	CHECK_STR(c.password, "\xc3\xbf");
	CHECK(taken("Basic 5Dr/", NULL)); /* the same in ISO 8859-1 */
	CHECK_STR(c.user, "\xc3\xa4");
	CHECK_STR(c.password, "\xc3\xbf");
}

static void test_basic_refused(void)
{
	static const char *const headers[] = {"", " ", "Basic", "Basic ", "Basic Og==", /* : */
		"Basic YWRtaW46",							/* admin: */
		"Basic OnNlY3JldA==", /* :secret */
		"Basic YWRtaW4=",     /* admin */
		"Basic YQBiOmM=",     /* a NUL b:c */
		"Basic YTpiAGM=",     /* a:b NUL c */
		"Basic YQpiOmM=",     /* a newline b:c */
		"Basic YWRtaW46c2VjcmV0=", "Basic YWRtaW46c2VjcmV0 x", "Basic YWRtaW46c2V?cmV0",
		"Basic YWRtaW46c", "BasicYWRtaW46c2VjcmV0", "Bearer YWRtaW46c2VjcmV0",
		"Basic ====", "Basic YWRtaW46c2VjcmV0, Basic YWRtaW46c2VjcmV0"};

	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++) {
		CHECK(!taken(headers[i], NULL));
		CHECK(!taken(headers[i], "ABC"));
		CHECK(!c.user && !c.password && !c.token);
	}
}

static void test_long(void)
{
	char header[8192] = "Basic ";

	memset(header + 6, 'Y', sizeof(header) - 7);
	CHECK(!taken(header, NULL));
	CHECK(!taken(NULL, header + 6));
}

static void test_token(void)
{
	CHECK(taken(NULL, NULL));
	CHECK(!c.user && !c.token);
	CHECK(taken(NULL, "ABCDEF0123"));
	CHECK_STR(c.token, "ABCDEF0123");
	CHECK(taken("Basic YWRtaW46c2VjcmV0", "ABC"));
	CHECK(c.user && c.token);
	CHECK(!taken(NULL, ""));
	CHECK(!taken(NULL, "a b"));
	CHECK(!taken(NULL, "a\x01"));
	CHECK(!taken("Basic YWRtaW46c2VjcmV0", ""));
	CHECK(!c.user);
}

static void test_as(void)
{
	CHECK(taken("Basic w6Q6w78=", "T"));
	json_t *as = credentials_as(&c, "192.0.2.1");
	CHECK_STR(json_string_value(json_object_get(as, "user")), "\xc3\xa4");
	CHECK_STR(json_string_value(json_object_get(as, "password")), "\xc3\xbf");
	CHECK_STR(json_string_value(json_object_get(as, "token")), "T");
	CHECK_STR(json_string_value(json_object_get(as, "address")), "192.0.2.1");
	json_decref(as);
	CHECK(taken(NULL, "T"));
	as = credentials_as(&c, "::1");
	CHECK_INT(json_object_size(as), 2);
	json_decref(as);
}

int main(void)
{
	test_basic();
	test_basic_refused();
	test_long();
	test_token();
	test_as();
	credentials_fini(&c);
	return 0;
}
