/* SPDX-License-Identifier: BSD-3-Clause */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "monitor/mon_pattern.h"

#include <errno.h>
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MATCH_LIMIT 20000u /* steps from one place; a sane pattern over 5,120 bytes needs fewer */
#define HEAP_KIB 256u
#define WINDOW 256u		  /* places tried between two looks at the clock */
#define SEARCH_NS_MAX 20000000ull /* of our own CPU time for one search */

struct mon_pattern {
	pcre2_code *code;
	pcre2_match_data *match;
	pcre2_match_context *limits;
};

void mon_pattern_free(struct mon_pattern *p)
{
	if (!p)
		return;
	pcre2_match_context_free(p->limits);
	pcre2_match_data_free(p->match);
	pcre2_code_free(p->code);
	free(p);
}

struct mon_pattern *mon_pattern_new(const char *text, size_t length, char *why, size_t size)
{
	struct mon_pattern *p = calloc(1, sizeof(*p));
	PCRE2_SIZE at;
	int error;

	if (!p)
		return NULL;
	snprintf(why, size, "no memory");
	p->code = pcre2_compile((PCRE2_SPTR)text, length,
		PCRE2_NEVER_BACKSLASH_C | PCRE2_NEVER_UTF | PCRE2_USE_OFFSET_LIMIT, &error, &at,
		NULL);
	if (!p->code) {
		unsigned char said[128];

		pcre2_get_error_message(error, said, sizeof(said));
		snprintf(why, size, "no pattern: at byte %zu: %s", (size_t)at, said);
		mon_pattern_free(p);
		return NULL;
	}
	p->match = pcre2_match_data_create(1, NULL);
	p->limits = pcre2_match_context_create(NULL);
	if (!p->match || !p->limits) {
		mon_pattern_free(p);
		return NULL;
	}
	pcre2_set_match_limit(p->limits, MATCH_LIMIT);
	pcre2_set_depth_limit(p->limits, MATCH_LIMIT);
	pcre2_set_heap_limit(p->limits, HEAP_KIB);
	return p;
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

int mon_pattern_search(const struct mon_pattern *p, const char *bytes, size_t length)
{
	uint64_t start = 0;

	if (length > MON_SEARCH_MAX)
		length = MON_SEARCH_MAX;
	/* PCRE2 counts steps anew at each place it tries: a few windows of places, and the time in between. */
	for (size_t at = 0; at <= length; at += WINDOW) {
		if (at == WINDOW)
			start = cpu_ns();
		else if (at && cpu_ns() - start > SEARCH_NS_MAX)
			return -E2BIG;
		pcre2_set_offset_limit(p->limits, at + WINDOW - 1);
		int rc =
			pcre2_match(p->code, (PCRE2_SPTR)bytes, length, at, 0, p->match, p->limits);
		if (rc != PCRE2_ERROR_NOMATCH)
			return rc >= 0 ? 1 : -E2BIG;
	}
	return 0;
}
