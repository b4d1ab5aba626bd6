/* SPDX-License-Identifier: BSD-3-Clause */
/* The running store, read back. */
#include <errno.h>
#include <stdio.h>
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

/* A log file, and where its whole records end. */
struct log_file {
	const char *path;
	char *data;
	size_t size;
};

/* Whether a whole record stands somewhere behind offset. */
static bool log_goes_on(const struct log_file *f, size_t offset)
{
	struct record r;
	size_t at;

	for (offset += 8; offset < f->size; offset += 8)
		if (at = offset, record_decode(f->data, f->size, &at, &r) == 0)
			return true;
	return false;
}

/*
 * What lies behind the whole records is the end of a write that never finished: nobody was told that it
 * was done. But if more records follow, the disk has lost something: then the file is kept for people.
 */
static void log_end_tell(const struct log_file *f, size_t offset)
{
	char *kept;

	if (!log_goes_on(f, offset)) {
		log_warning(
			"store: %s: cut at byte %zu of %zu: the last change was not written whole",
			f->path, offset, f->size);
		return;
	}
	if (asprintf(&kept, "%s.damaged", f->path) < 0)
		return;
	int rc = file_replace(kept, f->data, f->size, 0600);
	log_error("store: %s: damaged at byte %zu of %zu: the changes behind are lost; %s: %s",
		f->path, offset, f->size, kept, rc ? strerror(-rc) : "keeps the file as it was");
	free(kept);
}

static int log_read(const char *path, struct log_file *f, bool tell)
{
	struct record r;
	size_t offset = 0;
	int rc = file_read(path, &f->data, &f->size);

	f->path = path;
	if (rc)
		return rc == -ENOENT ? 0 : rc;
	while ((rc = record_decode(f->data, f->size, &offset, &r)) == 0)
		;
	if (rc == -EBADMSG && tell)
		log_end_tell(f, offset);
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
	if (rc == 0 &&
		(r->type == RECORD_COMMIT || r->type == RECORD_LIVE || r->type == RECORD_PASSING))
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

/* All files into a fresh model; f: the logs' content, to be freed in any case. */
static int files_load(
	struct store *s, struct model *m, struct log_file f[2], bool tell, struct model_error *err)
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
	rc = log_read(s->old_log, &f[0], tell);
	if (rc == 0)
		rc = log_read(s->log, &f[1], tell);
	if (rc)
		return load_failed(err, f[1].path ? s->log : s->old_log, strerror(-rc));
	return f[0].size || f[1].size ? logs_load(s, m, f, err) : 0;
}

int store_load(struct store *s, struct model *m, struct model_error *err)
{
	struct log_file f[2] = {0};
	int rc = files_load(s, m, f, true, err);

	if (rc == 0) {
		s->old_log_there = f[0].data != NULL;
		rc = store_log_open(s, f[1].size);
		if (rc)
			load_failed(err, s->log, strerror(-rc));
		else
			history_load(s);
	}
	free(f[0].data);
	free(f[1].data);
	return rc;
}

int store_reload(const struct store *s, struct model *m, struct model_error *err)
{
	/* What the files say beside the configuration is known: it goes into a store that nobody sees. */
	struct store *aside = calloc(1, sizeof(*aside));
	struct log_file f[2] = {0};
	int rc = -ENOMEM;

	if (aside && !id_set_init(&aside->unsaved)) {
		aside->running = s->running;
		aside->log = s->log;
		aside->old_log = s->old_log;
		rc = files_load(aside, m, f, false, err);
		id_set_fini(&aside->unsaved);
	} else {
		load_failed(err, s->running, strerror(ENOMEM));
	}
	free(f[0].data);
	free(f[1].data);
	free(aside);
	return rc;
}
