/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of store/, by nobody else. */
#ifndef WEIR_STORE_INTERNAL_H
#define WEIR_STORE_INTERNAL_H

#include <sys/types.h>

#include "store/id_set.h"
#include "store/record.h"
#include "store/store.h"

/* A commit in the files of the history. */
struct history_row {
	uint64_t generation, offset, size;
};

struct history {
	char *path, *old_path;
	int fd;			 /* of path, -1: not open */
	uint64_t bytes, before;	 /* before: without the record that was added last */
	bool torn;		 /* behind bytes is half a record */
	struct history_row *row; /* oldest first: old_count of old_path, then those of path */
	unsigned count, old_count, size;
	unsigned rows_max;  /* of one file */
	struct id_set live; /* objects whose live fields of the newest generation are in there */
};

struct store {
	char *running, *log, *old_log, *startup; /* paths */
	struct history undo;
	int lock_fd, log_fd;
	bool empty;
	bool old_log_there;	     /* a fold is under way, or failed */
	pid_t folder;		     /* child that folds, or 0 */
	uint64_t fold_not_before_ns; /* after one that failed */
	bool torn;		     /* the log's end is half a record, behind log_bytes */
	bool sync_due;		     /* the log has bytes that are not flushed */
	uint64_t log_bytes, log_records, running_bytes;
	uint64_t seq, origin, saved_generation;
	unsigned unsaved_commits;
	struct id_set unsaved; /* objects with changed live fields since the last save */
	struct store_commit history[STORE_HISTORY];
	unsigned history_next, history_count;
};

/* Memory of what a record says, whether read back or just written. */
int store_note(struct store *s, const struct record *r);

/* Writes a record behind the log; durable: flushed before it returns. 0 or -errno, and no trace then. */
int store_log_add(struct store *s, struct record *r, bool durable);

/*
 * How the next record of the log is taken back goes to the history before it; cut takes it out again if the log could
 * not be written. 0 or -errno, and no trace then.
 */
int history_add(struct store *s, const struct model *m, const struct model_changes *changes,
	const struct record *of);
void history_cut(struct store *s);
/* The log has it. */
void history_taken(struct store *s);

/* Reads the history at start; one that does not fit the configuration is dropped. */
void history_load(struct store *s);
/* Removes it, for a new store. */
void history_forget(struct store *s);
int history_init(struct history *h, const char *folder);
void history_fini(struct history *h);

/* Opens the log for appending behind its first size bytes, and cuts what lies behind. 0 or -errno. */
int store_log_open(struct store *s, size_t size);

/* The META record's JSON, to be freed. */
char *store_meta_dump(const struct store *s);
int store_meta_load(struct store *s, const char *json, size_t length);

uint64_t store_now_ms(void);

#endif
