/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_FILES_FILES_INTERNAL_H
#define WEIR_FILES_FILES_INTERNAL_H

#include <pthread.h>
#include <sys/types.h>

#include "files/files.h"

struct files {
	pthread_mutex_t lock; /* one change at a time: quotas are counted and kept under it */
	struct files_limits limits;
	char *dir;
};

/* What an area holds, unfinished files too. */
struct area_use {
	uint64_t bytes;
	unsigned files;
};

int files_refuse(int rc, char reason[FILES_REASON_MAX], const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A descriptor of the user's folder; make: it is made if it is missing. */
int area_open(struct files *f, const char *user, bool make, char reason[FILES_REASON_MAX]);

/* A regular file in it that is no link, and its size. */
int area_file(int area, const char *name, int flags, uint64_t *size);

/* Counts, and removes what was begun a day ago and never finished. */
int area_use(int area, struct area_use *use);

/* Whether so many more bytes fit, and a file more if the name is new. Under the lock. */
int files_room(
	struct files *f, int area, const char *name, uint64_t more, char reason[FILES_REASON_MAX]);

#endif
