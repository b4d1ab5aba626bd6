/* SPDX-License-Identifier: BSD-3-Clause */
#include "main/snapshot_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define SEALS_NEEDED (F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static int refuse(int err, char *reason, size_t size, const char *what)
{
	snprintf(reason, size, "snapshot: %s", what);
	return err;
}

int snapshot_map(
	int fd, const struct snap_header **out, size_t *length, char *reason, size_t reason_size)
{
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0)
		return refuse(-EINVAL, reason, reason_size, "descriptor is no memory file");
	if ((seals & SEALS_NEEDED) != SEALS_NEEDED)
		return refuse(-EINVAL, reason, reason_size, "descriptor lacks a seal");
	if (fstat(fd, &st) < 0)
		return refuse(-errno, reason, reason_size, strerror(errno));
	if ((uint64_t)st.st_size < sizeof(struct snap_header))
		return refuse(-EINVAL, reason, reason_size, "file is shorter than its header");
	if ((uint64_t)st.st_size > SNAP_LENGTH_MAX)
		return refuse(-EFBIG, reason, reason_size, "file is too long");
	/* Private: before Linux 6.7 a file sealed against writing has no shared mappings at all. */
	void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (map == MAP_FAILED)
		return refuse(-errno, reason, reason_size, strerror(errno));
	if (snapshot_check(map, (size_t)st.st_size, reason, reason_size) < 0) {
		munmap(map, (size_t)st.st_size);
		return -EINVAL;
	}
	*out = map;
	*length = (size_t)st.st_size;
	return 0;
}

void snapshot_unmap(const struct snap_header *snap, size_t length)
{
	munmap((void *)(uintptr_t)snap, length);
}
