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

/* System calls that no daemon without privileges makes, for a filter of them: CALL(execve), ... */
#define RIGHTS_REFUSED_CALLS(CALL)                                                                 \
	CALL(execve), CALL(execveat), CALL(fork), CALL(vfork), CALL(ptrace),                       \
		CALL(process_vm_readv), CALL(process_vm_writev), CALL(mount), CALL(umount2),       \
		CALL(pivot_root), CALL(chroot), CALL(setns), CALL(unshare), CALL(bpf),             \
		CALL(perf_event_open), CALL(keyctl), CALL(add_key), CALL(request_key),             \
		CALL(init_module), CALL(finit_module), CALL(kexec_load), CALL(userfaultfd),        \
		CALL(io_uring_setup), CALL(listen), CALL(link), CALL(linkat), CALL(symlink),       \
		CALL(symlinkat), CALL(mknod), CALL(mknodat), CALL(chmod), CALL(fchmodat),          \
		CALL(chown)

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

#endif
