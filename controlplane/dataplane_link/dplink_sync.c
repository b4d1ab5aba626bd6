/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the dataplane's snapshot and live state equal to ours, and tells who waits for that. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "dataplane_link/dplink_internal.h"

int dplink_sync_init(struct dplink_sync *s)
{
	TAILQ_INIT(&s->waits);
	s->dirty_slots = calloc(ID_SLOTS_MAX / 64, sizeof(*s->dirty_slots));
	return s->dirty_slots ? 0 : -ENOMEM;
}

void dplink_sync_fini(struct dplink_sync *s)
{
	free(s->dirty);
	free(s->dirty_slots);
}

/* --- what is out of date -------------------------------------------------------------------------- */

void dplink_snapshot_changed(struct dplink *l)
{
	if (!l->ready)
		return;
	l->sync.snapshot_wanted++;
	dplink_pump(l);
}

static bool dirty_add(struct dplink_sync *s, uint32_t id)
{
	uint32_t slot = id_slot(id);
	uint64_t bit = 1ull << (slot % 64);

	if (s->dirty_slots[slot / 64] & bit)
		return true;
	if (s->dirty_count == s->dirty_size) {
		unsigned size = s->dirty_size ? 2 * s->dirty_size : 256;
		uint32_t *more = reallocarray(s->dirty, size, sizeof(*more));

		if (!more)
			return false;
		s->dirty = more;
		s->dirty_size = size;
	}
	s->dirty[s->dirty_count++] = id;
	s->dirty_slots[slot / 64] |= bit;
	return true;
}

void dplink_live_changed(struct dplink *l, uint32_t id)
{
	if (!l->ready)
		return;
	if (!dirty_add(&l->sync, id)) {
		/* The snapshot that a new connection brings has all values. */
		log_error("dataplane: live state: no memory: the connection is made anew");
		l->broken = true;
		event_active(l->work, EV_TIMEOUT, 0);
		return;
	}
	l->sync.live_wanted++;
	event_active(l->work, EV_TIMEOUT, 0);
}

static void dirty_clear(struct dplink_sync *s)
{
	for (unsigned i = 0; i < s->dirty_count; i++)
		s->dirty_slots[id_slot(s->dirty[i]) / 64] = 0;
	s->dirty_count = 0;
}

/* --- sending -------------------------------------------------------------------------------------- */

static int snapshot_send(struct dplink *l)
{
	struct dplink_sync *s = &l->sync;
	struct msg_header message = {.type = MSG_SNAPSHOT, .length = sizeof(message)};
	struct dplink_query *q = calloc(1, sizeof(*q));
	int fd = q ? l->ops->snapshot(l->ctx) : -ENOMEM, rc;

	if (fd < 0) {
		free(q);
		s->snapshot_sent = s->snapshot_done = s->refused = s->snapshot_wanted;
		snprintf(s->refused_reason, sizeof(s->refused_reason), "cannot be made: %s",
			strerror(-fd));
		l->ops->snapshot_result(l->ctx, fd, 0, s->refused_reason);
		return 0;
	}
	q->number = s->snapshot_wanted;
	rc = dplink_send(l, &message, fd, q);
	close(fd);
	if (rc)
		free(q);
	else
		s->snapshot_sent = q->number;
	return rc;
}

/* As many dirty rows as one message takes, from the end of the list. */
static int live_send(struct dplink *l)
{
	static union {
		struct msg_live m;
		char space[sizeof(struct msg_live) + LIVE_ROWS_MAX * sizeof(struct live_row)];
	} buffer;
	struct dplink_sync *s = &l->sync;
	unsigned left = s->dirty_count;

	buffer.m.count = buffer.m.reserved = 0;
	while (left > 0 && buffer.m.count < LIVE_ROWS_MAX)
		if (l->ops->live(l->ctx, s->dirty[--left], &buffer.m.row[buffer.m.count]))
			buffer.m.count++;
	if (buffer.m.count) {
		struct dplink_query *q = calloc(1, sizeof(*q));
		int rc = -ENOMEM;

		buffer.m.header.type = MSG_LIVE;
		buffer.m.header.length = (uint32_t)(sizeof(struct msg_live) +
						    buffer.m.count * sizeof(struct live_row));
		if (q) {
			q->number = left ? s->live_sent : s->live_wanted;
			rc = dplink_send(l, &buffer.m.header, -1, q);
		}
		if (rc) {
			free(q);
			return rc;
		}
		s->live_flying++;
	}
	for (unsigned i = left; i < s->dirty_count; i++)
		s->dirty_slots[id_slot(s->dirty[i]) / 64] &= ~(1ull << (id_slot(s->dirty[i]) % 64));
	s->dirty_count = left;
	if (left == 0)
		s->live_sent = s->live_wanted;
	return 0;
}

static void waits_check(struct dplink *l);

int dplink_sync_pump(struct dplink *l)
{
	struct dplink_sync *s = &l->sync;
	int rc = 0;

	/* One snapshot at a time: what changes meanwhile goes into the next. */
	if (s->snapshot_wanted != s->snapshot_sent && s->snapshot_sent == s->snapshot_done)
		rc = snapshot_send(l);
	while (rc == 0 && s->dirty_count)
		rc = live_send(l);
	/* The last rows were of objects that are gone: nothing to wait for. */
	if (rc == 0 && s->live_flying == 0)
		s->live_done = s->live_sent;
	waits_check(l);
	return rc;
}

/* --- waiting -------------------------------------------------------------------------------------- */

static void wait_end(struct dplink *l, struct dplink_wait *w, int status, const char *reason)
{
	TAILQ_REMOVE(&l->sync.waits, w, entry);
	w->done(w->ctx, status, reason);
	free(w);
}

static struct dplink_wait *wait_fulfilled(const struct dplink_sync *s)
{
	struct dplink_wait *w;

	TAILQ_FOREACH(w, &s->waits, entry)
	if (s->snapshot_done >= w->snapshot && s->live_done >= w->live)
		return w;
	return NULL;
}

/* From the head each time: who is told may make and end other waits. */
static void waits_check(struct dplink *l)
{
	struct dplink_sync *s = &l->sync;
	struct dplink_wait *w;

	while ((w = wait_fulfilled(s))) {
		if (w->snapshot && s->refused >= w->snapshot)
			wait_end(l, w, -EINVAL, s->refused_reason);
		else
			wait_end(l, w, 0, "");
	}
}

void dplink_wait(struct dplink *l, dplink_done done, void *ctx)
{
	struct dplink_sync *s = &l->sync;
	struct dplink_wait *w = l->ready && !l->broken ? calloc(1, sizeof(*w)) : NULL;

	if (!w) {
		done(ctx, -ENOTCONN, "the dataplane is not connected");
		return;
	}
	*w = (struct dplink_wait){
		.snapshot = s->snapshot_done < s->snapshot_wanted ? s->snapshot_wanted : 0,
		.live = s->live_wanted,
		.deadline_ns = clock_ns() + DPLINK_WAIT_MS * 1000000ull,
		.done = done,
		.ctx = ctx,
	};
	TAILQ_INSERT_TAIL(&s->waits, w, entry);
	dplink_pump(l);
}

void dplink_wait_cancel(struct dplink *l, void *ctx)
{
	struct dplink_wait *w, *next;

	for (w = TAILQ_FIRST(&l->sync.waits); w; w = next) {
		next = TAILQ_NEXT(w, entry);
		if (w->ctx == ctx) {
			TAILQ_REMOVE(&l->sync.waits, w, entry);
			free(w);
		}
	}
}

void dplink_sync_expire(struct dplink *l, uint64_t now)
{
	struct dplink_wait *w;

	/* The oldest is first. */
	while ((w = TAILQ_FIRST(&l->sync.waits)) && now >= w->deadline_ns)
		wait_end(l, w, -ETIMEDOUT, "the dataplane did not answer in time");
}

void dplink_sync_result(struct dplink *l, const struct dplink_query *q, const struct msg_result *r)
{
	struct dplink_sync *s = &l->sync;

	if (q->type == MSG_LIVE) {
		s->live_done = q->number;
		s->live_flying--;
		if (r->status)
			log_error("dataplane: live state: refused: %s", r->reason);
	} else if (q->type == MSG_SNAPSHOT) {
		s->snapshot_done = q->number;
		if (r->status) {
			s->refused = q->number;
			memcpy(s->refused_reason, r->reason, sizeof(s->refused_reason));
			log_error("dataplane: snapshot: refused: %s", r->reason);
		} else {
			l->hello.generation = r->generation;
		}
		l->ops->snapshot_result(l->ctx, r->status, r->generation, r->reason);
	} else {
		return;
	}
	waits_check(l);
}

void dplink_sync_lost(struct dplink *l)
{
	struct dplink_sync *s = &l->sync;
	struct dplink_wait *w;

	dirty_clear(s);
	s->live_flying = 0;
	s->snapshot_sent = s->snapshot_done = s->snapshot_wanted;
	s->live_sent = s->live_done = s->live_wanted;
	while ((w = TAILQ_FIRST(&s->waits)))
		wait_end(l, w, -ENOTCONN, "the connection to the dataplane broke");
}
