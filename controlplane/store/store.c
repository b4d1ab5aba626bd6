/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "store/atomic_file.h"
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
	s->lock_fd = s->log_fd = -1;
	s->unsaved_slots = calloc(ID_SLOTS_MAX / 64, sizeof(*s->unsaved_slots));
	if (asprintf(&s->running, "%s/running", folder) < 0)
		s->running = NULL;
	if (asprintf(&s->log, "%s/log", folder) < 0)
		s->log = NULL;
	if (asprintf(&s->startup, "%s/startup", folder) < 0)
		s->startup = NULL;
	if (s->running && s->log && s->startup && s->unsaved_slots)
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
	store_sync(s);
	if (s->log_fd >= 0)
		close(s->log_fd);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	free(s->running);
	free(s->log);
	free(s->startup);
	free(s->unsaved_ids);
	free(s->unsaved_slots);
	free(s);
}

bool store_is_empty(const struct store *s)
{
	return s->empty;
}

/* --- reading -------------------------------------------------------------------------------------- */

static int load_failed(struct model_error *err, const char *file, const char *reason)
{
	*err = (struct model_error){.code = -EBADMSG};
	snprintf(err->file, sizeof(err->file), "%s", file);
	snprintf(err->reason, sizeof(err->reason), "%s", reason);
	return -EBADMSG;
}

static const struct model_actor store_actor = {.class = HOLD_OPERATOR, .role = ROLE_ADMIN};

/* The file `running`: META, then FULL. */
static int running_load(
	struct store *s, struct model *m, const char *data, size_t size, struct model_error *err)
{
	struct record r;
	size_t offset = 0;

	if (record_decode(data, size, &offset, &r) || r.type != RECORD_META ||
		store_meta_load(s, r.text, r.length))
		return load_failed(err, s->running, "damaged");
	if (record_decode(data, size, &offset, &r) || r.type != RECORD_FULL)
		return load_failed(err, s->running, "damaged");
	s->seq = r.seq;
	s->running_bytes = size;
	int rc = model_begin(m, &store_actor);
	if (rc)
		return rc;
	rc = model_load(m, r.text, r.length, s->running, LOAD_STORE, err);
	if (rc == 0)
		rc = model_commit(m, NULL, err);
	if (rc)
		model_abort(m);
	return rc;
}

/* Where the whole records of the log end; what lies behind is the end of a write that never finished. */
static size_t log_good_size(const struct store *s, const char *data, size_t size)
{
	struct record r;
	size_t offset = 0;
	int rc;

	while ((rc = record_decode(data, size, &offset, &r)) == 0)
		;
	if (rc == -EBADMSG)
		log_warning(
			"store: %s: cut at byte %zu of %zu: the last change was not written whole",
			s->log, offset, size);
	return offset;
}

static int log_record_load(
	struct store *s, struct model *m, const struct record *r, struct model_error *err)
{
	int rc;

	s->log_records++;
	if (r->seq <= s->seq) /* folded already, but the log was not cut before a crash */
		return 0;
	rc = store_note(s, r);
	if (rc == 0 && (r->type == RECORD_COMMIT || r->type == RECORD_LIVE))
		rc = model_load(m, r->text, r->length, s->log, LOAD_STORE | LOAD_MERGE, err);
	return rc;
}

/* In one transaction; the model takes each text as the commit that it was. */
static int log_load(
	struct store *s, struct model *m, const char *data, size_t size, struct model_error *err)
{
	struct record r;
	size_t offset = 0;
	int rc = model_begin(m, &store_actor);

	while (rc == 0 && record_decode(data, size, &offset, &r) == 0)
		rc = log_record_load(s, m, &r, err);
	if (rc == 0)
		rc = model_commit(m, NULL, err);
	if (rc)
		model_abort(m);
	return rc;
}

static int log_open(struct store *s, size_t size)
{
	s->log_fd = open(s->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (s->log_fd < 0 || ftruncate(s->log_fd, (off_t)size) || fsync(s->log_fd))
		return -errno;
	s->log_bytes = size;
	return file_sync_folder(s->log);
}

int store_load(struct store *s, struct model *m, struct model_error *err)
{
	char *data = NULL;
	size_t size = 0;
	int rc = file_read(s->running, &data, &size);

	if (rc)
		return load_failed(err, s->running, strerror(-rc));
	rc = running_load(s, m, data, size, err);
	free(data);
	if (rc)
		return rc;
	data = NULL;
	rc = file_read(s->log, &data, &size);
	if (rc && rc != -ENOENT)
		return load_failed(err, s->log, strerror(-rc));
	size_t good = rc ? 0 : log_good_size(s, data, size);
	rc = good ? log_load(s, m, data, good, err) : 0;
	free(data);
	if (rc)
		return rc;
	rc = log_open(s, good);
	return rc ? load_failed(err, s->log, strerror(-rc)) : 0;
}

/* --- writing -------------------------------------------------------------------------------------- */

int store_log_add(struct store *s, struct record *r, bool durable)
{
	size_t size;
	int rc;

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
		/* A half-written record would hide all that come later. */
		if (ftruncate(s->log_fd, (off_t)s->log_bytes))
			log_error("store: %s: cannot be cut: %s", s->log, strerror(errno));
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

int store_append(struct store *s, const struct model *m, const struct model_changes *changes,
	const char *author, const char *what)
{
	struct text text = {0};
	uint32_t *ids = NULL;
	int rc = -ENOMEM;
	struct record r = {
		.type = changes->config ? RECORD_COMMIT : RECORD_LIVE,
		.changes = changes->count,
		.generation = changes->generation,
		.author = author,
		.what = what,
	};

	model_print_changes(m, changes, &text);
	if (!changes->config)
		ids = calloc(changes->count + 1, sizeof(*ids));
	for (unsigned i = 0; ids && i < changes->count; i++)
		ids[i] = changes->row[i].id;
	r.ids = ids;
	r.text = text.data;
	r.length = text.len;
	if (!text.failed && (ids || changes->config))
		rc = store_log_add(s, &r, changes->config);
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

bool store_fold_due(const struct store *s)
{
	return s->log_records > STORE_LOG_RECORDS_MAX ||
	       (s->log_bytes > STORE_LOG_BYTES_MAX && s->log_bytes > s->running_bytes);
}

static int running_write(struct store *s, const struct model *m)
{
	struct text text = {0};
	size_t meta_size = 0, full_size = 0;
	char *json = store_meta_dump(s), *meta = NULL, *full = NULL, *both = NULL;
	struct record r = {.type = RECORD_META,
		.seq = s->seq,
		.generation = model_generation(m),
		.time = store_now_ms(),
		.author = "",
		.what = "",
		.text = json,
		.length = json ? strlen(json) : 0};
	int rc = -ENOMEM;

	meta = json ? record_encode(&r, &meta_size) : NULL;
	model_print(m, PRINT_STORE, &text);
	r.type = RECORD_FULL;
	r.text = text.data;
	r.length = text.len;
	full = text.failed ? NULL : record_encode(&r, &full_size);
	if (meta && full)
		both = realloc(meta, meta_size + full_size);
	if (both) {
		meta = both;
		memcpy(both + meta_size, full, full_size);
		rc = file_replace(s->running, both, meta_size + full_size, 0600);
		s->running_bytes = meta_size + full_size;
	}
	free(json);
	free(meta);
	free(full);
	text_fini(&text);
	return rc;
}

int store_fold(struct store *s, const struct model *m)
{
	int rc = running_write(s, m);

	if (rc)
		return rc;
	s->empty = false;
	s->log_records = 0;
	s->sync_due = false;
	/* A crash before this leaves records that the new file contains: their seq says so. */
	if (s->log_fd < 0)
		return log_open(s, 0);
	if (ftruncate(s->log_fd, 0) || fdatasync(s->log_fd))
		return -errno;
	s->log_bytes = 0;
	return 0;
}
