/* SPDX-License-Identifier: BSD-3-Clause */
#include "main/mgmt_privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

int mgmt_privileges_user(const char *name, uid_t *uid, gid_t *gid)
{
	struct passwd *entry = name ? getpwnam(name) : NULL;

	*uid = entry ? entry->pw_uid : geteuid();
	*gid = entry ? entry->pw_gid : getegid();
	if (name && !entry) {
		log_error("arguments: --user: there is no user %s", name);
		return -ENOENT;
	}
	if (*uid != geteuid() && geteuid() != 0) {
		log_error("arguments: --user: only root can become %s", name);
		return -EPERM;
	}
	return 0;
}

int mgmt_privileges_directory(const char *path, uid_t uid, gid_t gid)
{
	int rc = 0;

	if (mkdir(path, 0700)) {
		if (errno == EEXIST)
			return 0;
		rc = -errno;
	} else if (geteuid() == 0 && chown(path, uid, gid)) {
		rc = -errno;
		rmdir(path);
	}
	if (rc)
		log_error("%s: cannot be made: %s", path, strerror(-rc));
	return rc;
}

/* Nobody reads keys and passwords out of our memory. The leak check at the end must. */
#ifdef WEIR_SANITIZE
#define DUMPABLE 1
#else
#define DUMPABLE 0
#endif

static int capabilities_drop(void)
{
	cap_t none = cap_init();
	int rc = none ? 0 : -ENOMEM;

	if (rc == 0 && cap_set_proc(none))
		rc = -errno;
	cap_free(none);
	return rc;
}

int mgmt_privileges_drop(uid_t uid, gid_t gid)
{
	static const struct rlimit no_core = {0, 0};
	int rc = 0;

	if (geteuid() == 0 &&
		(setgroups(0, NULL) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid)))
		rc = -errno;
	if (rc == 0)
		rc = capabilities_drop();
	if (rc == 0 &&
		(setrlimit(RLIMIT_CORE, &no_core) || prctl(PR_SET_DUMPABLE, DUMPABLE, 0, 0, 0) ||
			prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)))
		rc = -errno;
	if (rc)
		log_error("privileges: cannot be given up: %s", strerror(-rc));
	return rc;
}

static int rules_add(scmp_filter_ctx filter)
{
	static const int refused[] = {SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(fork),
		SCMP_SYS(vfork), SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv),
		SCMP_SYS(process_vm_writev), SCMP_SYS(mount), SCMP_SYS(umount2),
		SCMP_SYS(pivot_root), SCMP_SYS(chroot), SCMP_SYS(setns), SCMP_SYS(unshare),
		SCMP_SYS(bpf), SCMP_SYS(perf_event_open), SCMP_SYS(keyctl), SCMP_SYS(add_key),
		SCMP_SYS(request_key), SCMP_SYS(init_module), SCMP_SYS(finit_module),
		SCMP_SYS(kexec_load), SCMP_SYS(userfaultfd), SCMP_SYS(io_uring_setup),
		SCMP_SYS(bind), SCMP_SYS(listen), SCMP_SYS(link), SCMP_SYS(linkat),
		SCMP_SYS(symlink), SCMP_SYS(symlinkat), SCMP_SYS(mknod), SCMP_SYS(mknodat),
		SCMP_SYS(chmod), SCMP_SYS(fchmodat), SCMP_SYS(chown)};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(refused) / sizeof(*refused); i++)
		rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), refused[i], 0);
	if (rc == 0)
		rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 1,
			SCMP_A0(SCMP_CMP_NE, AF_UNIX));
	/* Threads, not processes; clone3 hides its flags, libc then takes clone. */
	if (rc == 0)
		rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
			SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
	if (rc == 0)
		rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	return rc;
}

int mgmt_privileges_lock(void)
{
	scmp_filter_ctx filter = NULL;
	int rc = -ENOMEM;

#ifdef WEIR_SANITIZE
	return 0; /* its end needs some of these */
#endif
	filter = seccomp_init(SCMP_ACT_ALLOW);
	if (filter)
		rc = rules_add(filter);
	if (rc == 0)
		rc = seccomp_load(filter);
	seccomp_release(filter);
	if (rc)
		log_error("privileges: cannot be given up: %s", strerror(-rc));
	return rc;
}
