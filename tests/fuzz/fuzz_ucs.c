/* SPDX-License-Identifier: BSD-3-Clause */
/* Archives of the configuration: any bytes are refused with a reason, or hold what they say. */
#include <stdlib.h>
#include <string.h>

#include "files/ucs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char reason[FILES_REASON_MAX] = "";
	struct ucs u;

	if (ucs_read_memory(data, size, &u, reason) == 0) {
		if (!u.manifest || strlen(u.conf) != u.conf_length)
			abort();
	} else if (!*reason || u.conf || u.manifest) {
		abort();
	}
	ucs_fini(&u);
	json_decref(ucs_secrets((const char *)data, size));
	return 0;
}
