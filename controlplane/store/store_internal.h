/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of store/, by nobody else. */
#ifndef WEIR_STORE_INTERNAL_H
#define WEIR_STORE_INTERNAL_H

#include <sys/types.h>

#include "store/record.h"
#include "store/store.h"

struct store {
	char *running, *log, *old_log, *startup; /* paths */
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
	uint32_t *unsaved_ids; /* objects with changed live fields since the last save, each once */
	unsigned unsaved_count, unsaved_size;
	uint64_t *unsaved_slots; /* bit per id slot: is in unsaved_ids */
	struct store_commit history[STORE_HISTORY];
	unsigned history_next, history_count;
};

/* Memory of what a record says, whether read back or just written. */
int store_note(struct store *s, const struct record *r);

/* Writes a record behind the log; durable: flushed before it returns. 0 or -errno, and no trace then. */
int store_log_add(struct store *s, struct record *r, bool durable);

/* Opens the log for appending behind its first size bytes, and cuts what lies behind. 0 or -errno. */
int store_log_open(struct store *s, size_t size);

/* The META record's JSON, to be freed. */
char *store_meta_dump(const struct store *s);
int store_meta_load(struct store *s, const char *json, size_t length);

uint64_t store_now_ms(void);

#endif
