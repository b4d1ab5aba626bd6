/* SPDX-License-Identifier: BSD-3-Clause */
#include "health/health_rule.h"

#include "base/check.h"

/* One letter for each monitor: c checking, u up, d down, x disabled; behind a "!" one that waits for a person. */
static struct health_count counted(const char *says)
{
	static const char letters[] = "cudx";
	struct health_count count = {0};
	bool resume = false;

	for (; *says; says++) {
		unsigned said = 0;
		if (*says == '!') {
			resume = true;
			continue;
		}
		while (letters[said] != *says)
			said++;
		count.said[said]++;
		count.resume[said] += resume;
		resume = false;
	}
	return count;
}

static const struct row {
	const char *says;
	unsigned need;
	bool usable;
	enum verdict verdict;
} table[] = {
	{"", 0, true, VERDICT_UNCHECKED},
	/* All of them. */
	{"c", 0, false, VERDICT_CHECKING},
	{"c", 0, true, VERDICT_RECHECKING},
	{"u", 0, false, VERDICT_UP},
	{"d", 0, true, VERDICT_DOWN},
	{"x", 0, true, VERDICT_DRAIN},
	{"uu", 0, false, VERDICT_UP},
	{"uc", 0, false, VERDICT_CHECKING},
	{"uc", 0, true, VERDICT_RECHECKING},
	{"ud", 0, true, VERDICT_DOWN},
	{"cd", 0, true, VERDICT_DOWN},
	{"ux", 0, true, VERDICT_DRAIN},
	{"xx", 0, true, VERDICT_DRAIN},
	{"xd", 0, true, VERDICT_DOWN},
	{"xc", 0, false, VERDICT_CHECKING},
	{"xc", 0, true, VERDICT_DRAIN},
	/* At least so many. */
	{"ud", 1, false, VERDICT_UP},
	{"uc", 1, false, VERDICT_UP},
	{"dc", 1, false, VERDICT_CHECKING},
	{"dc", 1, true, VERDICT_RECHECKING},
	{"dd", 1, true, VERDICT_DOWN},
	{"udd", 2, true, VERDICT_DOWN},
	{"uud", 2, true, VERDICT_UP},
	{"ucd", 2, true, VERDICT_RECHECKING},
	{"uxd", 2, true, VERDICT_DRAIN},
	{"uux", 2, true, VERDICT_UP},
	{"xd", 1, true, VERDICT_DRAIN},
	{"xc", 1, true, VERDICT_DRAIN},
	{"xcd", 2, true, VERDICT_DRAIN},
	{"u", 3, true, VERDICT_UP},
	/* Manual resume. */
	{"!u", 0, false, VERDICT_RESUME},
	{"!d", 0, false, VERDICT_DOWN},
	{"!x", 0, false, VERDICT_RESUME},
	{"!uu", 0, false, VERDICT_RESUME},
	{"!ud", 0, false, VERDICT_DOWN},
	{"!uc", 0, false, VERDICT_RESUME},
	{"!uu", 1, false, VERDICT_UP},
	{"!ud", 1, true, VERDICT_RESUME},
	{"!dd", 1, true, VERDICT_DOWN},
	{"!dc", 1, true, VERDICT_RECHECKING},
};

int main(void)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		const struct row *r = &table[i];
		struct health_count count = counted(r->says);
		enum verdict verdict = health_rule(&count, r->need, r->usable);

		if (verdict != r->verdict)
			fprintf(stderr, "\"%s\", %u of them, %s: ", r->says, r->need,
				r->usable ? "usable" : "not usable");
		CHECK_INT(verdict, r->verdict);
	}
	return 0;
}
