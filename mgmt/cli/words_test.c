/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "base/check.h"
#include "cli/words.h"

static struct words parsed;
static struct words_error error;

static int parse(const char *text)
{
	words_fini(&parsed);
	return words_parse(text, strlen(text), &parsed, &error);
}

static void test_words(void)
{
	CHECK_INT(parse(" list\tltm  pool "), 0);
	CHECK_INT(parsed.count, 3);
	CHECK_STR(parsed.first->text, "list");
	CHECK_INT(parsed.first->position, 1);
	CHECK_STR(parsed.first->next->next->text, "pool");
	CHECK(!parsed.first->next->next->next);
	CHECK_INT(parse(""), 0);
	CHECK(!parsed.first);
	CHECK_INT(parse("  # only a comment"), 0);
	CHECK(!parsed.first);
	CHECK_INT(parse("a #b\n# c\n d \\\n e"), 0);
	CHECK_INT(parsed.count, 4);
	CHECK_STR(parsed.first->next->text, "#b");
}

static void test_blocks(void)
{
	CHECK_INT(parse("members add {10.0.0.1:80 { ratio 3 } 10.0.0.2:80}"), 0);
	const struct word *add = parsed.first->next;
	CHECK(add->has_block && !parsed.first->has_block);
	CHECK_STR(add->child->text, "10.0.0.1:80");
	CHECK_STR(add->child->child->text, "ratio");
	CHECK_STR(add->child->child->next->text, "3");
	CHECK_STR(add->child->next->text, "10.0.0.2:80");
	CHECK(!add->child->next->has_block);
	CHECK_INT(parse("a { } b"), 0);
	CHECK(parsed.first->has_block && !parsed.first->child);
	CHECK_STR(parsed.first->next->text, "b");
}

static void test_quotes(void)
{
	CHECK_INT(parse("d \"a {b}\\n\\\"\\\\\\x7f\" \"\" x\\ y \"all\""), 0);
	const struct word *w = parsed.first->next;
	CHECK_STR(w->text, "a {b}\n\"\\\x7f");
	CHECK(w->quoted);
	CHECK_STR(w->next->text, "");
	CHECK_STR(w->next->next->text, "x y");
	CHECK(!word_is(w->next->next->next, "all"));
	CHECK(word_is(parsed.first, "d"));
	CHECK(!word_is(NULL, "d"));
}

static void check_refused(const char *text, unsigned position, bool incomplete, const char *reason)
{
	CHECK_INT(parse(text), -EINVAL);
	CHECK_STR(error.reason, reason);
	CHECK_INT(error.position, position);
	CHECK_INT(error.incomplete, incomplete);
	CHECK(!parsed.first && !parsed.storage);
}

static void test_refusals(void)
{
	check_refused("a { b", 2, true, "the closing \"}\" is missing");
	check_refused("a \"b", 2, true, "the closing quote is missing");
	check_refused("a \"b\\", 2, true, "the closing quote is missing");
	check_refused("a \\", 2, true, "nothing follows the backslash");
	check_refused("a }", 2, false, "\"}\" closes nothing");
	check_refused("{ a }", 0, false, "a word is missing before \"{\"");
	check_refused("a { } { }", 6, false, "a second block follows \"a\"");
	check_refused(
		"\"\\q\"", 1, false, "unknown escape \\q; known are \\\" \\\\ \\n \\r \\t \\xHH");
	check_refused("\"\\x0", 1, false, "\\x needs two hexadecimal digits");
	check_refused("\"\\x00\"", 1, false, "a NUL byte (\\x00) is never part of a value");
	CHECK_INT(words_parse("a\0b", 3, &parsed, &error), -EINVAL);
	CHECK_INT(error.position, 1);
}

static void test_depth(void)
{
	char text[4 * (WORDS_DEPTH_MAX + 1) + 1] = "";

	for (unsigned i = 0; i < WORDS_DEPTH_MAX; i++)
		strcat(text, "a{");
	for (unsigned i = 0; i < WORDS_DEPTH_MAX; i++)
		strcat(text, "}");
	CHECK_INT(parse(text), 0);
	memset(text, 0, sizeof(text));
	for (unsigned i = 0; i <= WORDS_DEPTH_MAX; i++)
		strcat(text, "a{");
	check_refused(text, 2 * WORDS_DEPTH_MAX + 1, false, "blocks are nested deeper than 32");
}

static void check_scan(const char *lines, bool complete)
{
	struct words_scan scan = {0};

	while (*lines) {
		size_t n = strcspn(lines, "\n");

		n += lines[n] == '\n';
		words_scan_line(&scan, lines, n);
		lines += n;
	}
	CHECK_INT(words_scan_complete(&scan), complete);
}

static void test_scan(void)
{
	check_scan("list\n", true);
	check_scan("", true);
	check_scan("a {\n", false);
	check_scan("a {\n # }\n", false);
	check_scan("a {\n b\n}\n", true);
	check_scan("a \"{\n", false);
	check_scan("a \"{\n # \\\"\" }\n", true);
	check_scan("a \\\n", false);
	check_scan("a \\\n b", true);
	check_scan("a \\{\n", true);
	check_scan("a }\n", true);
	CHECK_INT(parse("a\\\nb"), 0);
	CHECK_INT(parsed.count, 2);
}

/* Every byte but NUL, alone and in every pair, comes back from its quoted form. */
static void test_quote_round_trip(void)
{
	for (unsigned a = 1; a < 256; a++) {
		for (unsigned b = 0; b < 256; b++) {
			char bytes[3] = {(char)a, (char)b}, quoted[16];
			size_t n = word_quote(bytes, b ? 2 : 1, false, quoted, sizeof(quoted));

			CHECK_INT(n, strlen(quoted));
			CHECK_INT(parse(quoted), 0);
			CHECK_INT(parsed.count, 1);
			CHECK_STR(parsed.first->text, bytes);
		}
	}
}

static void test_quote_forms(void)
{
	char out[32];

	word_quote("10.0.0.1:80", 11, false, out, sizeof(out));
	CHECK_STR(out, "10.0.0.1:80");
	word_quote("", 0, false, out, sizeof(out));
	CHECK_STR(out, "\"\"");
	word_quote("gr\xc3\xbc\xc3\x9f", 6, false, out, sizeof(out));
	CHECK_STR(out, "\"gr\xc3\xbc\xc3\x9f\"");
	word_quote("\xff\xc2\x9b", 3, false, out, sizeof(out));
	CHECK_STR(out, "\"\\xff\\xc2\\x9b\"");
	CHECK_INT(word_quote("a b", 3, false, out, 3), 5);
	CHECK_STR(out, "\"a");
}

int main(void)
{
	test_words();
	test_blocks();
	test_quotes();
	test_refusals();
	test_depth();
	test_scan();
	test_quote_round_trip();
	test_quote_forms();
	words_fini(&parsed);
	return 0;
}
