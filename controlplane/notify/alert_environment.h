/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments and environment of a command: the first incident of a message in WEIR_EVENT_ variables. Pure. */
#ifndef WEIR_NOTIFY_ALERT_ENVIRONMENT_H
#define WEIR_NOTIFY_ALERT_ENVIRONMENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "child/child_runner.h"

struct alert_environment {
	char bytes[RUNNER_MESSAGE_MAX]; /* the strings one after the other, with their NULs */
	size_t length;
	unsigned argc, envc;
	bool full;
};

/* name: what the command sees as its own; args: parted by blanks; event: what it gets as JSON. */
void alert_environment_make(
	struct alert_environment *e, const char *name, const char *args, const json_t *event);

#endif
