/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records: what the running store's two files consist of. A file is a sequence of records, each with a
 * checksum; the first that is cut off or damaged ends the file, as far as a reader is concerned.
 */
#ifndef WEIR_STORE_RECORD_H
#define WEIR_STORE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum record_type {
	RECORD_META = 1,  /* JSON: what is not in the model: origin, history, what is unsaved */
	RECORD_FULL,	  /* text of the whole configuration */
	RECORD_COMMIT,	  /* text of a change; config fields */
	RECORD_LIVE,	  /* the same, live fields alone */
	RECORD_SAVED,	  /* the startup file has been written */
	RECORD_PASSING,	  /* text of a change that the startup file would have nothing of */
	RECORD_UNDO,	  /* in the history: how a commit is taken back */
	RECORD_UNDO_LIVE, /* the same of what happened to live fields alone after a commit */
};

struct record {
	uint32_t type;
	uint32_t changes; /* objects */
	uint64_t seq;	  /* of the record: 1, 2, ...; a full file repeats the last it contains */
	uint64_t generation; /* of the configuration afterwards */
	uint64_t time;	     /* ms since 1970 */
	const char *author,
		*address;    /* NUL-terminated; address: where the author asked from, or "" */
	const char *what;    /* one line for people */
	const uint32_t *ids; /* of live fields alone: `changes` objects; else NULL */
	const char *text;
	size_t length; /* of text */
};

/* Bytes of the record, to be freed, and their number in *size. NULL: no memory. */
void *record_encode(const struct record *r, size_t *size);

/*
 * Reads the record at data + *offset and moves *offset behind it; r points into data. 0; -ENODATA at the
 * end; -EBADMSG if what follows is cut off or damaged.
 */
int record_decode(const char *data, size_t size, size_t *offset, struct record *r);

#endif
