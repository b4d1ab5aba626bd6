/* SPDX-License-Identifier: BSD-3-Clause */
#include "notify/trap_form.h"

#include "base/check.h"
#include "notify/trap_engine.h"

static void servers(void)
{
	static const char *const rows[][3] = {{"/Common/a:80", "/Common/a", "80"},
		{"/Common/10.0.0.1:0", "/Common/10.0.0.1", "0"},
		{"/Common/fd00::1.443", "/Common/fd00::1", "443"}, {"/Common/a", "/Common/a", ""}};
	const char *port;
	char node[64];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		trap_server(rows[i][0], node, sizeof(node), &port);
		CHECK_STR(node, rows[i][1]);
		CHECK_STR(port, rows[i][2]);
	}
}

static void engines(void)
{
	uint8_t id[32];

	CHECK_INT(trap_engine_parse("0x80001f8805", id), 5);
	CHECK(id[0] == 0x80 && id[4] == 5);
	CHECK_INT(trap_engine_parse("0x80001f880", id), 0);
	CHECK_INT(trap_engine_parse("0x8000", id), 0);
	CHECK_INT(trap_engine_parse("80001f8805", id), 0);
	CHECK_INT(trap_engine_parse("0x80001f88zz", id), 0);
}

static void traps(void)
{
	json_t *member = json_pack("{s:s}", "id", "01070638"),
	       *commit = json_pack("{s:s}", "id", "01070417");

	CHECK(trap_has(member) && !trap_has(commit));
	json_decref(member);
	json_decref(commit);
}

int main(void)
{
	servers();
	engines();
	traps();
	return 0;
}
