/* SPDX-License-Identifier: BSD-3-Clause */
/* Going through the journal in slices: which records are wanted, and whether all are as they were written. */
#ifndef WEIR_EVENT_JOURNAL_SCAN_H
#define WEIR_EVENT_JOURNAL_SCAN_H

#include <jansson.h>

#include "event/journal_store.h"

/* What a record must be; NULL, 0, -1 of level: anything. */
struct journal_filter {
	uint64_t after, before; /* numbers, exclusive; before 0: no end */
	uint64_t from, until;	/* us since 1970; until 0: no end */
	uint64_t incident;
	const char *object; /* also the owner */
	const char *actor, *address, *type, *module, *id;
	int level; /* this or worse */
	bool audit;
};

/* Whether a line is a record that the filter wants: it, to be released; else NULL. *seq: its number, 0: none. */
json_t *journal_filter_take(
	const struct journal_filter *f, const char *line, size_t length, uint64_t *seq);

/* --- is it whole --------------------------------------------------------------------------------- */

struct journal_verify {
	struct journal_place at;
	uint64_t first, newest; /* of the records that are looked at */
	uint64_t next;		/* number that is expected */
	uint64_t records;
	char hash[EVENT_HASH_TEXT], newest_hash[EVENT_HASH_TEXT];
	bool known;	/* the hash of the record before is */
	uint64_t fault; /* number, 0: none was found */
	char reason[120];
};

void journal_verify_begin(const struct journal_store *s, struct journal_verify *v);
/* A slice; false: it is done, at the end or the first fault. */
bool journal_verify_step(
	const struct journal_store *s, struct journal_verify *v, char buf[JOURNAL_SLICE]);

#endif
