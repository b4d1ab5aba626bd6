/* SPDX-License-Identifier: BSD-3-Clause */
/* log, verify-log: the journal, told in slices, so that a million records hold up nobody else. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "event/journal_scan.h"
#include "main/cp.h"

#define LIMIT_DEFAULT 100
#define LIMIT_MAX 10000
#define SCAN_MAX (64u << 20) /* bytes that a request looks through */
#define ROWS_BYTES_MAX (16u << 20)
#define READERS_MAX 96u
#define READERS_EACH 16u /* of a user */
#define LIFE_SECONDS 3600u

struct reader {
	LIST_ENTRY(reader) entry;
	struct cp *cp;
	struct ipc_request *r;
	struct journal_filter filter;
	struct journal_verify verify;
	struct journal_place at;
	uint64_t seen;	/* number that was scanned last */
	uint64_t after; /* that was asked for */
	uint64_t mark, began_ns;
	size_t scanned, bytes;
	unsigned limit, count, room;
	json_t **found; /* newest first */
	bool back, follow, waiting;
	struct event *turn;
};

struct cp_log {
	LIST_HEAD(, reader) readers;
	unsigned count;
	struct event *serve; /* records for those that wait */
	char slice[JOURNAL_SLICE];
};

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

static bool forward_done(const struct reader *d)
{
	return d->filter.before && d->seen + 1 >= d->filter.before;
}

/* True: there is more. */
static bool forward_step(struct reader *d)
{
	char *buf = d->cp->log->slice, *line = buf, *end;
	ssize_t n = journal_store_read(d->cp->journal.store, &d->at, false, buf);

	if (n <= 0)
		return n < 0;
	d->scanned += (size_t)n;
	while ((end = memchr(line, '\n', (size_t)(buf + n - line))) && !forward_full(d) &&
		!forward_done(d)) {
		line_tell(d, line, (size_t)(end - line));
		line = end + 1;
	}
	if (end) { /* not all of it was looked at */
		d->at.offset -= (uint64_t)(buf + n - line);
		return false;
	}
	return !forward_full(d) && !forward_done(d);
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

static bool back_step(struct reader *d)
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

/* --- the answer ----------------------------------------------------------------------------------- */

static void finish(struct reader *d)
{
	const struct journal_store *s = d->cp->journal.store;
	uint64_t oldest = journal_store_oldest(s);
	uint64_t gone = d->after + 1 < oldest ? oldest - d->after - 1 : 0;

	for (unsigned i = d->back ? d->count : 0; i > 0; i--) {
		ipc_row(d->r, d->found[i - 1]);
		d->found[i - 1] = NULL;
	}
	if (d->back)
		d->count = 0;
	ipc_reply(d->r, json_pack("{s:I,s:I,s:I,s:I}", "last", (json_int_t)journal_store_newest(s),
				"oldest", (json_int_t)oldest, "next", (json_int_t)d->seen, "gone",
				(json_int_t)gone));
}

static enum ipc_step later(struct reader *d)
{
	d->waiting = false;
	event_add(d->turn, &(struct timeval){0});
	return IPC_WAIT;
}

static uint64_t mark_of(const struct reader *d)
{
	const struct cp_user *user = ipc_request_kept(d->r);
	const struct object *o = user->id == ID_NONE ? NULL : model_get(d->cp->model, user->id);

	return o ? cp_user_mark(d->cp, o) : 0;
}

static bool still_known(const struct reader *d)
{
	const struct cp_user *user = ipc_request_kept(d->r);

	return mark_of(d) == d->mark &&
	       (!*user->token || auth_token_by_id(d->cp->auth, user->token));
}

static enum ipc_step log_next(struct ipc_request *r, void *ctx)
{
	struct reader *d = ctx;

	if (!still_known(d)) {
		cp_refuse(r, 401, "as", "is another user now, or logged out: log in again");
		return IPC_END;
	}
	if (d->back ? back_step(d) : forward_step(d))
		return later(d);
	/* A part of the machine follows for ever; others bring their credentials again. */
	const struct cp_user *user = ipc_request_kept(r);
	bool old = user->id != ID_NONE && clock_ns() - d->began_ns > LIFE_SECONDS * 1000000000ull;
	if (d->follow && !old && !forward_done(d)) {
		d->waiting = true;
		return IPC_WAIT;
	}
	finish(d);
	return IPC_END;
}

static enum ipc_step verify_next(struct ipc_request *r, void *ctx)
{
	struct reader *d = ctx;
	const struct journal_verify *v = &d->verify;

	if (journal_verify_step(d->cp->journal.store, &d->verify, d->cp->log->slice))
		return later(d);
	json_t *result = json_pack("{s:I,s:I,s:I,s:b}", "records", (json_int_t)v->records, "first",
		(json_int_t)v->first, "last", (json_int_t)v->newest, "intact", !v->fault);
	if (v->fault) {
		json_object_set_new(result, "seq", json_integer((json_int_t)v->fault));
		json_object_set_new(result, "reason", json_string(v->reason));
	}
	ipc_reply(r, result);
	return IPC_END;
}

static void reader_free(void *ctx)
{
	struct reader *d = ctx;

	for (unsigned i = 0; d->back && i < d->count; i++)
		json_decref(d->found[i]);
	free(d->found);
	if (d->turn)
		event_free(d->turn);
	LIST_REMOVE(d, entry);
	d->cp->log->count--;
	free(d);
}

static void on_turn(evutil_socket_t fd, short what, void *ctx)
{
	struct reader *d = ctx;

	ipc_stream_resume(d->r);
}

/* Each by a turn of its own, since one that leaves may take others with it. */
static void on_serve(evutil_socket_t fd, short what, void *ctx)
{
	struct cp *cp = ctx;
	struct reader *d;

	LIST_FOREACH(d, &cp->log->readers, entry)
	if (d->waiting)
		later(d);
}

void cp_log_written(void *ctx)
{
	struct cp *cp = ctx;

	if (cp->log && cp->log->count)
		event_active(cp->log->serve, EV_TIMEOUT, 0);
}

/* --- the question --------------------------------------------------------------------------------- */

static bool take_number(struct ipc_request *r, const char *name, uint64_t *out, bool *given)
{
	const json_t *value = json_object_get(ipc_request_body(r), name);

	*given = value && !json_is_null(value);
	*out = *given && json_integer_value(value) > 0 ? (uint64_t)json_integer_value(value) : 0;
	if (!*given || (json_is_integer(value) && json_integer_value(value) >= 0))
		return true;
	cp_refuse(r, 400, name, "must be a number, 0 or more");
	return false;
}

static bool take_text(struct ipc_request *r, const char *name, const char **out)
{
	const json_t *value = json_object_get(ipc_request_body(r), name);

	*out = json_string_value(value);
	if (!value || json_is_null(value) || *out)
		return true;
	cp_refuse(r, 400, name, "must be text");
	return false;
}

static bool take_flag(struct ipc_request *r, const char *name, bool *out)
{
	const json_t *value = json_object_get(ipc_request_body(r), name);

	*out = json_is_true(value);
	if (!value || json_is_null(value) || json_is_boolean(value))
		return true;
	cp_refuse(r, 400, name, "must be true or false");
	return false;
}

static bool members_known(struct ipc_request *r)
{
	static const char *const known[] = {"op", "id", "as", "after", "before", "from", "until",
		"object", "actor", "address", "incident", "type", "module", "message", "level",
		"audit", "limit", "follow"};
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)ipc_request_body(r), name, value)
	{
		size_t i = 0;

		while (i < sizeof(known) / sizeof(*known) && strcmp(known[i], name))
			i++;
		if (i < sizeof(known) / sizeof(*known))
			continue;
		cp_refuse(r, 400, name, "is not known");
		return false;
	}
	return true;
}

static bool take_level(struct ipc_request *r, struct journal_filter *f)
{
	const char *level;

	f->level = -1;
	if (!take_text(r, "level", &level))
		return false;
	if (level)
		f->level = event_level_of(level);
	if (!level || f->level >= 0)
		return true;
	cp_refuse(
		r, 400, "level", "must be emerg, alert, crit, err, warning, notice, info or debug");
	return false;
}

static bool take_filter(struct ipc_request *r, struct reader *d, bool *after)
{
	struct journal_filter *f = &d->filter;
	bool given;

	return members_known(r) && take_number(r, "after", &f->after, after) &&
	       take_number(r, "before", &f->before, &given) &&
	       take_number(r, "from", &f->from, &given) &&
	       take_number(r, "until", &f->until, &given) &&
	       take_number(r, "incident", &f->incident, &given) &&
	       take_text(r, "object", &f->object) && take_text(r, "actor", &f->actor) &&
	       take_text(r, "address", &f->address) && take_text(r, "type", &f->type) &&
	       take_text(r, "module", &f->module) && take_text(r, "message", &f->id) &&
	       take_level(r, f) && take_flag(r, "audit", &f->audit) &&
	       take_flag(r, "follow", &d->follow);
}

static bool take_limit(struct ipc_request *r, struct reader *d)
{
	uint64_t limit;
	bool given;

	if (!take_number(r, "limit", &limit, &given))
		return false;
	d->limit =
		given ? (unsigned)(limit < LIMIT_MAX + 1 ? limit : LIMIT_MAX + 1) : LIMIT_DEFAULT;
	if (d->limit >= 1 && d->limit <= LIMIT_MAX)
		return true;
	cp_refuse(r, 400, "limit", "must be a number from 1 to %d", LIMIT_MAX);
	return false;
}

static void place(struct reader *d, bool after)
{
	const struct journal_store *s = d->cp->journal.store;

	d->back = !after && !d->follow;
	d->after = after ? d->filter.after : journal_store_newest(s);
	d->seen = d->back ? journal_store_next(s) : d->filter.after;
	if (d->back && d->filter.before && d->filter.before < d->seen)
		d->seen = d->filter.before;
	d->at = d->back ? journal_store_end(s) : journal_store_seek(s, d->filter.after + 1);
	/* Nothing of the files behind it is wanted. */
	if (d->back && d->filter.before && d->filter.before <= journal_store_newest(s)) {
		struct journal_place next = journal_store_seek(s, d->filter.before);

		d->at = (struct journal_place){next.first, UINT64_MAX};
	}
}

static unsigned readers_of(const struct cp *cp, const struct cp_user *user)
{
	const struct reader *d;
	unsigned count = 0;

	LIST_FOREACH(d, &cp->log->readers, entry)
	{
		const struct cp_user *other = ipc_request_kept(d->r);

		count += user->id != ID_NONE && other->id == user->id;
	}
	return count;
}

/* NULL: refused. */
static struct reader *reader_new(struct cp *cp, struct ipc_request *r, const struct cp_user *user)
{
	struct reader *d;

	if (cp->log->count >= READERS_MAX || readers_of(cp, user) >= READERS_EACH) {
		cp_refuse(r, 503, "", "too many read the log: try again");
		return NULL;
	}
	d = calloc(1, sizeof(*d));
	if (d)
		d->turn = evtimer_new(cp->base, on_turn, d);
	if (!d || !d->turn) {
		free(d);
		cp_refuse(r, 500, "", "no memory");
		return NULL;
	}
	d->cp = cp;
	d->r = r;
	d->began_ns = clock_ns();
	d->mark = mark_of(d);
	return d;
}

static void reader_drop(struct reader *d)
{
	event_free(d->turn);
	free(d);
}

static void reader_start(struct reader *d, const struct ipc_stream *stream)
{
	LIST_INSERT_HEAD(&d->cp->log->readers, d, entry);
	d->cp->log->count++;
	ipc_stream(d->r, stream, d);
}

void cp_log(struct cp *cp, struct ipc_request *r, const struct cp_user *user)
{
	static const struct ipc_stream stream = {log_next, reader_free};
	struct reader *d = reader_new(cp, r, user);
	bool after = false;

	if (!d)
		return;
	if (!take_filter(r, d, &after) || !take_limit(r, d)) {
		reader_drop(d);
	} else if (d->follow && !after) {
		reader_drop(d);
		cp_refuse(r, 400, "after", "is missing: from where to follow");
	} else {
		place(d, after);
		reader_start(d, &stream);
	}
}

void cp_verify_log(struct cp *cp, struct ipc_request *r, const struct cp_user *user)
{
	static const struct ipc_stream stream = {verify_next, reader_free};
	struct reader *d = reader_new(cp, r, user);

	if (!d)
		return;
	journal_verify_begin(cp->journal.store, &d->verify);
	reader_start(d, &stream);
}

int cp_log_init(struct cp *cp)
{
	cp->log = calloc(1, sizeof(*cp->log));
	if (!cp->log)
		return -ENOMEM;
	LIST_INIT(&cp->log->readers);
	cp->log->serve = event_new(cp->base, -1, 0, on_serve, cp);
	return cp->log->serve ? 0 : -ENOMEM;
}

void cp_log_fini(struct cp *cp)
{
	if (cp->log && cp->log->serve)
		event_free(cp->log->serve);
	free(cp->log);
	cp->log = NULL;
}
