/* SPDX-License-Identifier: BSD-3-Clause */
/* Words that choose records, and a record as a line; the clock is the test's. */
#include "cli/log_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(ok)                                                                                  \
	do {                                                                                       \
		if (!(ok)) {                                                                       \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #ok);                   \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

#define NOW 1796000000 /* s since 1970 */

/* What the word makes of the value: the member of the request; NULL: refused. To be released. */
static json_t *put(const char *word, const char *value)
{
	const struct log_word *w = log_word_find(word);
	json_t *request = json_object(), *made;
	char reason[300] = "";

	CHECK(w);
	if (!log_word_put(w, value, NOW, request, reason, sizeof(reason)))
		CHECK(strstr(reason, word));
	made = json_incref(json_object_get(request, w->member));
	json_decref(request);
	return made;
}

static json_int_t number(const char *word, const char *value)
{
	json_t *made = put(word, value);
	json_int_t n = made ? json_integer_value(made) : -1;

	json_decref(made);
	return n;
}

static bool text_is(const char *word, const char *value, const char *expected)
{
	json_t *made = put(word, value);
	bool same = made && !strcmp(json_string_value(made), expected);

	json_decref(made);
	return same;
}

static void test_times(void)
{
	CHECK(number("since", "90s") == (NOW - 90) * 1000000ll);
	CHECK(number("since", "10m") == (NOW - 600) * 1000000ll);
	CHECK(number("since", "2h") == (NOW - 7200) * 1000000ll);
	CHECK(number("until", "3d") == (NOW - 259200) * 1000000ll);
	CHECK(number("until", "1700000000") == 1700000000000000ll);
	CHECK(number("since", "2026-11-30T06:15:00") == 1796019300000000ll);
	CHECK(number("since", "2026-11-30 06:15") == 1796019300000000ll);
	CHECK(number("since", "2026-11-30") == 1795996800000000ll);
	CHECK(number("since", "10") == 10000000);
	CHECK(number("since", "2026-13-30") == -1);
	CHECK(number("since", "10m ago") == -1);
	CHECK(number("since", "h") == -1);
	CHECK(number("since", "") == -1);
	CHECK(number("since", "99999999999999999999") == -1);
}

static void test_names(void)
{
	CHECK(text_is("object", "web", "/Common/web"));
	CHECK(text_is("object", "/Common/web", "/Common/web"));
	CHECK(text_is("object", "10.0.2.11:80", "/Common/10.0.2.11:80"));
	CHECK(text_is("object", "1.1", "1.1"));
	CHECK(text_is("actor", "web", "web"));
	CHECK(number("lines", "20") == 20);
	CHECK(number("lines", "-1") == -1);
	CHECK(number("lines", "") == -1);
	CHECK(!log_word_find("limit") && !log_word_find(""));
}

static void test_line(void)
{
	json_t *record = json_pack("{s:I, s:I, s:s, s:s, s:s}", "seq", (json_int_t)4711, "time",
		(json_int_t)1796019300123456ll, "id", "01070638", "level", "notice", "text",
		"Pool /Common/web");
	char *line = log_line(record, "lb");

	CHECK(!strcmp(
		line, "Nov 30 06:15:00 lb notice weir-cp[4711]: 01070638:5: Pool /Common/web"));
	free(line);
	json_object_set_new(record, "level", json_string("err"));
	line = log_line(record, "lb");
	CHECK(strstr(line, " err weir-cp[4711]: 01070638:3: "));
	free(line);
	json_decref(record);
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	tzset();
	test_times();
	test_names();
	test_line();
	return 0;
}
