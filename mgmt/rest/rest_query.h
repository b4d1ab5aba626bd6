/* SPDX-License-Identifier: BSD-3-Clause */
/* $select, $filter, $top, $skip, expandSubcollections of a request. */
#ifndef WEIR_REST_REST_QUERY_H
#define WEIR_REST_REST_QUERY_H

#include "http/http.h"

#define REST_FILTERS_MAX 8u
#define REST_SELECT_MAX 64u
#define REST_WORDS_MAX 2048u

struct rest_filter {
	const char *field, *value;
};

struct rest_query {
	bool expand;
	bool paged;				     /* $top was given */
	json_int_t top, skip;			     /* skip 0 if not given */
	struct rest_filter filter[REST_FILTERS_MAX]; /* all must be true */
	unsigned filters;
	const char *select[REST_SELECT_MAX];
	unsigned selects;
	char filter_words[REST_WORDS_MAX], select_words[REST_WORDS_MAX]; /* hold the above */
};

/* NULL, or what is wrong with it. */
const char *rest_query_parse(const struct http_request *r, struct rest_query *q);

/* The partition that the filter names, if it names nothing else; or NULL. */
const char *rest_query_partition(const struct rest_query *q);

/* Whether an object passes the filter. */
bool rest_query_match(const struct rest_query *q, const json_t *object);

/* Leaves of an object what was selected. */
void rest_query_select(const struct rest_query *q, json_t *object);

#endif
