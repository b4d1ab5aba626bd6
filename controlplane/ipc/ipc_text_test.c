/* SPDX-License-Identifier: BSD-3-Clause */
#include "ipc/ipc.h"

#include <stdbool.h>

#include "base/check.h"

/* Every byte string but NUL goes through JSON and comes back the same. */
static void round_trip(const char *bytes, size_t length, bool plain)
{
	size_t back_length = 0;
	json_t *value = ipc_text_new(bytes, length);

	CHECK(value != NULL);
	CHECK_INT(json_is_string(value), plain);
	char *wire = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	json_t *read = json_loads(wire, JSON_DECODE_ANY, NULL);
	char *back = ipc_text_get(read, &back_length);
	CHECK(back != NULL);
	CHECK_INT(back_length, length);
	CHECK(memcmp(back, bytes, length + 1) == 0);
	free(back);
	free(wire);
	json_decref(read);
	json_decref(value);
}

static void refused(const char *wire)
{
	json_t *value = json_loads(wire, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

	CHECK(value != NULL);
	CHECK(ipc_text_get(value, NULL) == NULL);
	json_decref(value);
}

int main(void)
{
	char all[256];

	for (int i = 1; i < 256; i++)
		all[i - 1] = (char)i;
	all[255] = 0;
	round_trip("", 0, true);
	round_trip("web", 3, true);
	round_trip("\xc3\xa4", 2, true);
	round_trip("\xe4", 1, false);
	round_trip(all, 255, false);
	refused("1");
	refused("{}");
	refused("null");
	refused("\"a\\u0000b\"");
	refused("{\"bytes\": \"\\u0100\"}");
	refused("{\"bytes\": 1}");
	return 0;
}
