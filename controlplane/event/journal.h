/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happened: a record of the journal each, and from it a line of the daemon's log.
 */
#ifndef WEIR_EVENT_JOURNAL_H
#define WEIR_EVENT_JOURNAL_H

#include "api/message.h"
#include "event/journal_store.h"
#include "model/model.h"

/* A kind of event that repeats is written at most once a second per object; the rest is counted. */
#define JOURNAL_SOURCES 64u

/* States of servers are written one by one; when more change at once than people can read, the rest is counted. */
#define JOURNAL_STATES_AT_ONCE 500u
#define JOURNAL_STATES_EVERY_SECOND 20u

struct journal_source {
	uint32_t type, object;
	uint64_t second;
	unsigned held_back;
};

struct journal {
	struct journal_store *store;
	void (*written)(void *ctx); /* a record came */
	void *ctx;
	struct journal_source source[JOURNAL_SOURCES];
	unsigned states; /* written, less what the seconds since have given back */
	struct journal_states {
		unsigned up, down;
	} held_back;
};

/* written is called after each record, and must not write one. 0 or -ENOMEM. */
int journal_open(struct journal *j, const char *folder, const uint8_t key[JOURNAL_KEY_BYTES],
	void (*written)(void *ctx), void *ctx);
void journal_close(struct journal *j);

/* Writes a record; sets its number and time. One that cannot be written is counted, and told when there is room. */
void journal_write(struct journal *j, struct event_record *r);

/* A commit of config fields; what: its first line. */
void journal_commit(struct journal *j, const struct event_actor *actor, const char *what,
	const struct model_changes *changes);

/* An event of the dataplane. */
void journal_event(struct journal *j, const struct model *m, const struct event_row *row);

/* Whether a server's new state is to be written; if not it is counted, and told by journal_second. */
bool journal_admits_state(struct journal *j, bool up);

/* Once a second. */
void journal_second(struct journal *j);

void journal_note(struct journal *j, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
