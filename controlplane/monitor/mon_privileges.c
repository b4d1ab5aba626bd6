/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/mon_privileges.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <seccomp.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"

int privileges_user(const char *name, uid_t *uid, gid_t *gid)
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

/* Nobody reads the passwords out of our memory. The leak check at the end must. */
#ifdef WEIR_SANITIZE
#define DUMPABLE 1
#else
#define DUMPABLE 0
#endif

static int become(uid_t uid, gid_t gid)
{
	if (geteuid() != 0)
		return 0;
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setgroups(0, NULL) || setresgid(gid, gid, gid) ||
		setresuid(uid, uid, uid))
		return -errno;
	return 0;
}

static int capabilities_drop(void)
{
	static const cap_value_t keep[] = {CAP_NET_RAW};
	cap_flag_value_t have = CAP_CLEAR;
	cap_t now = cap_get_proc(), fresh = cap_init();
	int rc = -ENOMEM;

	if (now && fresh) {
		cap_get_flag(now, CAP_NET_RAW, CAP_PERMITTED, &have);
		if (have == CAP_SET) {
			cap_set_flag(fresh, CAP_PERMITTED, 1, keep, CAP_SET);
			cap_set_flag(fresh, CAP_EFFECTIVE, 1, keep, CAP_SET);
		}
		rc = cap_set_proc(fresh) ? -errno : 0;
	}
	cap_free(now);
	cap_free(fresh);
	return rc;
}

/* What a monitor never does, whatever a server makes of it. The sanitizers' end needs some of these. */
static int calls_filter(void)
{
	static const int refused[] = {SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(fork),
		SCMP_SYS(vfork), SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv),
		SCMP_SYS(process_vm_writev), SCMP_SYS(mount), SCMP_SYS(umount2),
		SCMP_SYS(pivot_root), SCMP_SYS(chroot), SCMP_SYS(setns), SCMP_SYS(unshare),
		SCMP_SYS(bpf), SCMP_SYS(perf_event_open), SCMP_SYS(keyctl), SCMP_SYS(add_key),
		SCMP_SYS(request_key), SCMP_SYS(init_module), SCMP_SYS(finit_module),
		SCMP_SYS(kexec_load), SCMP_SYS(userfaultfd), SCMP_SYS(io_uring_setup),
		SCMP_SYS(listen), SCMP_SYS(link), SCMP_SYS(linkat), SCMP_SYS(symlink),
		SCMP_SYS(mknod), SCMP_SYS(chmod), SCMP_SYS(fchmodat), SCMP_SYS(chown)};
	scmp_filter_ctx filter = NULL;
	int rc = 0;

#ifdef WEIR_SANITIZE
	return 0;
#endif
	filter = seccomp_init(SCMP_ACT_ALLOW);
	if (!filter)
		return -ENOMEM;
	for (size_t i = 0; rc == 0 && i < sizeof(refused) / sizeof(*refused); i++)
		rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), refused[i], 0);
	if (rc == 0)
		rc = seccomp_load(filter);
	seccomp_release(filter);
	return rc;
}

int privileges_drop(uid_t uid, gid_t gid)
{
	static const struct rlimit no_core = {0, 0};
	int rc = become(uid, gid);

	if (rc == 0)
		rc = capabilities_drop();
	if (rc == 0 &&
		(setrlimit(RLIMIT_CORE, &no_core) || prctl(PR_SET_DUMPABLE, DUMPABLE, 0, 0, 0) ||
			prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)))
		rc = -errno;
	if (rc == 0)
		rc = calls_filter();
	if (rc)
		log_error("privileges: cannot be given up: %s", strerror(-rc));
	return rc;
}
