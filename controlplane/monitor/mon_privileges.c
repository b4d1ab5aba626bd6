/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/mon_privileges.h"

#include <errno.h>
#include <linux/capability.h>
#include <seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/log.h"

/* What a monitor never does, whatever a server makes of it. The sanitizers' end needs some of these. */
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

int privileges_drop(const struct identity *id)
{
	int rc = geteuid() == 0 && prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) ? -errno : 0;

	if (rc == 0)
		rc = rights_become(id);
	if (rc == 0)
		rc = rights_keep(CAP_NET_RAW);
	if (rc == 0)
		rc = rights_seal();
	if (rc == 0)
		rc = calls_filter();
	if (rc)
		log_error("privileges: cannot be given up: %s", strerror(-rc));
	return rc;
}
