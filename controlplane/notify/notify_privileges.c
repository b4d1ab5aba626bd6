/* SPDX-License-Identifier: BSD-3-Clause */
#include "notify/notify_privileges.h"

#include <errno.h>
#include <seccomp.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

static int calls_filter(void)
{
	static const int refused[] = {RIGHTS_REFUSED_CALLS(SCMP_SYS)};
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

int notify_state_dir(const char *path, const struct identity *id)
{
	struct stat st;
	int rc = mkdir(path, 0700) && errno != EEXIST ? -errno : 0;

	if (rc == 0 && (lstat(path, &st) || !S_ISDIR(st.st_mode)))
		rc = -ENOTDIR;
	if (rc == 0 && geteuid() == 0 && st.st_uid != id->uid && lchown(path, id->uid, id->gid))
		rc = -errno;
	if (rc)
		log_error("%s: %s", path, strerror(-rc));
	return rc;
}

int notify_privileges_drop(const struct identity *id)
{
	int rc = rights_become(id);

	if (rc == 0)
		rc = rights_keep(-1);
	if (rc == 0)
		rc = rights_seal();
	if (rc == 0)
		rc = calls_filter();
	if (rc)
		log_error("privileges: cannot be given up: %s", strerror(-rc));
	return rc;
}
