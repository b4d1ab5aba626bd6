/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process that starts the scripts of external monitors, forked before weir-mon gives up its privileges. Each script
 * runs as its own user, in pid, mount and ipc namespaces of its own: it sees no other process, not the run directory, can
 * write to no file outside a small /tmp of its own, and whatever it has started ends with it.
 */
#ifndef WEIR_MONITOR_MON_RUNNER_H
#define WEIR_MONITOR_MON_RUNNER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define RUNNER_SCRIPTS_MAX 256u	       /* at once */
#define RUNNER_MESSAGE_MAX 65536u      /* bytes of arguments and environment */
#define RUNNER_MEMORY_MAX (512u << 20) /* address space of a script's process */
#define RUNNER_TMP "4m"		       /* of a script's own /tmp */

/* What stands in the output, with the reason behind it, if the script could not be started. */
#define RUNNER_REFUSAL "\0weir-mon-run"

struct mon_runner;

/* Forks it. hide: directory that scripts do not see. NULL with errno set. */
struct mon_runner *mon_runner_new(uid_t uid, gid_t gid, const char *hide);

/* Ends it and all scripts. NULL is accepted. */
void mon_runner_free(struct mon_runner *r);

/*
 * Starts a program: strings holds argc arguments (the path first) and then envc variables, each with its NUL, length bytes
 * in all. Its standard output is out, which stays the caller's to close. seconds: it is killed then.
 * id names it. 0, or -errno: -EAGAIN too many requests wait, -E2BIG.
 */
int mon_runner_start(struct mon_runner *r, uint64_t id, const char *strings, uint32_t length,
	unsigned argc, unsigned envc, unsigned seconds, int out);

/* Kills it with all that it started, at once or (gently) if it does not end by itself within a second. */
void mon_runner_stop(struct mon_runner *r, uint64_t id, bool gently);

#endif
