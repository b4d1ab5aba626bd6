/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a receiver of incidents is told and when: those that open close together in one message, their ends likewise,
 * reminders, nothing but the worst in quiet hours and one summary after them. Pure: records and the time go in,
 * messages come out; one at a time, until it has been taken or given up.
 */
#ifndef WEIR_ALERT_DIGEST_H
#define WEIR_ALERT_DIGEST_H

#include "alert/incident.h"

enum {
	DIGEST_DETAILS_MAX = 1000,    /* incidents of which records are kept */
	DIGEST_INCIDENTS_MAX = 50000, /* that are known at all; the others are counted */
	DIGEST_ENDED_MAX = 256, /* remembered, so that a late record does not open them again */
};

enum digest_module {
	DIGEST_LTM = 1,
	DIGEST_NET = 2,
	DIGEST_SYS = 4,
	DIGEST_AUTH = 8,
	DIGEST_CM = 16,
	DIGEST_ALL = 31,
};

struct digest_settings {
	uint32_t digest_s;   /* incidents within so many seconds go together */
	uint32_t remind_min; /* 0: no reminders */
	uint8_t level;	     /* this or worse */
	uint8_t quiet_level; /* the same in quiet hours */
	uint8_t modules;     /* bits of enum digest_module */
	bool no_ends;	     /* of what was told that it opened */
};

enum digest_kind {
	DIGEST_NOTHING,
	DIGEST_OPENED,
	DIGEST_CLOSED,
	DIGEST_REMINDER,
	DIGEST_SUMMARY, /* of quiet hours */
};

/* A message that is to be sent. Its incidents are those with sent set. */
struct digest_message {
	uint8_t kind;	 /* enum digest_kind */
	bool frozen;	 /* it may have been taken already: it stays as it is until that is known */
	uint64_t number; /* names it, over restarts too */
	unsigned count;	 /* incidents in it */
	unsigned closed; /* of these */
	uint64_t gone;	 /* records that were deleted before they could be read */
	uint64_t refused; /* messages that were given up before */
	uint64_t beyond;  /* incidents beyond DIGEST_INCIDENTS_MAX */
	json_t *left;	  /* frozen: the owner's word for who is still to get it, or NULL */
};

struct digest {
	uint64_t now_ms; /* of the last digest_next */
	struct digest_settings settings;
	struct incident **incident; /* by rising number */
	unsigned count, room, details;
	uint64_t seen;	 /* seq of the newest record */
	uint64_t number; /* of the last message that was taken or given up */
	uint64_t gone, refused, beyond;
	uint64_t news_ms; /* when the oldest of these three was learnt */
	bool was_quiet;
	uint64_t ended[DIGEST_ENDED_MAX];
	unsigned ended_next;
	struct digest_message message;
};

/* modules of a word of the settings ("ltm"), or 0. */
unsigned digest_module(const char *name);

void digest_init(struct digest *d, const struct digest_settings *settings);
void digest_fini(struct digest *d);

/* Takes in a record; one that is not newer than those before is left out. 0 or -ENOMEM: nothing has changed. */
int digest_record(struct digest *d, const json_t *record, uint64_t now_ms);

/* Records are no more that should have come. */
void digest_gone(struct digest *d, uint64_t records, uint64_t now_ms);

/*
 * What is to be sent now, or NULL. It stays on its way until one of the three below says what became of it. quiet: now
 * are quiet hours.
 */
const struct digest_message *digest_next(struct digest *d, uint64_t now_ms, bool quiet);

/* Nothing is left to be told and nothing is open: there is no need to call digest_next. */
bool digest_idle(const struct digest *d);

void digest_taken(struct digest *d, uint64_t now_ms);
void digest_refused(struct digest *d, uint64_t now_ms); /* for good: it is told of the next time */

/* It has not been taken, or (frozen) nobody knows; left: who is still to get it. It comes again from digest_next. */
void digest_again(struct digest *d, bool frozen, json_t *left);

/* The next incident in the message after number, 0 the first; NULL: no more. */
const struct incident *digest_sent(const struct digest *d, uint64_t number);

/* State as JSON. digest_load leaves the settings as they are: 0, -EINVAL (d is empty then), -ENOMEM. */
json_t *digest_save(const struct digest *d);
int digest_load(struct digest *d, const json_t *from);

#endif
