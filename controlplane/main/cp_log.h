/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by cp_log.c, cp_log_question.c and cp_log_slice.c, by nobody else. */
#ifndef WEIR_MAIN_CP_LOG_H
#define WEIR_MAIN_CP_LOG_H

#include "event/journal_scan.h"
#include "main/cp.h"

struct reader {
	LIST_ENTRY(reader) entry;
	struct cp *cp;
	struct ipc_request *r;
	struct journal_filter filter;
	struct journal_verify verify;
	struct journal_place at;
	uint64_t seen;	/* number that was scanned last */
	uint64_t after; /* that was asked for */
	uint64_t mark, began_ns;
	size_t scanned, bytes;
	unsigned limit, count, room;
	json_t **found; /* newest first */
	bool back, follow, waiting;
	struct event *turn;
};

struct cp_log {
	LIST_HEAD(, reader) readers;
	unsigned count;
	struct event *serve; /* records for those that wait */
	char slice[JOURNAL_SLICE];
};

/* Takes the arguments of a request into filter, limit, follow; after: it has that. False: it was refused. */
bool cp_log_question(struct ipc_request *r, struct reader *d, bool *after);

/* Looks through the next slice, or the one before. True: there is more. */
bool cp_log_forward(struct reader *d);
bool cp_log_back(struct reader *d);

/* Whether the record before the end that was asked for was reached. */
bool cp_log_forward_done(const struct reader *d);

#endif
