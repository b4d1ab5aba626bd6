/* SPDX-License-Identifier: BSD-3-Clause */
/* log, verify-log: the journal, told in slices, so that a million records hold up nobody else. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "main/cp_log.h"

#define READERS_MAX 96u
#define READERS_EACH 16u /* of a user */
#define LIFE_SECONDS 3600u

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
	if (d->back ? cp_log_back(d) : cp_log_forward(d))
		return later(d);
	/* A part of the machine follows for ever; others bring their credentials again. */
	const struct cp_user *user = ipc_request_kept(r);
	bool old = user->id != ID_NONE && clock_ns() - d->began_ns > LIFE_SECONDS * 1000000000ull;
	if (d->follow && !old && !cp_log_forward_done(d)) {
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

/* --- begin and end ---------------------------------------------------------------------------------- */

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
	if (!cp_log_question(r, d, &after)) {
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
