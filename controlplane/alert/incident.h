/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One incident as a receiver of mail or a command knows it: what opened it, what joined it, how it ended, and what of
 * that has been told. Of a record only what people are told is kept, cut to a bounded length and without control
 * characters: names of objects and texts of servers are not trusted.
 */
#ifndef WEIR_ALERT_INCIDENT_H
#define WEIR_ALERT_INCIDENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	INCIDENT_ALSO_MAX = 4,	 /* records kept of those that joined */
	INCIDENT_TEXT_MAX = 300, /* bytes of a text of a record */
};

struct incident {
	uint64_t number;   /* seq of the record that opened it */
	uint64_t since_ms; /* when the news that has not been told yet came */
	uint64_t told_ms;  /* when it was told, or reminded of */
	uint64_t message;  /* which told that it opened; 0: none */
	uint64_t closed_ms;
	uint32_t duration; /* s, if closed */
	uint32_t also_count;
	uint8_t level; /* the worst of its records; 0 is emerg */
	bool told;     /* that it opened */
	bool closed;
	bool again;	     /* it opened more than once: its end is told when it lasts */
	bool unsure;	     /* records are missing that may have closed it */
	bool sent;	     /* it is in the message that is on its way, */
	bool sent_closed;    /* as closed */
	json_t *open, *also; /* a record, an array of records; NULL: not kept */
	json_t *close;
};

/* What is kept of a record; NULL: no memory. */
json_t *incident_record(const json_t *record);

/* Replaces control characters and what turns the direction of text around; whole UTF-8 stays. In place. */
void incident_clean(char *text);

/* NULL: no memory. */
struct incident *incident_new(uint64_t number);
void incident_free(struct incident *i); /* accepts NULL */

/* To and from JSON, for the state file. NULL: no memory, or not an incident. */
json_t *incident_save(const struct incident *i);
struct incident *incident_load(const json_t *from);

#endif
