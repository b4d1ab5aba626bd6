/* SPDX-License-Identifier: BSD-3-Clause */
/* One conversation with weir-cp: requests, their rows, their end, and what may go wrong in between.
 */
#ifndef WEIR_CLI_SESSION_H
#define WEIR_CLI_SESSION_H

#include <jansson.h>
#include <stdbool.h>

/* How a command ended; also weirsh's exit codes. */
enum outcome {
	OUTCOME_OK = 0,
	OUTCOME_REFUSED = 1,
	OUTCOME_USAGE = 2,
	OUTCOME_DISCONNECTED = 3,
	OUTCOME_INTERRUPTED = 130, /* as shells count an end by SIGINT */
	OUTCOME_CLOSED = 141,	   /* nobody reads the output any more: as an end by SIGPIPE */
};

struct session {
	char path[256];	 /* of the socket */
	int fd;		 /* -1 = not connected */
	char *error;	 /* of the last request that failed: for people, may have several lines */
	json_t *refusal; /* its error object, NULL if the request never got that far */
};

/* Called for each row; anything but OUTCOME_OK ends the request with that outcome. */
typedef enum outcome session_row(void *arg, const json_t *row);

void session_init(struct session *s, const char *run_dir);
void session_fini(struct session *s);

/*
 * Sends the request (its reference is taken, NULL = no memory) and reads the answer. *result, if
 * given, gets a new reference to the result. After any other outcome than OUTCOME_OK error says
 * why; where it has nothing to say (OUTCOME_CLOSED, or the row function said so) it is NULL.
 */
enum outcome session_ask(
	struct session *s, json_t *request, session_row *row, void *arg, json_t **result);

/* Sets error. */
void session_fail(struct session *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * SIGINT from here on ends a request that is under way (OUTCOME_INTERRUPTED) and system calls,
 * never the process by itself. session_interrupted tells and clears.
 */
void session_catch_interrupt(void);
bool session_interrupted(void);

/* Until there is something to read, or the end. False: interrupted, before or while it waits. */
bool session_wait_input(int fd);

#endif
