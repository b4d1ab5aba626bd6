/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of the journal, from messages.json: what each is called, how bad it is, which trap tells it. */
#ifndef WEIR_EVENT_EVENT_MESSAGE_H
#define WEIR_EVENT_EVENT_MESSAGE_H

#include <stdint.h>

#include "event_message_generated.h"

/* As syslog's severities. */
enum event_level {
	EVENT_EMERG,
	EVENT_ALERT,
	EVENT_CRIT,
	EVENT_ERR,
	EVENT_WARNING,
	EVENT_NOTICE,
	EVENT_INFO,
	EVENT_DEBUG,
	EVENT_LEVELS
};

/* What a record is to its incident. */
enum event_part { EVENT_NO_PART, EVENT_OPENS, EVENT_ALSO, EVENT_CLOSES, EVENT_PARTS };

struct event_message_row {
	const char *name;
	const char *id; /* 8 hex digits */
	const char *module, *type;
	const char *sentence; /* for people who look the id up */
	uint16_t trap;	      /* under 1.3.6.1.4.1.3375.2.4.0; 0: none */
	uint16_t own_trap;    /* under Weir's branch; 0: none */
	uint8_t level;	      /* enum event_level */
	uint8_t part;	      /* what it can be to an incident */
};

extern const struct event_message_row event_messages[EVENT_MESSAGES];

const char *event_level_name(unsigned level); /* "notice" */
const char *event_part_name(unsigned part);   /* "open"; of none "" */

/* The other way; -1: there is none. */
int event_level_of(const char *name);
int event_message_of(const char *id); /* enum event_message */

#endif
