/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a daemon gives up what it needs no more. Capabilities belong to a thread: call before others are started, or
 * in each.
 */
#ifndef WEIR_BASE_RIGHTS_H
#define WEIR_BASE_RIGHTS_H

#include <sys/types.h>

struct identity {
	uid_t uid;
	gid_t gid;
};

/* Looks up the user whom an option of the command line names; NULL: *out stays. 0 or -errno, logged. */
int rights_user(const char *option, const char *name, struct identity *out);

/* The same of the one that the process is to become; NULL: the one it has. Only root can be another. */
int rights_identity(const char *option, const char *name, struct identity *out);

/* Root becomes it, without further groups; all threads. 0 or -errno. */
int rights_become(const struct identity *id);

/* Keeps one capability, if it has it (-1: none), of this thread. May be called by a signal handler. 0 or -errno. */
int rights_keep(int capability);

/* No core, nobody reads our memory, no program that is started gets more rights than we have. 0 or -errno. */
int rights_seal(void);

/* All three, in this order: becomes it, keeps one capability (-1: none). 0 or -errno, logged. */
int rights_drop(const struct identity *id, int capability);

#endif
