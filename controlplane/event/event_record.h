/* SPDX-License-Identifier: BSD-3-Clause */
/* A record of the journal (docs/events.md) and its line of JSON. No state. */
#ifndef WEIR_EVENT_EVENT_RECORD_H
#define WEIR_EVENT_EVENT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event_message.h"

#define EVENT_LINE_MAX 16384u
#define EVENT_HASH_TEXT 65 /* hex digits of SHA-256, and NUL */

enum event_value_kind { EVENT_NO_VALUE, EVENT_TEXT, EVENT_NUMBER };

struct event_value {
	uint8_t kind; /* enum event_value_kind */
	const char *text;
	int64_t number;
};

struct event_actor {
	const char *class;	    /* "operator", ... */
	const char *name, *address; /* "" where there is none */
};

/* Texts that are NULL are left out. They may hold any bytes: the line has them without control characters. */
struct event_record {
	enum event_message message;
	uint64_t seq, time; /* us since 1970; the journal sets both */
	const char *kind, *object, *owner;
	struct event_actor actor;
	struct event_value before, after;
	const char *cause;
	bool flows_known;
	uint64_t flows;
	unsigned serving,
		of;	/* of a server's pool: members that take new clients, of all; 0: none */
	uint64_t count; /* 0 and 1: this one alone */
	uint64_t incident, duration;
	uint8_t part; /* enum event_part */
	const char *text;
};

static inline struct event_value event_text(const char *text)
{
	return (struct event_value){.kind = EVENT_TEXT, .text = text};
}

static inline struct event_value event_number(int64_t number)
{
	return (struct event_value){.kind = EVENT_NUMBER, .number = number};
}

/*
 * The line with its end, in out[EVENT_LINE_MAX]; its length. before: hash of the record before. first: the line is the
 * first of its file and names that hash. hash gets its own.
 */
size_t event_record_line(const struct event_record *r, const char before[EVENT_HASH_TEXT],
	bool first, char out[EVENT_LINE_MAX], char hash[EVENT_HASH_TEXT]);

/* What a line says of itself. */
struct event_line {
	uint64_t seq;
	char previous[EVENT_HASH_TEXT]; /* that a file's first line names, or "" */
	char hash[EVENT_HASH_TEXT];
	size_t hashed; /* bytes of the line that its hash is over */
};

/* Looks at a line without its end. False: it is none of ours. */
bool event_line_parse(const char *line, size_t length, struct event_line *out);

/* Whether the line's hash is right, behind a record with that hash. */
bool event_line_holds(
	const char *line, const struct event_line *l, const char before[EVENT_HASH_TEXT]);

/* The number of a line's record, or 0. */
uint64_t event_line_seq(const char *line, size_t length);

#endif
