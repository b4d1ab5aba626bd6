/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/mon_pattern.h"

#include <errno.h>

#include "base/check.h"
#include "monitor/mon_mean.h"
#include "monitor/mon_text.h"

static struct mon_pattern *pattern(const char *text)
{
	char why[200];
	struct mon_pattern *p = mon_pattern_new(text, strlen(text), why, sizeof(why));

	CHECK(p != NULL);
	return p;
}

static void search(void)
{
	struct mon_pattern *p = pattern("^HTTP/1\\.[01] 2\\d\\d");
	char why[200];

	CHECK_INT(mon_pattern_search(p, "HTTP/1.1 204 x", 14), 1);
	CHECK_INT(mon_pattern_search(p, "HTTP/1.1 503 x", 14), 0);
	CHECK_INT(mon_pattern_search(p, "", 0), 0);
	mon_pattern_free(p);
	CHECK(!mon_pattern_new("a(b", 3, why, sizeof(why)));
	CHECK(strstr(why, "byte 3"));
}

/* LTM: only the first 5,120 bytes of an answer are searched. */
static void only_the_first_bytes(void)
{
	struct mon_pattern *p = pattern("UP");
	char bytes[MON_SEARCH_MAX + 8];

	memset(bytes, '.', sizeof(bytes));
	memcpy(bytes + MON_SEARCH_MAX - 2, "UP", 2);
	CHECK_INT(mon_pattern_search(p, bytes, sizeof(bytes)), 1);
	memset(bytes, '.', sizeof(bytes));
	memcpy(bytes + MON_SEARCH_MAX - 1, "UP", 2);
	CHECK_INT(mon_pattern_search(p, bytes, sizeof(bytes)), 0);
	mon_pattern_free(p);
}

static void expensive_patterns_end(void)
{
	struct mon_pattern *p = pattern("^(a+)+$");
	char bytes[64];

	memset(bytes, 'a', sizeof(bytes));
	bytes[63] = '!';
	CHECK_INT(mon_pattern_search(p, bytes, sizeof(bytes)), -E2BIG);
	mon_pattern_free(p);
}

/* No place takes many steps, all of them together a third of a second. */
static void slow_patterns_end(void)
{
	struct mon_pattern *p = pattern("a.*b.*xq");
	char bytes[MON_SEARCH_MAX];

	memset(bytes, 'a', sizeof(bytes));
	memcpy(bytes + 5000, "xqb", 3);
	CHECK_INT(mon_pattern_search(p, bytes, sizeof(bytes)), -E2BIG);
	memcpy(bytes + 5000, "bxq", 3);
	CHECK_INT(mon_pattern_search(p, bytes, sizeof(bytes)), 1);
	mon_pattern_free(p);
	/* Found in the last place, too, and only there where it may be. */
	p = pattern("q$");
	bytes[MON_SEARCH_MAX - 1] = 'q';
	CHECK_INT(mon_pattern_search(p, bytes, sizeof(bytes)), 1);
	CHECK_INT(mon_pattern_search(p, bytes, sizeof(bytes) - 1), 0);
	mon_pattern_free(p);
	p = pattern("^b");
	CHECK_INT(mon_pattern_search(p, bytes, sizeof(bytes)), 0);
	mon_pattern_free(p);
}

static void escapes(void)
{
	char text[] = "GET /\\r\\n\\x00\\\\\\q\\x1";
	size_t n = mon_unescape(text);

	CHECK_INT(n, 14);
	CHECK(!memcmp(text, "GET /\r\n\0\\\\q\\x1", 14));
}

static void clean(void)
{
	char out[16];

	CHECK_STR(mon_clean(out, sizeof(out), "\x1b[31m bad\r\n\xff", 11), "[31m bad");
	CHECK_STR(mon_clean(out, sizeof(out), "0123456789abcdefghi", 19), "0123456789abcd");
	CHECK_STR(mon_clean(out, sizeof(out), "", 0), "");
}

static void adaptive(void)
{
	struct mon_adaptive a = {.enabled = 1, .relative = 1, .value = 50, .timespan = 60};
	struct mon_mean m = {0};
	unsigned long long now = 1000;

	for (int i = 0; i < 8; i++)
		CHECK(!mon_mean_judge(&m, &a, i ? 100 : 400, now += 5000));
	CHECK((int)m.ms == 137);
	CHECK(!mon_mean_judge(&m, &a, 200, now += 5000));
	CHECK(mon_mean_judge(&m, &a, 300, now += 5000) != NULL);
	/* What lasts becomes the mean. */
	for (int i = 0; i < 60; i++)
		mon_mean_judge(&m, &a, 300, now += 5000);
	CHECK(!mon_mean_judge(&m, &a, 300, now += 5000));
	a.limit_ms = 250;
	CHECK(mon_mean_judge(&m, &a, 300, now += 5000) != NULL);
	/* Noise of a fast server is no divergence. */
	m = (struct mon_mean){.ms = 0.1, .count = MON_MEAN_SAMPLES, .last = now};
	CHECK(!mon_mean_judge(&m, &a, 2, now));
}

int main(void)
{
	search();
	only_the_first_bytes();
	expensive_patterns_end();
	slow_patterns_end();
	escapes();
	clean();
	adaptive();
	return 0;
}
