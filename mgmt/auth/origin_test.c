/* SPDX-License-Identifier: BSD-3-Clause */
#include "auth/origin.h"
#include "base/check.h"

int main(void)
{
	static const char *const foreign[] = {"https://evil.example", "http://weir.example:8443",
		"https://weir.example", "https://weir.example:84430",
		"https://weir.example:8443.evil", "null", "", "https://", "https:///"};

	CHECK(origin_is_ours(NULL, NULL, NULL));
	CHECK(origin_is_ours(NULL, "same-origin", "weir.example"));
	CHECK(origin_is_ours(NULL, "none", "weir.example"));
	CHECK(!origin_is_ours(NULL, "cross-site", "weir.example"));
	CHECK(!origin_is_ours(NULL, "same-site", "weir.example"));
	CHECK(!origin_is_ours(NULL, "", "weir.example"));
	CHECK(origin_is_ours("https://weir.example:8443", NULL, "weir.example:8443"));
	CHECK(origin_is_ours("HTTPS://Weir.Example", "same-origin", "weir.example:443"));
	CHECK(!origin_is_ours("https://weir.example", "cross-site", "weir.example"));
	CHECK(!origin_is_ours("https://weir.example", NULL, NULL));
	CHECK(!origin_is_ours("https://", NULL, ""));
	for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++)
		CHECK(!origin_is_ours(foreign[i], NULL, "weir.example:8443"));
	return 0;
}
