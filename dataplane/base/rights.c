/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/rights.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"

int rights_user(const char *option, const char *name, struct identity *out)
{
	if (!name)
		return 0;
	errno = 0;
	const struct passwd *entry = getpwnam(name);
	if (!entry) {
		int err = errno;
		log_error("arguments: %s: there is no user %s%s%s", option, name, err ? ": " : "",
			err ? strerror(err) : "");
		return -ENOENT;
	}
	*out = (struct identity){entry->pw_uid, entry->pw_gid};
	return 0;
}

int rights_identity(const char *option, const char *name, struct identity *out)
{
	*out = (struct identity){geteuid(), getegid()};
	int rc = rights_user(option, name, out);

	if (rc == 0 && out->uid != geteuid() && geteuid() != 0) {
		log_error("arguments: %s: only root can become %s", option, name);
		rc = -EPERM;
	}
	return rc;
}

/* The C library carries these over to all threads. */
int rights_become(const struct identity *id)
{
	if (geteuid() != 0)
		return 0;
	return setgroups(0, NULL) || setresgid(id->gid, id->gid, id->gid) ||
			       setresuid(id->uid, id->uid, id->uid)
		       ? -errno
		       : 0;
}

int rights_keep(int capability)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct have[_LINUX_CAPABILITY_U32S_3] = {0};
	struct __user_cap_data_struct want[_LINUX_CAPABILITY_U32S_3] = {0};

	if (capability >= 0) {
		unsigned word = CAP_TO_INDEX((unsigned)capability);
		if (syscall(SYS_capget, &header, have))
			return -errno;
		want[word].permitted = have[word].permitted & CAP_TO_MASK((unsigned)capability);
		want[word].effective = want[word].permitted;
	}
	return syscall(SYS_capset, &header, want) ? -errno : 0;
}

/* The leak check at the end must read our memory. */
#ifdef WEIR_SANITIZE
#define DUMPABLE 1
#else
#define DUMPABLE 0
#endif

int rights_seal(void)
{
	static const struct rlimit no_core = {0, 0};

	return setrlimit(RLIMIT_CORE, &no_core) || prctl(PR_SET_DUMPABLE, DUMPABLE, 0, 0, 0) ||
			       prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		       ? -errno
		       : 0;
}

int rights_drop(const struct identity *id, int capability)
{
	bool kept = capability >= 0 && geteuid() == 0;
	int rc = kept && prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) ? -errno : rights_become(id);

	if (rc == 0)
		rc = rights_keep(capability);
	if (rc == 0)
		rc = rights_seal();
	if (rc)
		log_error("privileges: cannot be given up: %s", strerror(-rc));
	return rc;
}
