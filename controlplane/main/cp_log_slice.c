/* SPDX-License-Identifier: BSD-3-Clause */
/* The journal in slices: which records a reader is given. */
#include <stdlib.h>
#include <string.h>

#include "main/cp_log.h"

#define SCAN_MAX (64u << 20) /* bytes that a request looks through */
#define ROWS_BYTES_MAX (16u << 20)

/* --- who may see what ----------------------------------------------------------------------------- */

static bool is_guarded(const json_t *row)
{
	const char *type = json_string_value(json_object_get(row, "type"));

	return !type || !strcmp(type, "config") || !strcmp(type, "login") ||
	       !strcmp(type, "system");
}

static const struct object *object_of(const struct cp *cp, const json_t *row)
{
	const char *kind = json_string_value(json_object_get(row, "kind"));
	const char *object = json_string_value(json_object_get(row, "object"));
	const char *owner = json_string_value(json_object_get(row, "owner"));
	int k = kind ? cp_kind(kind) : -1;
	const struct object *over = NULL;

	if (k < 0 || !object || (model_kinds[k].owner >= 0) != (owner != NULL))
		return NULL;
	if (owner && !(over = model_find_owner(cp->model, k, owner)))
		return NULL;
	return model_find(cp->model, k, over ? over->id : ID_NONE, object);
}

/* Of what is no longer there nobody knows whose it was. */
static bool may_see(const struct reader *d, const json_t *row)
{
	const struct cp_user *user = ipc_request_kept(d->r);
	const struct object *o;

	if (user->id == ID_NONE)
		return true;
	if (is_guarded(row))
		return cp_authorise(user, CP_AUDIT, NULL);
	o = object_of(d->cp, row);
	if (o)
		return cp_may_read(d->r, o);
	return cp_authorise(user, json_object_get(row, "object") ? CP_AUDIT : CP_LOOK, NULL);
}

/* --- slices --------------------------------------------------------------------------------------- */

static void line_tell(struct reader *d, const char *line, size_t length)
{
	uint64_t seq;
	json_t *row = journal_filter_take(&d->filter, line, length, &seq);

	if (seq && seq > d->filter.after && !(d->filter.before && seq >= d->filter.before))
		d->seen = seq;
	if (!row || !may_see(d, row)) {
		json_decref(row);
		return;
	}
	ipc_row(d->r, row);
	d->count++;
}

static bool forward_full(const struct reader *d)
{
	return !d->follow && (d->count >= d->limit || d->scanned >= SCAN_MAX);
}

bool cp_log_forward_done(const struct reader *d)
{
	return d->filter.before && d->seen + 1 >= d->filter.before;
}

bool cp_log_forward(struct reader *d)
{
	char *buf = d->cp->log->slice, *line = buf, *end;
	ssize_t n = journal_store_read(d->cp->journal.store, &d->at, false, buf);

	if (n <= 0)
		return n < 0;
	d->scanned += (size_t)n;
	while ((end = memchr(line, '\n', (size_t)(buf + n - line))) && !forward_full(d) &&
		!cp_log_forward_done(d)) {
		line_tell(d, line, (size_t)(end - line));
		line = end + 1;
	}
	if (end) { /* not all of it was looked at */
		d->at.offset -= (uint64_t)(buf + n - line);
		return false;
	}
	return !forward_full(d) && !cp_log_forward_done(d);
}

static bool keep(struct reader *d, json_t *row, size_t length)
{
	if (d->count == d->room) {
		unsigned room = d->room ? 2 * d->room : 64;
		json_t **more = reallocarray(d->found, room, sizeof(json_t *));

		if (!more) {
			json_decref(row);
			return false;
		}
		d->found = more;
		d->room = room;
	}
	d->found[d->count++] = row;
	d->bytes += length;
	return d->count < d->limit && d->bytes < ROWS_BYTES_MAX;
}

/* True: go on. */
static bool line_keep(struct reader *d, const char *line, size_t length)
{
	uint64_t seq;
	json_t *row = journal_filter_take(&d->filter, line, length, &seq);

	if (seq && seq <= d->filter.after)
		return false;
	if (seq)
		d->seen = seq;
	if (row && may_see(d, row))
		return keep(d, row, length);
	json_decref(row);
	return true;
}

bool cp_log_back(struct reader *d)
{
	char *buf = d->cp->log->slice;
	ssize_t n = journal_store_read(d->cp->journal.store, &d->at, true, buf);
	size_t end = n > 0 ? (size_t)n : 0;

	if (n <= 0)
		return n < 0;
	d->scanned += end;
	while (end) {
		const char *before = memrchr(buf, '\n', end - 1);
		size_t begin = before ? (size_t)(before - buf) + 1 : 0;

		if (!line_keep(d, buf + begin, end - begin - 1))
			return false;
		end = begin;
	}
	return d->scanned < SCAN_MAX;
}
