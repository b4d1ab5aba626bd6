/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the metrics, by nobody else. */
#ifndef WEIR_OBSERVE_METRICS_H
#define WEIR_OBSERVE_METRICS_H

#include "model/model.h"
#include "observe/observe.h"

enum metrics_column {
	COLUMN_CURRENT,
	COLUMN_MAXIMUM,
	COLUMN_TOTAL,
	COLUMN_IN_BYTES,
	COLUMN_OUT_BYTES,
	COLUMN_IN_PACKETS,
	COLUMN_OUT_PACKETS,
	COLUMN_REFUSED,
	COLUMN_RESETS,
	COLUMN_TIMEOUTS,
	COLUMN_AVAILABILITY, /* index into metrics_availability */
	COLUMN_ENABLED,
	COLUMN_MONITOR, /* index into metrics_monitor */
	COLUMN_RATIO,
	COLUMN_LIMIT,
	COLUMN_MEMBERS,
	COLUMN_MEMBERS_AVAILABLE,
	COLUMN_MEMBERS_ACTIVE,
	COLUMNS
};

#define METRICS_NONE UINT64_MAX /* the object has no such value */

struct metrics_row {
	size_t labels; /* offset of its text: node="/Common/a" */
	uint64_t value[COLUMNS];
};

enum metrics_class { CLASS_NODE, CLASS_POOL, CLASS_MEMBER, CLASS_VIRTUAL, CLASS_ADDRESS, CLASSES };

struct metrics {
	struct metrics_class_rows {
		struct metrics_row *row;
		unsigned count, size;
	} of[CLASSES];
	struct text labels; /* NUL-terminated, one behind the other */
	struct text system; /* families of the machine, ready */
	unsigned rows;	    /* of all classes, as counted for OBSERVE_ROWS_MAX */
	const char *failed; /* a sentence, or NULL */
};

extern const char *const metrics_availability[4], *const metrics_monitor[7];

extern unsigned metrics_rows_max; /* OBSERVE_ROWS_MAX, but in tests */

void metrics_free(struct metrics *m);

/* Asks for everything. False: refused, and answered. */
bool metrics_gather(struct http_request *r, const struct observe_backend *b, struct metrics *m);

/* The value of a label, with its quotes. */
void metrics_label(struct text *out, const char *name, const char *value);

/* Text of it all, piece by piece. */
struct metrics_writer {
	const struct metrics *m;
	unsigned class, column, state, row; /* what comes next */
	bool system;			    /* which is first, is out */
	bool headed;			    /* the family's head is out */
};

/* Adds the next lines, about want bytes. False: there are no more. */
bool metrics_write(struct metrics_writer *w, size_t want, struct text *out);

#endif
