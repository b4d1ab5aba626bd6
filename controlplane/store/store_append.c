/* SPDX-License-Identifier: BSD-3-Clause */
/* The log of the running store. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "store/atomic_file.h"
#include "store/store_internal.h"

int store_log_open(struct store *s, size_t size)
{
	int fd = open(s->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)size) || fsync(fd)) {
		int rc = -errno;
		close(fd);
		return rc;
	}
	if (s->log_fd >= 0)
		close(s->log_fd);
	s->log_fd = fd;
	s->log_bytes = size;
	s->torn = false;
	return file_sync_folder(s->log);
}

/* Takes a half-written record away: it would hide all that come later. */
static int log_cut(struct store *s)
{
	if (!s->torn)
		return 0;
	if (ftruncate(s->log_fd, (off_t)s->log_bytes)) {
		int rc = -errno;
		log_error("store: %s: cannot be cut: %s", s->log, strerror(-rc));
		return rc;
	}
	s->torn = false;
	return 0;
}

int store_log_add(struct store *s, struct record *r, bool durable)
{
	size_t size;
	int rc = log_cut(s);

	if (rc)
		return rc;
	r->seq = s->seq + 1;
	r->time = store_now_ms();
	void *bytes = record_encode(r, &size);
	if (!bytes)
		return -ENOMEM;
	rc = file_write_all(s->log_fd, bytes, size);
	free(bytes);
	if (rc == 0 && durable && fdatasync(s->log_fd))
		rc = -errno;
	if (rc) {
		s->torn = true;
		log_cut(s);
		return rc;
	}
	s->log_bytes += size;
	s->log_records++;
	s->sync_due = !durable;
	rc = store_note(s, r);
	if (rc)
		log_error("store: count of unsaved changes: no memory");
	return 0;
}

static bool is_passing(const struct model_changes *changes)
{
	for (unsigned i = 0; i < changes->count; i++)
		if (!changes->row[i].ephemeral)
			return false;
	return true;
}

int store_append(struct store *s, const struct model *m, const struct model_changes *changes,
	const char *author, const char *address, const char *what)
{
	struct text text = {0};
	uint32_t *ids = NULL;
	int rc = -ENOMEM;
	struct record r = {
		.type = changes->config ? RECORD_COMMIT : RECORD_LIVE,
		.changes = changes->count,
		.generation = changes->generation,
		.author = author,
		.address = address,
		.what = what,
	};

	model_print_changes(m, changes, &text);
	if (is_passing(changes))
		r.type = RECORD_PASSING;
	if (!changes->config)
		ids = calloc(changes->count + 1, sizeof(*ids));
	for (unsigned i = 0; ids && i < changes->count; i++)
		ids[i] = changes->row[i].id;
	r.ids = ids;
	r.text = text.data;
	r.length = text.len;
	if (!text.failed && (ids || changes->config))
		rc = history_add(s, m, changes, &r);
	if (rc == 0) {
		rc = store_log_add(s, &r, changes->config);
		if (rc)
			history_cut(s);
		else
			history_taken(s);
	}
	free(ids);
	text_fini(&text);
	return rc;
}

void store_sync(struct store *s)
{
	if (!s->sync_due)
		return;
	if (fdatasync(s->log_fd))
		log_error("store: %s: flush: %s", s->log, strerror(errno));
	else
		s->sync_due = false;
}
