/* SPDX-License-Identifier: BSD-3-Clause */
/* The running store, read back. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "store/atomic_file.h"
#include "store/store_internal.h"

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

/* A log file, and where its whole records end; behind that is the end of a write that never finished. */
struct log_file {
	const char *path;
	char *data;
	size_t size;
};

static int log_read(const char *path, struct log_file *f)
{
	struct record r;
	size_t offset = 0;
	int rc = file_read(path, &f->data, &f->size);

	f->path = path;
	if (rc)
		return rc == -ENOENT ? 0 : rc;
	while ((rc = record_decode(f->data, f->size, &offset, &r)) == 0)
		;
	if (rc == -EBADMSG)
		log_warning(
			"store: %s: cut at byte %zu of %zu: the last change was not written whole",
			path, offset, f->size);
	f->size = offset;
	return 0;
}

static int log_record_load(struct store *s, struct model *m, const char *path,
	const struct record *r, struct model_error *err)
{
	int rc;

	if (r->seq <= s->seq) /* folded already, but the log was not cut before a crash */
		return 0;
	if (r->seq != s->seq + 1)
		return load_failed(err, path, "changes before this file's are missing");
	rc = store_note(s, r);
	if (rc == 0 && (r->type == RECORD_COMMIT || r->type == RECORD_LIVE))
		rc = model_load(m, r->text, r->length, path, LOAD_STORE | LOAD_MERGE, err);
	return rc;
}

static int log_load(
	struct store *s, struct model *m, const struct log_file *f, struct model_error *err)
{
	struct record r;
	size_t offset = 0;
	int rc = 0;

	s->log_records = 0;
	while (rc == 0 && record_decode(f->data, f->size, &offset, &r) == 0) {
		s->log_records++;
		rc = log_record_load(s, m, f->path, &r, err);
	}
	return rc;
}

/* In one transaction; the model takes each record's text as the commit that it was. */
static int logs_load(
	struct store *s, struct model *m, const struct log_file *f, struct model_error *err)
{
	int rc = model_begin(m, &store_actor);

	for (int i = 0; i < 2 && rc == 0; i++)
		rc = log_load(s, m, &f[i], err);
	if (rc == 0)
		rc = model_commit(m, NULL, err);
	if (rc)
		model_abort(m);
	return rc;
}

int store_load(struct store *s, struct model *m, struct model_error *err)
{
	struct log_file f[2] = {0};
	char *data = NULL;
	size_t size = 0;
	int rc = file_read(s->running, &data, &size);

	if (rc)
		return load_failed(err, s->running, strerror(-rc));
	rc = running_load(s, m, data, size, err);
	free(data);
	if (rc)
		return rc;
	rc = log_read(s->old_log, &f[0]);
	if (rc == 0)
		rc = log_read(s->log, &f[1]);
	if (rc)
		load_failed(err, f[1].path ? s->log : s->old_log, strerror(-rc));
	else if (f[0].size || f[1].size)
		rc = logs_load(s, m, f, err);
	if (rc == 0) {
		s->old_log_there = f[0].data != NULL;
		rc = store_log_open(s, f[1].size);
		if (rc)
			load_failed(err, s->log, strerror(-rc));
	}
	free(f[0].data);
	free(f[1].data);
	return rc;
}
