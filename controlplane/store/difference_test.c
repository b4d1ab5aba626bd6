/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/difference.h"
#include "base/check.h"

static void expect(const char *before, const char *after, unsigned max, const char *want)
{
	struct text out = {0};

	difference_lines(before, after, max, &out);
	CHECK_STR(out.data ? out.data : "", want);
	text_fini(&out);
}

static void test_large(void)
{
	enum { LINES = 3000, SIZE = LINES * 8 };
	char *a = calloc(1, SIZE), *b = calloc(1, SIZE);
	struct text out = {0};

	for (int i = 0; i < LINES; i++) {
		sprintf(a + strlen(a), "%d\n", i);
		sprintf(b + strlen(b), "%d\n", LINES - i);
	}
	difference_lines(a, b, 10, &out);
	CHECK(strstr(out.data, "lines more\n"));
	text_fini(&out);
	free(a);
	free(b);
}

int main(void)
{
	expect("", "", 9, "");
	expect("a\nb\n", "a\nb\n", 9, "");
	expect("a\nb\nc\n", "a\nx\nc\n", 9, "@@ line 2\n-b\n+x\n");
	expect("a\n", "a\nb\n", 9, "@@ line 2\n+b\n");
	expect("a\nb\n", "b\n", 9, "@@ line 1\n-a\n");
	expect("a\nb\nc\nd\ne\n", "a\nB\nc\nd\nE\n", 9, "@@ line 2\n-b\n+B\n@@ line 5\n-e\n+E\n");
	expect("a\nb", "a\nb\nc", 9, "@@ line 3\n+c\n");
	expect("", "a\nb\nc\n", 2, "@@ line 1\n+a\n+b\nand 1 lines more\n");
	test_large();
	return 0;
}
