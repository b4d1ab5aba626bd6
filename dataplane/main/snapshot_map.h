/* SPDX-License-Identifier: BSD-3-Clause */
/* A received snapshot descriptor becomes a checked, read-only buffer that nobody can change any more. */
#ifndef WEIR_MAIN_SNAPSHOT_MAP_H
#define WEIR_MAIN_SNAPSHOT_MAP_H

#include <stddef.h>

#include "api/snapshot.h"

/* fd stays the caller's. 0, or -errno with a sentence in reason. */
int snapshot_map(
	int fd, const struct snap_header **out, size_t *length, char *reason, size_t reason_size);
void snapshot_unmap(const struct snap_header *snap, size_t length);

#endif
