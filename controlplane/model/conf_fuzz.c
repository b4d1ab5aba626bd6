/* SPDX-License-Identifier: BSD-3-Clause */
/* What every text must do: be refused with a reason, or come back the same after print and parse. */
#include <stdio.h>

#include "model/model_internal.h"

static const struct model_actor operator = {.class = HOLD_OPERATOR, .role = ROLE_ADMIN};

/* The text that a model with this configuration prints; 0, or the error. */
static int load_and_print(const char *text, size_t len, unsigned flags, struct text *out)
{
	struct model *m = model_new();
	struct model_error err = {0};
	int rc = m ? model_begin(m, &operator) : -ENOMEM;

	if (!rc)
		rc = model_load(m, text, len, "fuzz", flags, &err);
	if (!rc)
		rc = model_commit(m, NULL, &err);
	if (!rc)
		model_print(m, flags & LOAD_STORE ? PRINT_STORE : 0, out);
	if (m && rc) {
		/* a refusal says why, and leaves the built-in objects alone */
		struct text after = {0};
		model_abort(m);
		model_print(m, 0, &after);
		if (rc != -ENOMEM && (!err.reason[0] || after.len))
			abort();
		text_fini(&after);
	}
	model_free(m);
	return rc;
}

static void fuzz_one(const char *text, size_t len, unsigned flags)
{
	struct text first = {0}, second = {0};

	if (load_and_print(text, len, flags, &first) == 0) {
		int rc = load_and_print(first.data ? first.data : "", first.len, flags, &second);
		if (rc || first.len != second.len ||
		    (first.len && memcmp(first.data, second.data, first.len))) {
			fprintf(stderr, "first:\n%s\nsecond (%d):\n%s\n", first.data ? first.data : "", rc,
				second.data ? second.data : "");
			abort();
		}
	}
	text_fini(&first);
	text_fini(&second);
}

void model_fuzz_conf(const char *text, size_t len)
{
	fuzz_one(text, len, 0);
	fuzz_one(text, len, LOAD_STORE);
}
