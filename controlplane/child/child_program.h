/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_CHILD_CHILD_PROGRAM_H
#define WEIR_CHILD_CHILD_PROGRAM_H

#include <sys/types.h>

#define CHILD_PROGRAM_FD 3
#define CHILD_PROGRAM_PATH "/proc/self/fd/3"

struct child_limits {
	uid_t uid;
	gid_t gid;
	const char *hide; /* directory that it does not see */
	unsigned seconds; /* of processor time, at most one more */
};

struct child_descriptors {
	int out, in; /* in -1: nothing to read */
	int program; /* what is executed, or -1: argv[0] */
};

/* Tells why there is no program, where its output would have gone. */
void child_refuse(int out, const char *reason);

/* In the program's own process, in namespaces of its own; never returns. */
void child_exec(const struct child_limits *limits, const struct child_descriptors *fd, char **argv,
	char **envp) __attribute__((noreturn));

#endif
