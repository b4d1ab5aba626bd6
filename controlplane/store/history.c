/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The history: for each commit what it changed, and the changed objects as they were before. A file of records like
 * the log, whose text is NUL-terminated pieces: the difference, then for each object the full words of its kind, its
 * path and its statement before ("": it was not there). What happened to live fields alone has records of its own, one
 * per object and generation.
 *
 * A record is written before that of the log which it takes back, so none is missing after a crash; one whose commit
 * never came is cut off when the store is read. When the file has grown it becomes history.old.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "store/atomic_file.h"
#include "store/difference.h"
#include "store/store_internal.h"

#define DIFFERENCE_LINES 2000u

int history_init(struct history *h, const char *folder)
{
	h->rows_max = STORE_UNDO_RECORDS_MAX;
	if (asprintf(&h->path, "%s/history", folder) < 0)
		h->path = NULL;
	if (asprintf(&h->old_path, "%s/history.old", folder) < 0)
		h->old_path = NULL;
	return h->path && h->old_path ? id_set_init(&h->live) : -ENOMEM;
}

void history_fini(struct history *h)
{
	if (h->fd >= 0)
		close(h->fd);
	free(h->path);
	free(h->old_path);
	free(h->row);
	id_set_fini(&h->live);
}

/* --- writing -------------------------------------------------------------------------------------- */

static int history_open(struct history *h, uint64_t bytes)
{
	int fd = open(h->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)bytes)) {
		int rc = -errno;
		close(fd);
		return rc;
	}
	if (h->fd >= 0)
		close(h->fd);
	h->fd = fd;
	h->bytes = bytes;
	h->torn = false;
	return file_sync_folder(h->path);
}

/* Takes a half-written record away: it would hide all that come later. */
static int torn_cut(struct history *h)
{
	if (!h->torn)
		return 0;
	if (ftruncate(h->fd, (off_t)h->bytes))
		return -errno;
	h->torn = false;
	return 0;
}

static int row_add(struct history *h, const struct history_row *row)
{
	if (h->count == h->size) {
		unsigned size = h->size ? 2 * h->size : 64;
		struct history_row *more = reallocarray(h->row, size, sizeof(*more));
		if (!more)
			return -ENOMEM;
		h->row = more;
		h->size = size;
	}
	h->row[h->count++] = *row;
	return 0;
}

/* Begins a new file when this one has its share; what is older than both goes. */
static void history_rotate(struct history *h)
{
	unsigned fresh = h->count - h->old_count;

	if (fresh < h->rows_max && h->bytes < STORE_UNDO_BYTES_MAX)
		return;
	if (rename(h->path, h->old_path)) {
		log_error("store: %s: cannot be renamed: %s", h->path, strerror(errno));
		return;
	}
	memmove(h->row, h->row + h->old_count, fresh * sizeof(*h->row));
	h->count = h->old_count = fresh;
	int rc = history_open(h, 0);
	if (rc)
		log_error("store: %s: cannot be made: %s", h->path, strerror(-rc));
}

static int record_write(struct history *h, const struct record *r, bool durable)
{
	size_t size;
	void *bytes = record_encode(r, &size);
	struct history_row row = {.generation = r->generation, .offset = h->bytes, .size = size};
	int rc = bytes ? torn_cut(h) : -ENOMEM;

	if (rc == 0) {
		rc = file_write_all(h->fd, bytes, size);
		if (rc == 0 && durable && fdatasync(h->fd))
			rc = -errno;
		if (rc == 0 && r->type == RECORD_UNDO)
			rc = row_add(h, &row);
		h->torn = rc != 0;
	}
	free(bytes);
	if (rc == 0)
		h->bytes += size;
	return rc;
}

/* --- what a commit changed ------------------------------------------------------------------------ */

static void difference_make(
	const struct model *m, const struct model_changes *changes, struct text *out)
{
	unsigned left = DIFFERENCE_LINES, more = 0;

	for (unsigned i = 0; i < changes->count && left; i++) {
		const struct model_change *c = &changes->row[i];
		struct text after = {0};

		if (c->what != CHANGE_DELETED)
			model_print_state(m, c->id, &after);
		difference_object(c->before ? c->before : "", after.data ? after.data : "", &left,
			&more, out);
		text_fini(&after);
		if (!left && i + 1 < changes->count)
			text_printf(out, "and %u objects more\n", changes->count - i - 1);
	}
	if (more)
		text_printf(out, "and %u lines more of the last object\n", more);
}

static bool is_recorded(const struct history *h, const struct model_changes *changes, unsigned i)
{
	const struct model_change *c = &changes->row[i];

	/* Name resolution makes its objects again. */
	if (c->ephemeral && !c->before)
		return false;
	return changes->config || !id_set_has(&h->live, c->id);
}

static void piece_add(struct text *t, const char *piece)
{
	text_add(t, piece, strlen(piece) + 1);
}

/* Text of a record; ids: of the objects in it. Their number. */
static unsigned pieces_make(const struct history *h, const struct model *m,
	const struct model_changes *changes, struct text *out, uint32_t *ids)
{
	unsigned count = 0;

	if (changes->config)
		difference_make(m, changes, out);
	text_add(out, "", 1);
	for (unsigned i = 0; i < changes->count; i++) {
		const struct model_change *c = &changes->row[i];

		if (!is_recorded(h, changes, i))
			continue;
		piece_add(out, model_kinds[c->kind].full);
		piece_add(out, c->path);
		piece_add(out, c->before ? c->before : "");
		ids[count++] = c->id;
	}
	return count;
}

static int live_note(struct history *h, const struct record *r)
{
	int rc = 0;

	if (r->type == RECORD_UNDO)
		id_set_clear(&h->live);
	for (uint32_t i = 0; rc == 0 && r->ids && i < r->changes; i++)
		rc = id_set_add(&h->live, r->ids[i]);
	return rc;
}

int history_add(struct store *s, const struct model *m, const struct model_changes *changes,
	const struct record *of)
{
	struct history *h = &s->undo;
	struct text text = {0};
	uint32_t *ids = calloc(changes->count + 1, sizeof(*ids));
	struct record r = *of;
	int rc = ids ? 0 : -ENOMEM;

	r.seq = s->seq + 1;
	r.time = store_now_ms();
	r.type = changes->config ? RECORD_UNDO : RECORD_UNDO_LIVE;
	h->before = h->bytes;
	if (rc == 0)
		r.changes = pieces_make(h, m, changes, &text, ids);
	r.ids = changes->config ? NULL : ids;
	r.text = text.data;
	r.length = text.len;
	if (rc == 0 && h->fd < 0)
		rc = history_open(h, h->bytes);
	if (rc == 0 && r.changes)
		rc = text.failed ? -ENOMEM : record_write(h, &r, changes->config);
	if (rc == 0 && r.changes)
		rc = live_note(h, &r);
	free(ids);
	text_fini(&text);
	return rc;
}

void history_taken(struct store *s)
{
	history_rotate(&s->undo);
}

void history_cut(struct store *s)
{
	struct history *h = &s->undo;

	if (h->bytes == h->before)
		return;
	if (h->count && h->row[h->count - 1].offset == h->before && h->count > h->old_count)
		h->count--;
	h->bytes = h->before;
	h->torn = true;
	id_set_clear(&h->live); /* at worst something is in there twice */
	if (torn_cut(h))
		log_error("store: %s: cannot be cut", h->path);
}

/* --- reading -------------------------------------------------------------------------------------- */

static void history_drop(struct history *h)
{
	if ((unlink(h->path) && errno != ENOENT) || (unlink(h->old_path) && errno != ENOENT))
		log_error("store: %s: cannot be removed: %s", h->path, strerror(errno));
	if (h->fd >= 0)
		close(h->fd);
	h->fd = -1;
	h->bytes = 0;
	h->count = h->old_count = 0;
	id_set_clear(&h->live);
}

void history_forget(struct store *s)
{
	history_drop(&s->undo);
}

/* Where its whole records end that belong to commits of the store; 0: it is not there. */
static int file_index(struct store *s, const char *path, uint64_t *end)
{
	char *data = NULL;
	size_t size = 0, offset = 0, at;
	struct record r;
	int rc = file_read(path, &data, &size);

	*end = 0;
	if (rc)
		return rc == -ENOENT ? 0 : rc;
	while (rc == 0 && (at = offset, record_decode(data, size, &offset, &r) == 0)) {
		if (r.seq > s->seq)
			break;
		*end = offset;
		if (r.type == RECORD_UNDO)
			rc = row_add(
				&s->undo, &(struct history_row){r.generation, at, offset - at});
		if (rc == 0)
			rc = live_note(&s->undo, &r);
	}
	free(data);
	return rc;
}

/* Generation of the newest commit that people made, as far as they are remembered; 0: none is. */
static uint64_t newest_commit(const struct store *s)
{
	const struct store_commit *c;
	uint64_t newest = 0;

	for (unsigned i = 0; (c = store_commit_at(s, i)); i++)
		if (c->config && !c->passing && c->generation > newest)
			newest = c->generation;
	return newest;
}

void history_load(struct store *s)
{
	struct history *h = &s->undo;
	uint64_t end, newest = newest_commit(s);
	int rc = file_index(s, h->old_path, &end);

	h->old_count = h->count;
	if (rc == 0)
		rc = file_index(s, h->path, &end);
	if (rc == 0 && h->count && h->row[h->count - 1].generation < newest)
		rc = -EBADMSG;
	if (rc == 0 && !h->count && newest)
		history_drop(h);
	else if (rc == 0 && end)
		rc = history_open(h, end);
	if (rc == 0)
		return;
	log_error("store: %s: %s: commits before this start cannot be taken back", h->path,
		rc == -EBADMSG ? "does not reach to the newest commit" : strerror(-rc));
	history_drop(h);
}

/* --- asking --------------------------------------------------------------------------------------- */

uint64_t store_history_floor(const struct store *s, const struct model *m)
{
	return s->undo.count ? s->undo.row[0].generation - 1 : model_generation(m);
}

static const struct history_row *row_find(const struct history *h, uint64_t generation)
{
	unsigned low = 0, high = h->count;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (h->row[middle].generation < generation)
			low = middle + 1;
		else
			high = middle;
	}
	return low < h->count && h->row[low].generation == generation ? &h->row[low] : NULL;
}

static int bytes_read(const char *path, void *bytes, size_t size, uint64_t offset)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;

	if (fd < 0)
		return -errno;
	ssize_t n = pread(fd, bytes, size, (off_t)offset);
	if (n < 0)
		rc = -errno;
	else if ((size_t)n != size)
		rc = -EBADMSG;
	close(fd);
	return rc;
}

int store_history_difference(const struct store *s, uint64_t generation, struct text *out)
{
	const struct history *h = &s->undo;
	const struct history_row *row = row_find(h, generation);
	char *bytes = row ? malloc(row->size) : NULL;
	size_t offset = 0;
	struct record r;

	if (!bytes)
		return row ? -ENOMEM : -ENOENT;
	int rc = bytes_read(
		row < h->row + h->old_count ? h->old_path : h->path, bytes, row->size, row->offset);
	if (rc == 0)
		rc = record_decode(bytes, row->size, &offset, &r);
	if (rc == 0)
		text_add(out, r.text, strnlen(r.text, r.length));
	free(bytes);
	return rc == 0 && out->failed ? -ENOMEM : rc;
}
