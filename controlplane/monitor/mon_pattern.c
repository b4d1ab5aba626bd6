/* SPDX-License-Identifier: BSD-3-Clause */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "monitor/mon_pattern.h"

#include <errno.h>
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>

#define MATCH_LIMIT 20000u /* steps; a sane pattern over 5,120 bytes needs fewer */
#define HEAP_KIB 256u

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
	p->code =
		pcre2_compile((PCRE2_SPTR)text, length, PCRE2_NEVER_BACKSLASH_C, &error, &at, NULL);
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

int mon_pattern_search(const struct mon_pattern *p, const char *bytes, size_t length)
{
	if (length > MON_SEARCH_MAX)
		length = MON_SEARCH_MAX;
	int rc = pcre2_match(p->code, (PCRE2_SPTR)bytes, length, 0, 0, p->match, p->limits);
	if (rc >= 0)
		return 1;
	return rc == PCRE2_ERROR_NOMATCH ? 0 : -E2BIG;
}
