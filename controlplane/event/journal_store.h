/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The journal on the disk: files of lines, of bounded size together, and the authenticated number and hash of the
 * newest. An append reaches the kernel at once; a thread brings it to the disk, so that a slow one holds up nobody.
 * What cannot be written is counted. Used by one thread.
 */
#ifndef WEIR_EVENT_JOURNAL_STORE_H
#define WEIR_EVENT_JOURNAL_STORE_H

#include <sys/types.h>

#include "event/event_record.h"

#define JOURNAL_KEY_BYTES 32
#define JOURNAL_SEGMENT_MAX (8u << 20)
#define JOURNAL_SLICE (256u << 10) /* bytes that are read at once */

struct journal_store;

/*
 * Opens the folder, making it (mode 0700) if needed; its parent must be locked by the caller. A torn last line is cut
 * off. found: what is wrong with what is there, or ""; it stays as it is, and records go on in a new file. A folder
 * that cannot be used is no error: records are lost, and counted. NULL: no memory.
 */
struct journal_store *journal_store_open(
	const char *folder, const uint8_t key[JOURNAL_KEY_BYTES], char *found, size_t size);

/* Everything is on the disk then. NULL is accepted. */
void journal_store_close(struct journal_store *s);

/* What all files together may take; the oldest go. Before this is said, nothing goes. */
void journal_store_limit(struct journal_store *s, uint64_t bytes);

/* Writes a record, giving it number and time. 0 or -errno: nothing was written, and it counts as lost. */
int journal_store_put(struct journal_store *s, struct event_record *r);

/* Number that the next record gets. */
uint64_t journal_store_next(const struct journal_store *s);

/* How many were lost since this was asked last. */
uint64_t journal_store_lost(struct journal_store *s);

/* Once a second: what is new is brought to the disk by the thread, then the head tells of it. */
void journal_store_sync(struct journal_store *s);

/* A text for the file `incidents` in the folder; it is written with the head, and freed. NULL is accepted. */
void journal_store_beside(struct journal_store *s, char *text);

/* Numbers of the oldest and newest record; oldest > newest: there is none. */
uint64_t journal_store_oldest(const struct journal_store *s);
/* Of the oldest that must be there: what a hand deleted is behind it. */
uint64_t journal_store_first(const struct journal_store *s);
uint64_t journal_store_newest(const struct journal_store *s);
void journal_store_hash(
	const struct journal_store *s, char hash[EVENT_HASH_TEXT]); /* of the newest */

/* ---- reading ---- */

/* A place between two lines. */
struct journal_place {
	uint64_t first; /* of the file */
	uint64_t offset;
};

struct journal_place journal_store_begin(const struct journal_store *s);
struct journal_place journal_store_end(const struct journal_store *s);

/* At or before the record with this number: the start of its file. */
struct journal_place journal_store_seek(const struct journal_store *s, uint64_t seq);

/*
 * Whole lines behind a place, or before it (back), at most JOURNAL_SLICE bytes, into buf; the place moves over them,
 * also over what is no line. Their bytes, each line with its end; 0: there are no more; -errno: the file is gone or
 * cannot be read, and the place stands behind (before) it.
 */
ssize_t journal_store_read(const struct journal_store *s, struct journal_place *at, bool back,
	char buf[JOURNAL_SLICE]);

#endif
