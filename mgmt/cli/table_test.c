/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/check.h"
#include "cli/table.h"
#include "cli/utf8.h"

static void check_clean(const char *text, const char *expected, size_t width)
{
	char *clean = utf8_clean(text);

	CHECK_STR(clean, expected);
	CHECK_INT(utf8_width(clean), width);
	free(clean);
}

static void test_clean(void)
{
	check_clean("plain", "plain", 5);
	check_clean("gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f", 4);
	check_clean("\xe6\xb0\xb4", "\xe6\xb0\xb4", 2);
	check_clean("e\xcc\x81", "e\xcc\x81", 1);
	check_clean("\x1b[2J", "\\x1b[2J", 7);	  /* escape sequence */
	check_clean("\xc2\x9b", "\\xc2\\x9b", 8); /* C1 control */
	check_clean("\xff", "\\xff", 4);
	check_clean("\xc0\xaf", "\\xc0\\xaf", 8);		     /* overlong */
	check_clean("\xed\xa0\x80", "\\xed\\xa0\\x80", 12);	     /* surrogate */
	check_clean("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", 16); /* above U+10FFFF */
	check_clean("\xe6\xb0", "\\xe6\\xb0", 8);		     /* cut off */
}

static void test_alignment(void)
{
	struct table t;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	table_init(&t, 3, 2);
	table_add(&t, "Name", "Now", "Note");
	table_add(&t, "gr\xc3\xbcn", "5", "");
	table_add(&t, "a", "12345", NULL);
	table_print(&t, 1, out);
	fclose(out);
	CHECK_STR(text, " Name    Now  Note\n"
			" gr\xc3\xbcn      5\n"
			" a     12345\n");
	CHECK(!t.failed);
	table_fini(&t);
	free(text);
}

int main(void)
{
	test_clean();
	test_alignment();
	return 0;
}
