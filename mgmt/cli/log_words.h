/* SPDX-License-Identifier: BSD-3-Clause */
/* Words that choose records of the journal, in weirsh and in REST, and a record as a line of LTM's log. */
#ifndef WEIR_CLI_LOG_WORDS_H
#define WEIR_CLI_LOG_WORDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "cli/command.h"

enum log_word_type { LOG_NUMBER, LOG_TEXT, LOG_NAME, LOG_TIME };

struct log_word {
	const char *name;   /* what is written */
	const char *member; /* of the request */
	enum log_word_type type;
	const char *sentence;
};

/* All of them; ends with name NULL. */
extern const struct log_word log_words[];

const struct log_word *log_word_find(const char *name);

/*
 * Puts the word's value into the request. A time is local, "2026-11-30 06:15:00" (or with T, or shorter), so long
 * ago ("90s", "10m", "2h", "3d"), or s since 1970. False: reason says why not.
 */
bool log_word_put(const struct log_word *w, const char *value, time_t now, json_t *request,
	char *reason, size_t size);

/* What "show sys log" asks of weir-cp. NULL: reason says why it does not. */
json_t *log_request(const struct cli_command *c, time_t now, char *reason, size_t size);

/* "Nov 30 06:15:00 lb notice weir-cp[4711]: 01070638:5: text", in brackets the record's number. To be freed. */
char *log_line(const json_t *record, const char *host);

/* The host of such a line, as LTM writes it: the host name of the configuration (or the machine) without its domain. */
void log_host(const char *hostname, char host[256]);

#endif
