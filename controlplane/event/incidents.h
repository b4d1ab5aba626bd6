/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Incidents: one cause that people hear of once. Things go bad and get good again; one that goes bad because of
 * another that is bad already joins its incident, else it opens one. An incident is over when all that opened it or
 * went bad beside it are good again. Time is a parameter: s since 1970.
 */
#ifndef WEIR_EVENT_INCIDENTS_H
#define WEIR_EVENT_INCIDENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event_message.h"

#define INCIDENT_REOPEN_SECONDS 60   /* what goes bad again so soon opens the same incident */
#define INCIDENT_TOGETHER_SECONDS 30 /* what goes bad beside another so soon shares its incident */

struct incidents;

/* What is good or bad: texts NULL where there is none; aspect: what of it. */
struct incident_thing {
	const char *kind, *owner, *object;
	uint8_t aspect;
};

struct incident_note {
	uint64_t number; /* of the incident */
	uint8_t part;	 /* enum event_part: EVENT_NO_PART, it belongs to none */
	uint64_t duration;
};

struct incidents *incidents_new(void); /* NULL: no memory */
void incidents_free(struct incidents *s);

uint64_t incident_key(const struct incident_thing *t);

/*
 * A thing is bad. because: keys of what may be the cause; beside: of what the same cause may have hit just before.
 * number: of the incident, if it opens one. Without memory it belongs to none.
 */
struct incident_note incidents_bad(struct incidents *s, const struct incident_thing *t,
	const uint64_t *because, unsigned because_count, const uint64_t *beside,
	unsigned beside_count, uint64_t number, uint64_t now);

/* What incidents_bad would say, without doing it: whether it would open a new one. */
bool incidents_would_open(const struct incidents *s, const struct incident_thing *t,
	const uint64_t *because, unsigned because_count, uint64_t now);

/* It is good, or (gone) there no longer. */
struct incident_note incidents_good(
	struct incidents *s, const struct incident_thing *t, bool gone, uint64_t now);

bool incidents_is_bad(const struct incidents *s, const struct incident_thing *t);

/* Once in a while: forgets what has been good for long. */
void incidents_tidy(struct incidents *s, uint64_t now);

unsigned incidents_open(const struct incidents *s);

/* ---- over a restart ---- */

struct incident_entry {
	struct incident_thing thing;
	uint64_t number, opened, closed; /* closed 0: it is open */
	uint64_t good;			 /* since when; 0: it is bad */
	bool root;
};

/* Calls each for all things that are known. */
void incidents_each(const struct incidents *s,
	void (*each)(void *ctx, const struct incident_entry *e), void *ctx);
/* Puts one back. 0 or -ENOMEM. */
int incidents_restore(struct incidents *s, const struct incident_entry *e);

#endif
