/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A receiver of records and what the core of weir-notify does for it. The core reads the journal for each receiver from
 * its own place, keeps that place over restarts, and tries again after a failure, 1 s to 60 s later. A kind of receiver
 * only says how a record is sent. One thread: nothing here may block.
 */
#ifndef WEIR_NOTIFY_RECEIVER_H
#define WEIR_NOTIFY_RECEIVER_H

#include <event2/event.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct receiver;

enum receiver_answer {
	RECEIVER_TAKEN, /* done with it */
	RECEIVER_HELD,	/* receiver_taken will say so later; meanwhile more may be offered */
	RECEIVER_FULL,	/* not now: it is offered again after receiver_more or a failure */
};

struct receiver_kind {
	const char *name; /* "kind" in the settings */
	bool incidents;	  /* gets all records: what of them it tells, it decides itself */

	/* Makes one from its row of the settings. NULL: *reason says why (static, or kept by the settings). */
	void *(*create)(struct receiver *r, const json_t *settings, const char **reason);

	/* Offers the next record. May call receiver_failed; the answer does not matter then. */
	enum receiver_answer (*offer)(void *self, const json_t *record);

	/* Lets go of all it holds: after a failure that is offered again, from the place on. */
	void (*reset)(void *self);

	/* So many records were deleted before they could be offered. NULL: a record is offered that says so. */
	void (*gone)(void *self, uint64_t records);

	/* Its object was deleted, or the journal is another one: what it keeps goes. May be NULL. */
	void (*forget)(void *self);

	/* Once a second, but not between a failure and the next try; may be NULL. */
	void (*tick)(void *self);

	/* Sends a message to try it; ends with receiver_tested, at once or later. Retries nothing. */
	void (*test)(void *self, uint64_t number);

	void (*free)(void *self);
};

extern const struct receiver_kind receiver_syslog, receiver_syslog_local, receiver_trap;
extern const struct receiver_kind receiver_mail, receiver_command;

/* NULL-terminated: where a further kind is put in (notify_kinds.c). */
extern const struct receiver_kind *const receiver_kinds[];

struct event_base *receiver_base(const struct receiver *r);
const char *receiver_name(const struct receiver *r);
const char *receiver_host(const struct receiver *r);	  /* this machine's name */
const char *receiver_state_dir(const struct receiver *r); /* for files of its own */
uint64_t receiver_place(const struct receiver *r);	  /* seq up to which all is taken */

/* All that were offered up to seq are done with; after a restart they are not offered again. */
void receiver_taken(struct receiver *r, uint64_t seq);

/* There is room again. Calls offer, now or later. */
void receiver_more(struct receiver *r);

/* It does not work: reset is called, and what was not taken is offered again after a while. */
void receiver_failed(struct receiver *r, const char *reason);

/* Tells users of a fault (NULL: of none) without stopping: for those that try again by themselves. */
void receiver_error(struct receiver *r, const char *reason);

void receiver_tested(struct receiver *r, uint64_t number, bool ok, const char *reason);

/* A record to try a receiver with, seq 0; NULL: no memory. */
json_t *receiver_test_record(const struct receiver *r, uint64_t number);

#endif
