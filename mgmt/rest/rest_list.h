/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of a collection, written row by row: a long one into a file without a name, so that memory is bounded. */
#ifndef WEIR_REST_REST_LIST_H
#define WEIR_REST_REST_LIST_H

#include <stdio.h>

#include "rest/rest_call.h"

struct rest_list {
	struct rest_call *call;
	struct text text;      /* what is not in the file yet */
	FILE *file;	       /* of a long list; NULL: none yet */
	size_t filed;	       /* bytes in it */
	json_int_t skip, left; /* of rows that still come; left < 0: no limit */
	json_int_t matched;    /* rows that passed the filter */
	json_int_t written;
	bool own_page; /* filter and page are ours to do, not weir-cp's */
	bool nested;   /* entries of statistics instead of items */
	bool too_large, closed;
};

/* Begins "{kind, selfLink"; both references are taken. */
void rest_list_begin(struct rest_list *l, struct rest_call *call, json_t *kind, json_t *self_link);

/* The same for statistics, whose entries the caller writes. */
void rest_list_begin_stats(
	struct rest_list *l, struct rest_call *call, json_t *kind, json_t *self_link);

/* Asks weir-cp for the client's page alone, unless the filter is one that weir-cp does not know. */
void rest_page_set(const struct rest_call *call, json_t *request);

/* The rows are all there are: the page is ours to choose. */
void rest_list_page(struct rest_list *l);

/* Whether the row passes the filter and is on the page; it counts then. */
bool rest_list_wants(struct rest_list *l, const json_t *row);

/* Whether there is room for more. */
bool rest_list_goes_on(struct rest_list *l);

/* A rest_row: shapes, filters, selects and writes. */
bool rest_list_row(void *list, json_t *row);

/* Adds a member behind the last row (the reference is taken). */
void rest_list_member(struct rest_list *l, const char *key, json_t *value);

/* Adds what pages have, and answers. total: of all pages. */
void rest_list_end(struct rest_list *l, json_int_t total);

/* Instead of the end, after an error that rest_refuse is to answer with. */
void rest_list_drop(struct rest_list *l);

#endif
