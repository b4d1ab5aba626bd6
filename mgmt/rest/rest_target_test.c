/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "base/check.h"
#include "rest/rest_target.h"

static struct rest_target t;

static enum rest_what find(const char *path)
{
	const char *segments[16];
	char words[512], *save = NULL;
	unsigned count = 0;

	strcpy(words, path);
	for (char *word = strtok_r(words, "/", &save); word; word = strtok_r(NULL, "/", &save))
		segments[count++] = word;
	rest_target_find(segments, count, &t);
	return t.what;
}

static void test_items(void)
{
	static const struct {
		const char *path, *owner, *name;
		enum model_kind kind;
	} cases[] = {
		{"ltm/pool/~Common~web", "", "/Common/web", KIND_POOL},
		{"ltm/pool/web", "", "web", KIND_POOL},
		{"ltm/pool/~Common~app.app~web", "", "/Common/app.app/web", KIND_POOL},
		{"ltm/pool/~Common~web/members/~Common~10.0.0.1:80", "/Common/web",
			"/Common/10.0.0.1:80", KIND_POOL_MEMBER},
		{"ltm/pool/web/members/~Common~2001:db8::1.80", "web", "/Common/2001:db8::1.80",
			KIND_POOL_MEMBER},
		{"ltm/node/~Common~10.10.0.2%10", "", "/Common/10.10.0.2%10", KIND_NODE},
		{"ltm/monitor/tcp-half-open/tcp_half_open", "", "tcp_half_open",
			KIND_MONITOR_TCP_HALF_OPEN},
		{"ltm/profile/fastl4/~Common~fastL4", "", "/Common/fastL4", KIND_PROFILE_FASTL4},
		{"ltm/profile/fast-l4/fastL4", "", "fastL4", KIND_PROFILE_FASTL4},
		{"sys/db/setup.run", "", "setup.run", KIND_DB},
		{"net/interface/1.1", "", "1.1", KIND_INTERFACE},
		{"net/vlan/~Common~external/interfaces/1.2", "/Common/external", "1.2",
			KIND_VLAN_INTERFACE},
		{"auth/partition/Common", "", "Common", KIND_PARTITION},
		{"sys/folder/~Common", "", "/Common", KIND_FOLDER},
		{"sys/folder/Common", "", "/Common", KIND_FOLDER},
		{"sys/dns", "", "", KIND_DNS},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		CHECK_INT(find(cases[i].path), REST_ITEM);
		CHECK_INT(t.kind, cases[i].kind);
		CHECK_STR(t.owner, cases[i].owner);
		CHECK_STR(t.name, cases[i].name);
		CHECK(!t.stats && !t.example);
	}
}

static void test_collections(void)
{
	CHECK_INT(find("ltm/pool"), REST_COLLECTION);
	CHECK_INT(find("ltm/pool/example"), REST_COLLECTION);
	CHECK(t.example);
	CHECK_INT(find("ltm/pool/web/members"), REST_COLLECTION);
	CHECK_INT(t.kind, KIND_POOL_MEMBER);
	CHECK_STR(t.owner, "web");
	CHECK_INT(find("ltm/pool/web/members/example"), REST_COLLECTION);
	CHECK(t.example);
	CHECK_INT(find("ltm/virtual/v/profiles"), REST_COLLECTION);
	CHECK_INT(t.kind, KIND_VIRTUAL_PROFILE);
}

static void test_stats(void)
{
	CHECK_INT(find("ltm/pool/stats"), REST_COLLECTION);
	CHECK(t.stats);
	CHECK_INT(find("ltm/pool/web/stats"), REST_ITEM);
	CHECK(t.stats);
	CHECK_INT(find("ltm/pool/web/members/stats"), REST_COLLECTION);
	CHECK(t.stats && t.kind == KIND_POOL_MEMBER);
	CHECK_STR(t.owner, "web");
	CHECK_INT(find("ltm/pool/members/stats"), REST_COLLECTION);
	CHECK(t.stats && t.kind == KIND_POOL_MEMBER);
	CHECK_STR(t.owner, "");
	CHECK_INT(find("ltm/pool/web/members/~Common~10.0.0.1:80/stats"), REST_ITEM);
	CHECK(t.stats);
}

static void test_others(void)
{
	static const char *const nothing[] = {"ltm/nonsense", "nonsense", "ltm/poo",
		"ltm/pool/web/x", "ltm/pool/web/members/m/x", "ltm/pool/web/stats/x", "sys/dns/x",
		"ltm/pool/a/b/c/d"};
	char longest[REST_NAME_MAX + 32] = "ltm/pool/";

	for (size_t i = 0; i < sizeof(nothing) / sizeof(*nothing); i++)
		CHECK_INT(find(nothing[i]), REST_NOTHING);
	CHECK_INT(find(""), REST_ORGANISING);
	CHECK_INT(find("ltm"), REST_ORGANISING);
	CHECK_INT(find("ltm/monitor"), REST_ORGANISING);
	CHECK_INT(find("ltm/profile"), REST_ORGANISING);
	memset(longest + 9, 'a', REST_NAME_MAX);
	longest[9 + REST_NAME_MAX - 1] = '\0';
	const char *segments[] = {"ltm", "pool", longest + 9};
	rest_target_find(segments, 3, &t);
	CHECK_INT(t.what, REST_ITEM);
	longest[9 + REST_NAME_MAX - 1] = 'a';
	rest_target_find(segments, 3, &t);
	CHECK_INT(t.what, REST_NOTHING);
}

int main(void)
{
	test_items();
	test_collections();
	test_stats();
	test_others();
	return 0;
}
