/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A request of weir-mgmt to weir-cp: any bytes that are JSON, and of what stands in its "as" any is taken or refused
 * with a reason. What is taken names somebody, within bounds, and is the same when it is written and read again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "auth/auth_as.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void expect(int truth)
{
	if (!truth)
		abort();
}

static void text_check(const char *text, size_t max)
{
	expect(!text || (*text && strlen(text) <= max));
}

static int same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static void again_check(const json_t *as, const struct auth_as *taken)
{
	char *text = json_dumps(as, JSON_COMPACT);
	json_t *read = text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
	struct auth_as_fault fault;
	struct auth_as again;

	expect(read && auth_as_parse(read, &again, &fault));
	expect(same(again.user, taken->user) && same(again.password, taken->password) &&
		same(again.token, taken->token) && same(again.address, taken->address));
	json_decref(read);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	json_t *request = json_loadb((const char *)data, len, JSON_REJECT_DUPLICATES, NULL);
	const json_t *as = json_object_get(request, "as");
	struct auth_as_fault fault = {0};
	struct auth_as taken;

	if (auth_as_parse(as, &taken, &fault)) {
		text_check(taken.user, 63);
		text_check(taken.password, 255);
		text_check(taken.token, 63);
		text_check(taken.address, 63);
		expect(taken.token || (taken.user && taken.password));
		again_check(as, &taken);
	} else {
		expect((fault.code == 400 || fault.code == 401) && *fault.field && *fault.reason);
	}
	json_decref(request);
	return 0;
}
