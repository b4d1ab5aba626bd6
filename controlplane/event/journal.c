/* SPDX-License-Identifier: BSD-3-Clause */
#include "event/journal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"

static uint64_t now_seconds(void)
{
	return (uint64_t)time(NULL);
}

/* --- records -------------------------------------------------------------------------------------- */

static void log_line(const struct event_record *r)
{
	static const uint8_t levels[EVENT_LEVELS] = {LOG_LEVEL_ERROR, LOG_LEVEL_ERROR,
		LOG_LEVEL_ERROR, LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_NOTICE,
		LOG_LEVEL_NOTICE, LOG_LEVEL_DEBUG};
	const char *address = r->actor.address && *r->actor.address ? r->actor.address : NULL;

	/* Ratios of many servers all the time are nothing for the daemon's log. */
	log_write(strcmp(event_messages[r->message].type, "ratio")
			  ? levels[event_messages[r->message].level]
			  : LOG_LEVEL_DEBUG,
		"journal: %s%s%s", r->text, address ? " from " : "", address ? address : "");
}

/* What could not be written while the disk was full is told as soon as something can. */
static void loss_tell(struct journal *j, uint64_t lost)
{
	char text[120];
	struct event_record r = {.message = MESSAGE_JOURNAL_LOST, .count = lost, .text = text};

	snprintf(text, sizeof(text), "%" PRIu64 " records could not be written to the journal",
		lost);
	log_line(&r);
	journal_store_put(j->store, &r);
}

void journal_write(struct journal *j, struct event_record *r)
{
	log_line(r);
	if (journal_store_put(j->store, r))
		return;
	uint64_t lost = journal_store_lost(j->store);
	if (lost)
		loss_tell(j, lost);
	if (j->written)
		j->written(j->ctx);
}

/* --- incidents ------------------------------------------------------------------------------------ */

static struct incident_thing thing_of(const struct event_record *r)
{
	return (struct incident_thing){r->kind, r->owner, r->object, journal_aspect(r->message)};
}

uint64_t journal_key(
	enum event_message message, const char *kind, const char *owner, const char *object)
{
	return incident_key(&(struct incident_thing){kind, owner, object, journal_aspect(message)});
}

bool journal_is_bad(const struct journal *j, enum event_message message, const char *kind,
	const char *owner, const char *object)
{
	return incidents_is_bad(j->incidents,
		&(struct incident_thing){kind, owner, object, journal_aspect(message)});
}

static void note_put(struct journal *j, struct event_record *r, const struct incident_note *note)
{
	r->incident = note->number;
	r->part = note->part;
	r->duration = note->duration;
	j->incidents_changed |= note->part != EVENT_NO_PART;
}

static void turn(struct journal *j, struct event_record *r, const struct journal_ask *ask)
{
	const struct incident_thing t = thing_of(r);
	struct incident_note note = {0};

	if (ask->turn == JOURNAL_BAD)
		note = incidents_bad(j->incidents, &t, ask->because, ask->because_count,
			ask->beside, ask->beside_count, journal_store_next(j->store),
			now_seconds());
	else if (ask->turn == JOURNAL_GOOD)
		note = incidents_good(j->incidents, &t, false, now_seconds());
	note_put(j, r, &note);
}

void journal_tell(struct journal *j, struct event_record *r, const struct journal_ask *ask)
{
	turn(j, r, ask);
	journal_write(j, r);
}

static struct event_record flood_record(char *text, size_t size, const struct journal_flood *f)
{
	snprintf(text, size,
		"monitor status of too many servers to be written one by one: %u went down, %u up, "
		"%u changed otherwise",
		f->bad, f->good, f->other);
	return (struct event_record){.message = MESSAGE_STATES_MANY,
		.kind = "ltm",
		.count = (uint64_t)f->bad + f->good + f->other,
		.text = text};
}

/* What opens an incident within a flood shares that of the flood; the record that opens it is written before. */
static void flood_open(struct journal *j)
{
	struct event_record r = {.message = MESSAGE_STATES_MANY,
		.kind = "ltm",
		.text = "more states change at once than are written one by one"};

	if (j->flood.open)
		return;
	j->flood.open = true;
	journal_tell(j, &r, &(struct journal_ask){.turn = JOURNAL_BAD});
}

static void flood_take(struct journal *j, struct event_record *r, const struct journal_ask *ask)
{
	uint64_t flood = journal_key(MESSAGE_STATES_MANY, "ltm", NULL, NULL);
	struct incident_thing t = thing_of(r);
	struct journal_ask shared = *ask;

	if (ask->turn == JOURNAL_BAD && incidents_would_open(j->incidents, &t, ask->because,
						ask->because_count, now_seconds())) {
		flood_open(j);
		shared.beside = &flood;
		shared.beside_count = 1;
	}
	turn(j, r, &shared);
	/* The end of an incident that was told of is told too, and that it is open again. */
	if (r->part == EVENT_CLOSES || r->part == EVENT_OPENS) {
		journal_write(j, r);
		return;
	}
	j->flood.bad += ask->turn == JOURNAL_BAD;
	j->flood.good += ask->turn == JOURNAL_GOOD;
	j->flood.other += ask->turn == JOURNAL_NEITHER;
}

void journal_tell_state(struct journal *j, struct event_record *r, const struct journal_ask *ask)
{
	if (j->states >= JOURNAL_STATES_AT_ONCE) {
		flood_take(j, r, ask);
		return;
	}
	j->states++;
	journal_tell(j, r, ask);
}

static void flood_end(struct journal *j)
{
	char text[200];
	struct event_record r = flood_record(text, sizeof(text), &j->flood);

	if (r.count || j->flood.open)
		journal_tell(j, &r,
			&(struct journal_ask){
				.turn = j->flood.open ? JOURNAL_GOOD : JOURNAL_NEITHER});
	j->flood = (struct journal_flood){0};
}

static void over(struct journal *j, const struct incident_thing *t)
{
	struct incident_note note = incidents_good(j->incidents, t, true, now_seconds());
	char text[700];
	struct event_record r = {.message = MESSAGE_INCIDENT_OVER,
		.kind = t->kind,
		.owner = t->owner,
		.object = t->object,
		.text = text};

	note_put(j, &r, &note);
	if (note.part != EVENT_CLOSES)
		return;
	snprintf(text, sizeof(text), "%s %s%s%s: is no longer there: its incident is over",
		t->kind ? t->kind : "", t->owner ? t->owner : "", t->owner ? " " : "",
		t->object ? t->object : "");
	journal_write(j, &r);
}

void journal_gone(struct journal *j, const char *kind, const char *owner, const char *object)
{
	static const enum event_message messages[] = {MESSAGE_MEMBER_STATUS, MESSAGE_HOLD_SET,
		MESSAGE_LIMIT_REACHED, MESSAGE_PORT_EXHAUSTION};

	if (!incidents_open(j->incidents))
		return;
	for (size_t i = 0; i < sizeof(messages) / sizeof(*messages); i++)
		over(j, &(struct incident_thing){kind, owner, object, journal_aspect(messages[i])});
}

struct lost_things {
	bool (*exists)(void *ctx, const char *kind, const char *owner, const char *object);
	void *ctx;
	struct incident_thing *thing;
	unsigned count;
};

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

static void lost_add(void *ctx, const struct incident_entry *e)
{
	struct lost_things *l = ctx;
	struct incident_thing *more;

	if (e->good || !e->thing.object ||
		l->exists(l->ctx, e->thing.kind, e->thing.owner, e->thing.object))
		return;
	more = reallocarray(l->thing, l->count + 1, sizeof(*more));
	if (!more)
		return;
	l->thing = more;
	l->thing[l->count++] = (struct incident_thing){
		copy(e->thing.kind), copy(e->thing.owner), copy(e->thing.object), e->thing.aspect};
}

void journal_reconcile(struct journal *j,
	bool (*exists)(void *ctx, const char *kind, const char *owner, const char *object),
	void *ctx)
{
	struct lost_things l = {.exists = exists, .ctx = ctx};

	incidents_each(j->incidents, lost_add, &l);
	for (unsigned i = 0; i < l.count; i++) {
		over(j, &l.thing[i]);
		free((char *)l.thing[i].kind);
		free((char *)l.thing[i].owner);
		free((char *)l.thing[i].object);
	}
	free(l.thing);
}

/* --- start and end -------------------------------------------------------------------------------- */

int journal_open(struct journal *j, const char *folder, const uint8_t key[JOURNAL_KEY_BYTES],
	void (*written)(void *ctx), void *ctx)
{
	char found[200], text[300];

	*j = (struct journal){.written = written, .ctx = ctx, .incidents = incidents_new()};
	j->store = journal_store_open(folder, key, found, sizeof(found));
	if (!j->store || !j->incidents)
		return -ENOMEM;
	snprintf(text, sizeof(text), "the journal is not as it was left: %s", found);
	if (*found)
		journal_write(j,
			&(struct event_record){
				.message = MESSAGE_JOURNAL_DAMAGED, .cause = found, .text = text});
	int rc = journal_incidents_load(j, folder);
	/* One that a kill cut off ends with the first second. */
	j->flood.open = journal_is_bad(j, MESSAGE_STATES_MANY, "ltm", NULL, NULL);
	journal_write(j,
		&(struct event_record){.message = MESSAGE_STARTED, .text = "weir-cp was started"});
	return rc;
}

void journal_close(struct journal *j)
{
	if (j->store && j->incidents) {
		flood_end(j);
		journal_write(j, &(struct event_record){.message = MESSAGE_STOPPED,
					 .text = "weir-cp was stopped"});
		journal_store_beside(j->store, journal_incidents_text(j));
	}
	journal_store_close(j->store);
	incidents_free(j->incidents);
	j->store = NULL;
	j->incidents = NULL;
}

void journal_second(struct journal *j)
{
	j->states -=
		j->states < JOURNAL_STATES_EVERY_SECOND ? j->states : JOURNAL_STATES_EVERY_SECOND;
	flood_end(j);
	incidents_tidy(j->incidents, now_seconds());
	if (j->incidents_changed)
		journal_store_beside(j->store, journal_incidents_text(j));
	j->incidents_changed = false;
}
