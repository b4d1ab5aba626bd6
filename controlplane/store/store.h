/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The running store: a folder that always holds the running configuration, so that a commit that was
 * answered survives whatever happens to weir-cp or the machine.
 *
 *   running   the whole configuration at some moment
 *   log       what was committed since; folded into a new `running` when it has grown
 *   log.old   the log before that, while folding is under way
 *   history   how each commit is taken back, and what it changed; history.old the commits before those
 *   startup   copy of the startup file (weir.conf) as it was read or written last
 *   machine-key  the key that secrets in all of these and in the startup file are encrypted with
 *   lock      held by the one weir-cp that uses the folder
 *
 * A commit with config fields is on the disk when store_append returns. A change of live fields alone is
 * handed to the kernel then, so it survives the process, and flushed by the next store_sync.
 */
#ifndef WEIR_STORE_STORE_H
#define WEIR_STORE_STORE_H

#include "model/model.h"

#define STORE_HISTORY 1000u		 /* commits that are remembered */
#define STORE_UNDO_RECORDS_MAX 1000u	 /* commits in each of the two files of the history */
#define STORE_UNDO_BYTES_MAX (32u << 20) /* or bytes, and what one commit needs beyond them */
#define STORE_LOG_RECORDS_MAX 4096u	 /* the log is folded beyond this many records */
#define STORE_LOG_BYTES_MAX (8u << 20)	 /* or bytes, if it is also larger than the configuration */

struct store;

struct store_commit {
	uint64_t generation, time; /* ms since 1970 */
	uint32_t changes;
	bool config;
	bool passing;	  /* of what name resolution made: the startup file has nothing of it */
	uint32_t live_id; /* the one object of a change of live fields, else ID_NONE */
	char author[64];
	char address[64]; /* of the client that the author asked from; "" on the machine */
	char what[120];	  /* first line of the change */
};

/*
 * Opens the folder, making it (mode 0700) if needed, and locks it. 0, or -errno with a sentence in reason:
 * -EBUSY another process has it.
 */
int store_open(const char *folder, struct store **out, char *reason, size_t size);
void store_close(struct store *s);

/* The machine's key of an open folder; made (mode 0600) if it is not there. 0, or -errno: -EBADMSG
 * the file is no key. */
int store_key(const char *folder, uint8_t key[MODEL_KEY_BYTES], bool *made);

/* True if it never held a configuration. */
bool store_is_empty(const struct store *s);

/*
 * Loads the configuration into a fresh model. A log whose end is torn is cut there, with a line in the
 * log of the daemon; of one that is damaged within, a copy is kept as log.damaged. -errno with err filled
 * if the store cannot be used.
 */
int store_load(struct store *s, struct model *m, struct model_error *err);

/*
 * Loads it again into a fresh model, without touching the files or what the store remembers: what was
 * written so far, for a commit that could not be. -errno with err filled.
 */
int store_reload(const struct store *s, struct model *m, struct model_error *err);

/* The first configuration of an empty store; also folds the log at any time. 0 or -errno. */
int store_fold(struct store *s, const struct model *m);

/*
 * The same beside the daily work, by a child process. due: it should be begun; begin: 0 or -errno;
 * poll: to be called from time to time, notices the end; stop: gives up, nothing is lost.
 */
bool store_fold_due(const struct store *s);
int store_fold_begin(struct store *s, const struct model *m);
void store_fold_poll(struct store *s);
void store_fold_stop(struct store *s);

/* Writes down a commit. what: the change as its author worded it. 0 or -errno: nothing was written. */
int store_append(struct store *s, const struct model *m, const struct model_changes *changes,
	const char *author, const char *address, const char *what);

/* Flushes live changes to the disk, if any wait. */
void store_sync(struct store *s);

/* Random number made with the store. */
uint64_t store_origin(const struct store *s);

/* Changes since the startup file was read or written: commits, and objects with changed live fields. */
unsigned store_unsaved(const struct store *s);
uint64_t store_saved_generation(const struct store *s);

/*
 * i-th commit, newest first; NULL behind the last. Changes of one object's live fields by one author
 * share a place, that of the first, with the time of the last.
 */
const struct store_commit *store_commit_at(const struct store *s, unsigned i);

/* --- what commits changed, and the way back ------------------------------------------------------- */

/* The oldest generation that can be gone back to. */
uint64_t store_history_floor(const struct store *s, const struct model *m);

/*
 * What the commit that made this generation changed: objects in weir.conf's form with " ", "-" and "+" lines, without
 * secrets. 0; -ENOENT: it is not in the history; -errno.
 */
int store_history_difference(const struct store *s, uint64_t generation, struct text *out);

/*
 * Text for model_load (LOAD_STORE | LOAD_MERGE | LOAD_UNDO) that makes the configuration what it was at this
 * generation. live: also undoes what happened to live fields alone since. 0; -ERANGE: older than the floor; -errno.
 */
int store_history_undo(const struct store *s, const struct model *m, uint64_t generation, bool live,
	struct text *out);

/* How the configuration differs from the startup file as it was read or written last; the same form. 0, or the code
 * of err. */
int store_saved_difference(
	const struct store *s, const struct model *m, struct text *out, struct model_error *err);

/* --- the startup file ----------------------------------------------------------------------------- */

/* Remembers what was read from the startup file: later differences are somebody else's. */
int store_startup_loaded(struct store *s, const struct model *m, const char *data, size_t length);

/*
 * Writes the configuration to the startup file at path. -EEXIST: it is not what was read or written last;
 * difference then tells how it differs (may be NULL, free with text_fini); force writes nevertheless.
 */
int store_save(struct store *s, const struct model *m, const char *path, bool force,
	struct text *difference);

#endif
