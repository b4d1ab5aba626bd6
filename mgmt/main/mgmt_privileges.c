/* SPDX-License-Identifier: BSD-3-Clause */
#include "main/mgmt_privileges.h"

#include <errno.h>
#include <string.h>
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
