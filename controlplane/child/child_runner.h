/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process that starts programs for a daemon (scripts of monitors, commands of alerts), forked before that gives up its
 * privileges. Each runs as another user, in pid, mount and ipc namespaces of its own: it sees no other process, not the
 * run directory, can write to no file outside a small /tmp of its own, and whatever it has started ends with it.
 */
#ifndef WEIR_CHILD_CHILD_RUNNER_H
#define WEIR_CHILD_CHILD_RUNNER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define RUNNER_SCRIPTS_MAX 256u	       /* at once */
#define RUNNER_MESSAGE_MAX 65536u      /* bytes of arguments and environment */
#define RUNNER_MEMORY_MAX (512u << 20) /* address space of a script's process */
#define RUNNER_TMP "4m"		       /* of a script's own /tmp */

/* What stands in the output, with the reason behind it, if the script could not be started. */
#define RUNNER_REFUSAL "\0weir-run"

struct child_runner;

/* Forks it. name: of its process; hide: directory that programs do not see; both are kept. NULL with errno set. */
struct child_runner *child_runner_new(const char *name, uid_t uid, gid_t gid, const char *hide);

/* Ends it and all scripts. NULL is accepted. */
void child_runner_free(struct child_runner *r);

struct child_program {
	/* argc arguments (the path first) and then envc variables, each with its NUL. */
	const char *strings;
	uint32_t length; /* of them all */
	unsigned argc, envc;
	unsigned seconds; /* it is killed then */
	int out,
		in; /* standard output and input; in -1: there is none. They stay the caller's to close */
	int program; /* -1, or a descriptor that is executed instead of the path */
	bool report; /* child_runner_ended is to tell of its end */
};

/* id names it. 0, or -errno: -EAGAIN too many requests wait, -E2BIG. */
int child_runner_start(struct child_runner *r, uint64_t id, const struct child_program *program);

/* Can be read when a program that was to be reported has ended. */
int child_runner_fd(const struct child_runner *r);

/* The next that has ended, and how (as waitpid says). 0, -EAGAIN: no further one, -EPIPE: the runner is gone. */
int child_runner_ended(struct child_runner *r, uint64_t *id, int *status);

/* Kills it with all that it started, at once or (gently) if it does not end by itself within a second. */
void child_runner_stop(struct child_runner *r, uint64_t id, bool gently);

#endif
