/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store_internal.h"

/* --- opening -------------------------------------------------------------------------------------- */

static int folder_lock(struct store *s, const char *folder, char *reason, size_t size)
{
	char *path;

	if (mkdir(folder, 0700) && errno != EEXIST) {
		snprintf(reason, size, "%s: cannot be made: %s", folder, strerror(errno));
		return -errno;
	}
	if (asprintf(&path, "%s/lock", folder) < 0)
		return -ENOMEM;
	s->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	free(path);
	if (s->lock_fd < 0 || flock(s->lock_fd, LOCK_EX | LOCK_NB)) {
		int rc = errno == EWOULDBLOCK ? -EBUSY : -errno;
		snprintf(reason, size, "%s: %s", folder,
			rc == -EBUSY ? "another weir-cp uses it" : strerror(errno));
		return rc;
	}
	return 0;
}

int store_open(const char *folder, struct store **out, char *reason, size_t size)
{
	struct store *s = calloc(1, sizeof(*s));
	int rc = -ENOMEM;

	snprintf(reason, size, "no memory");
	if (!s)
		return rc;
	s->lock_fd = s->log_fd = s->undo.fd = -1;
	if (asprintf(&s->running, "%s/running", folder) < 0)
		s->running = NULL;
	if (asprintf(&s->log, "%s/log", folder) < 0)
		s->log = NULL;
	if (asprintf(&s->old_log, "%s/log.old", folder) < 0)
		s->old_log = NULL;
	if (asprintf(&s->startup, "%s/startup", folder) < 0)
		s->startup = NULL;
	if (s->running && s->log && s->old_log && s->startup && !id_set_init(&s->unsaved) &&
		!history_init(&s->undo, folder))
		rc = folder_lock(s, folder, reason, size);
	if (rc == 0) {
		s->empty = access(s->running, F_OK) != 0;
		if (getrandom(&s->origin, sizeof(s->origin), 0) < 0)
			rc = -errno;
	}
	if (rc) {
		store_close(s);
		return rc;
	}
	*out = s;
	return 0;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	store_fold_stop(s);
	store_sync(s);
	if (s->log_fd >= 0)
		close(s->log_fd);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	free(s->running);
	free(s->log);
	free(s->old_log);
	free(s->startup);
	id_set_fini(&s->unsaved);
	history_fini(&s->undo);
	free(s);
}

bool store_is_empty(const struct store *s)
{
	return s->empty;
}
