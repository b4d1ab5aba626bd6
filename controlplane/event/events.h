/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events of the recent past, for those who follow them: a ring of bounded size. Ids rise by one, over restarts too;
 * who comes late learns how many are gone. One thread.
 */
#ifndef WEIR_EVENT_EVENTS_H
#define WEIR_EVENT_EVENTS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#define EVENTS_MAX 2048u
#define EVENTS_BYTES_MAX (1u << 20)

struct event_entry {
	uint64_t id;
	uint32_t object; /* that it is about, or ID_NONE */
	uint8_t need;	 /* the owner's word for who may see it */
	char *text;	 /* JSON */
	size_t length;
};

struct events {
	struct event_entry entry[EVENTS_MAX];
	unsigned first, count;
	size_t bytes;
	uint64_t next_id;
};

/* now: ms since 1970, from which ids begin. */
void events_init(struct events *e, uint64_t now);
void events_fini(struct events *e);

/* Adds an event; takes over body, an object, and puts id and time into it. NULL: nothing is added. */
void events_add(struct events *e, uint64_t now, uint32_t object, uint8_t need, json_t *body);

/* The oldest with a higher id, or NULL. */
const struct event_entry *events_after(const struct events *e, uint64_t id);

/* Id of the newest that ever was. */
uint64_t events_last(const struct events *e);

/* How many with a higher id are gone; if id is of a time before the start: those of this time that are. */
uint64_t events_gone(const struct events *e, uint64_t id);

#endif
