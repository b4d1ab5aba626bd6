/* SPDX-License-Identifier: BSD-3-Clause */
#include "main/mgmt_privileges.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

int mgmt_privileges_directory(const char *path, const struct identity *id)
{
	int rc = 0;

	if (mkdir(path, 0700)) {
		if (errno == EEXIST)
			return 0;
		rc = -errno;
	} else if (geteuid() == 0 && chown(path, id->uid, id->gid)) {
		rc = -errno;
		rmdir(path);
	}
	if (rc)
		log_error("%s: cannot be made: %s", path, strerror(-rc));
	return rc;
}

int mgmt_privileges_drop(const struct identity *id)
{
	int rc = rights_become(id);

	if (rc == 0)
		rc = rights_keep(-1);
	if (rc == 0)
		rc = rights_seal();
	if (rc)
		log_error("privileges: cannot be given up: %s", strerror(-rc));
	return rc;
}

static int rules_add(scmp_filter_ctx filter)
{
	static const int refused[] = {RIGHTS_REFUSED_CALLS(SCMP_SYS), SCMP_SYS(bind)};
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
