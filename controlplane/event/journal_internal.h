/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_EVENT_JOURNAL_INTERNAL_H
#define WEIR_EVENT_JOURNAL_INTERNAL_H

#include <pthread.h>

#include "event/journal_store.h"

struct segment {
	uint64_t first; /* number of its first record, and its name */
	uint64_t bytes;
};

/* What the head tells: the oldest record there is, the newest, and its hash. */
struct journal_head {
	uint64_t first, seq;
	char hash[EVENT_HASH_TEXT];
};

/* The thread's work, handed over under the lock; it owns what it was handed. */
struct journal_sync {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool running, stop, busy;
	int *fd; /* files to be flushed and closed */
	unsigned count;
	struct journal_head head;
	char *beside;
	uint64_t unlink_below; /* files of lower numbers are deleted afterwards */
};

struct journal_store {
	char *folder;
	uint8_t key[JOURNAL_KEY_BYTES];
	struct segment *segment; /* oldest first; the last is written to if fd is open */
	unsigned segments, room;
	int fd;
	uint64_t bytes, limit;
	uint64_t next;	/* number */
	uint64_t first; /* of the oldest that must be there; 0: nobody knows */
	char hash[EVENT_HASH_TEXT];
	uint64_t lost;
	bool failing;
	bool dirty;   /* since the last hand-over */
	char *beside; /* waits to be written */
	bool trimmed; /* files are no longer counted, and not yet deleted */
	int *full;    /* files that were full since the last hand-over */
	unsigned full_count;
	struct journal_sync sync;
};

void journal_path(const struct journal_store *s, uint64_t first, char *out, size_t size);
int journal_segment_add(struct journal_store *s, uint64_t first, uint64_t bytes);

/* journal_head.c. 0; -ENOENT; -EBADMSG it is not what this machine wrote. */
int journal_head_read(const struct journal_store *s, struct journal_head *head);
int journal_head_write(
	const char *folder, const uint8_t key[JOURNAL_KEY_BYTES], const struct journal_head *head);

/* journal_open.c: takes stock of the folder. 0 or -ENOMEM. */
int journal_stock(struct journal_store *s, char *found, size_t size);
void journal_unlink_below(const char *folder, uint64_t first);

/* journal_sync.c */
void journal_sync_init(struct journal_sync *y);
void journal_sync_fini(struct journal_store *s);

#endif
