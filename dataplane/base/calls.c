/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/calls.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "base/log.h"

#define COUNT(of) (sizeof(of) / sizeof(*(of)))

static const int always[] = {SCMP_SYS(fork), SCMP_SYS(vfork), SCMP_SYS(ptrace),
	SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(mount), SCMP_SYS(umount2),
	SCMP_SYS(pivot_root), SCMP_SYS(chroot), SCMP_SYS(setns), SCMP_SYS(unshare), SCMP_SYS(bpf),
	SCMP_SYS(perf_event_open), SCMP_SYS(keyctl), SCMP_SYS(add_key), SCMP_SYS(request_key),
	SCMP_SYS(init_module), SCMP_SYS(finit_module), SCMP_SYS(kexec_load), SCMP_SYS(userfaultfd),
	SCMP_SYS(io_uring_setup), SCMP_SYS(link), SCMP_SYS(linkat), SCMP_SYS(symlink),
	SCMP_SYS(symlinkat), SCMP_SYS(mknod), SCMP_SYS(mknodat)};
static const int own[] = {SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(listen), SCMP_SYS(chmod),
	SCMP_SYS(fchmodat), SCMP_SYS(chown)};

static int list_refuse(scmp_filter_ctx filter, const int *calls, size_t count)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), calls[i], 0);
	return rc;
}

/* clone3 hides its flags: libc then takes clone. */
static int processes_refuse(scmp_filter_ctx filter)
{
	int rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
		SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));

	return rc ? rc : seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

static int remote_refuse(scmp_filter_ctx filter)
{
	int rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(bind), 0);

	return rc ? rc
		  : seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 1,
			    SCMP_A0(SCMP_CMP_NE, AF_UNIX, 0));
}

int calls_refuse(unsigned what)
{
	scmp_filter_ctx filter = NULL;
	int rc = -ENOMEM;

#ifdef WEIR_SANITIZE
	if (what & CALLS_OWN)
		return 0;
#endif
	filter = seccomp_init(SCMP_ACT_ALLOW);
	if (filter)
		rc = list_refuse(filter, always, COUNT(always));
	if (rc == 0 && what & CALLS_OWN)
		rc = list_refuse(filter, own, COUNT(own));
	if (rc == 0 && what & CALLS_PROCESSES)
		rc = processes_refuse(filter);
	if (rc == 0 && what & CALLS_REMOTE)
		rc = remote_refuse(filter);
	if (rc == 0)
		rc = seccomp_load(filter);
	seccomp_release(filter);
	if (rc)
		log_error("privileges: filter of system calls: %s", strerror(-rc));
	return rc;
}
