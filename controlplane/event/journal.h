/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happened: a record of the journal each, and from it a line of the daemon's log. Records of incidents say so;
 * floods are counted.
 */
#ifndef WEIR_EVENT_JOURNAL_H
#define WEIR_EVENT_JOURNAL_H

#include "api/message.h"
#include "event/incidents.h"
#include "event/journal_store.h"
#include "model/model.h"

/* A kind of event that repeats is written at most once a second per object; the rest is counted. */
#define JOURNAL_SOURCES 64u

/* States are written one by one; when more change at once than people can read, the rest is counted. */
#define JOURNAL_STATES_AT_ONCE 500u
#define JOURNAL_STATES_EVERY_SECOND 20u

struct journal_source {
	uint32_t type, object;
	uint64_t second;
	unsigned held_back;
};

struct journal {
	struct journal_store *store;
	struct incidents *incidents;
	void (*written)(void *ctx); /* a record came */
	void *ctx;
	struct journal_source source[JOURNAL_SOURCES];
	unsigned states; /* written, less what the seconds since have given back */
	struct journal_flood {
		unsigned bad, good, other; /* held back */
		bool open;		   /* it has an incident */
	} flood;
	bool incidents_changed;
};

/* What a record says of the thing it is about. */
enum journal_turn { JOURNAL_NEITHER, JOURNAL_BAD, JOURNAL_GOOD };

struct journal_ask {
	enum journal_turn turn;
	const uint64_t *because, *beside; /* journal_key of others */
	unsigned because_count, beside_count;
};

/* written is called after each record, and must not write one. 0 or -ENOMEM. */
int journal_open(struct journal *j, const char *folder, const uint8_t key[JOURNAL_KEY_BYTES],
	void (*written)(void *ctx), void *ctx);
void journal_close(struct journal *j);

/* Writes a record; sets its number and time. One that cannot be written is counted, and told when there is room. */
void journal_write(struct journal *j, struct event_record *r);

/* The same of something that is bad or good now. */
void journal_tell(struct journal *j, struct event_record *r, const struct journal_ask *ask);

/* The same of one of many that may come at once: it may only be counted. */
void journal_tell_state(struct journal *j, struct event_record *r, const struct journal_ask *ask);

/* Of what may be bad about an object, for journal_ask. message: one that tells of it. */
uint64_t journal_key(
	enum event_message message, const char *kind, const char *owner, const char *object);
bool journal_is_bad(const struct journal *j, enum event_message message, const char *kind,
	const char *owner, const char *object);

/* An object is there no longer: neither are its incidents. */
void journal_gone(struct journal *j, const char *kind, const char *owner, const char *object);

/* After a start: those that are there no longer, by exists. */
void journal_reconcile(struct journal *j,
	bool (*exists)(void *ctx, const char *kind, const char *owner, const char *object),
	void *ctx);

/* A commit of config fields; what: its first line. */
void journal_commit(struct journal *j, const struct event_actor *actor, const char *what,
	const struct model_changes *changes);

/* An event of the dataplane. */
void journal_event(struct journal *j, const struct model *m, const struct event_row *row);

/* Once a second. */
void journal_second(struct journal *j);

/* ---- journal_incidents.c ---- */

/* What of an object a message is about; 0: nothing that is good or bad. */
uint8_t journal_aspect(enum event_message message);

/* As text, for the file beside the journal; to be freed. NULL: no memory. */
char *journal_incidents_text(const struct journal *j);

/* What the file and the records behind it tell. */
int journal_incidents_load(struct journal *j, const char *folder);

#endif
