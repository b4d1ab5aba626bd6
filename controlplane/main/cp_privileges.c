/* SPDX-License-Identifier: BSD-3-Clause */
#include "main/cp_privileges.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/log.h"
#include "base/rights.h"

int privileges_drop(void)
{
	/* The bounding set first: that needs CAP_SETPCAP. Without it there is little to drop. */
	for (int c = 0; prctl(PR_CAPBSET_READ, c, 0, 0, 0) >= 0; c++)
		if (c != CAP_NET_ADMIN)
			prctl(PR_CAPBSET_DROP, c, 0, 0, 0);
	int rc = rights_keep(CAP_NET_ADMIN);

	if (rc == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		rc = -errno;
	if (rc)
		log_error("privileges: cannot be given up: %s", strerror(-rc));
	return rc;
}
