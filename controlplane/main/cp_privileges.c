/* SPDX-License-Identifier: BSD-3-Clause */
#include "main/cp_privileges.h"

#include <errno.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>

#include "base/log.h"

int privileges_drop(void)
{
	static const cap_value_t keep[] = {CAP_NET_ADMIN};
	cap_flag_value_t have = CAP_CLEAR;
	cap_t now = cap_get_proc(), fresh = cap_init();
	int rc = -ENOMEM;

	if (now && fresh) {
		/* The bounding set first: that needs CAP_SETPCAP. Without it there is little to drop. */
		for (cap_value_t c = 0; cap_get_bound(c) >= 0; c++)
			if (c != CAP_NET_ADMIN)
				cap_drop_bound(c);
		cap_get_flag(now, CAP_NET_ADMIN, CAP_PERMITTED, &have);
		if (have == CAP_SET) {
			cap_set_flag(fresh, CAP_PERMITTED, 1, keep, CAP_SET);
			cap_set_flag(fresh, CAP_EFFECTIVE, 1, keep, CAP_SET);
		}
		rc = cap_set_proc(fresh) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;
	}
	if (rc)
		log_error("privileges: cannot be given up: %s", strerror(-rc));
	cap_free(now);
	cap_free(fresh);
	return rc;
}
