/* SPDX-License-Identifier: BSD-3-Clause */
/* The one process that starts the commands of all receivers, and who waits for which. */
#ifndef WEIR_NOTIFY_ALERT_RUNNER_H
#define WEIR_NOTIFY_ALERT_RUNNER_H

#include <sys/queue.h>

#include "child/child_runner.h"

struct alert_wait {
	LIST_ENTRY(alert_wait) entry;
	uint64_t id;			      /* 0: it waits for nothing */
	void (*ended)(void *ctx, int status); /* as waitpid says */
	void *ctx;
};

/* Starts one; ended is called from the event loop unless alert_runner_forget is called. 0 or -errno. */
int alert_runner_start(struct alert_wait *w, const struct child_program *p);

/* Kills it and what it started. */
void alert_runner_stop(const struct alert_wait *w);
void alert_runner_forget(struct alert_wait *w);

#endif
