/* SPDX-License-Identifier: BSD-3-Clause */
#include "main/scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "l4/l4.h"
#include "net/net.h"

#define SLICE_PLACES 256u /* visited in a turn: some 20 us of a worker's time */
#define PLACE_END UINT32_MAX

enum slot_state { SLOT_IDLE, SLOT_ASKED, SLOT_DONE };

/* state passes the rest back and forth: ASKED it is the worker's, else the control thread's. */
struct scan_slot {
	uint32_t state; /* enum slot_state */
	bool neighbours;
	uint8_t action; /* enum scan_action */
	uint32_t place;
	uint32_t max; /* matches wanted at most */
	uint32_t matches;
	struct flow_filter filter;
	union {
		struct msg_scan_rows flows;
		struct msg_neighbour_rows neighbour;
		uint8_t bytes[sizeof(struct msg_scan_rows) +
			      SCAN_ROWS_MAX * sizeof(struct flow_row)];
	} message; /* rows are written where they are sent from */
};

_Static_assert(
	sizeof(struct msg_scan_rows) + SCAN_ROWS_MAX * sizeof(struct flow_row) <= MSG_LENGTH_MAX,
	"a full buffer is one message");
_Static_assert(sizeof(struct neighbour_row) <= sizeof(struct flow_row), "neighbours fit too");

struct scan_slot *scan_slot_new(void)
{
	return calloc(1, sizeof(struct scan_slot));
}

void scan_slot_free(struct scan_slot *s)
{
	free(s);
}

/* --- worker ----------------------------------------------------------------------------------------- */

void scan_house(struct worker *w)
{
	struct scan_slot *s = w->scan;

	if (likely(__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) != SLOT_ASKED))
		return;
	uint32_t room = s->max - s->matches;
	if (s->neighbours)
		s->matches += net_neighbour_scan(
			w, &s->place, SLICE_PLACES, &s->message.neighbour.row[s->matches], room);
	else if (s->action == SCAN_LIST)
		s->matches += l4_scan(w, s->action, &s->filter, &s->place, SLICE_PLACES,
			&s->message.flows.row[s->matches], room);
	else
		s->matches += l4_scan(w, s->action, &s->filter, &s->place,
			RTE_MIN(SLICE_PLACES, room), NULL, room);
	if (s->place != PLACE_END && s->matches < s->max) {
		w->busy = true;
		return;
	}
	__atomic_store_n(&s->state, SLOT_DONE, __ATOMIC_RELEASE);
	w->wake = true;
}

/* --- control thread --------------------------------------------------------------------------------- */

int scans_add(struct scans *s, const void *message)
{
	const struct msg_header *h = message;
	struct scan_job job = {.header = *h, .neighbours = h->type == MSG_NEIGHBOURS};

	if (!job.neighbours) {
		const struct msg_scan *m = message;
		job.action = m->action;
		job.limit = m->limit;
		job.cursor = m->cursor;
		job.filter = m->filter;
	}
	if (job.cursor >> 32 >= s->count || (uint32_t)job.cursor == PLACE_END)
		return -EINVAL;
	if (s->jobs == SCAN_JOBS)
		return -EBUSY;
	s->job[(s->head + s->jobs++) % SCAN_JOBS] = job;
	return 0;
}

void scans_cancel(struct scans *s)
{
	if (s->asked)
		s->cancelled = true;
	s->jobs = s->asked ? 1 : 0;
}

static void job_end(struct scans *s)
{
	s->head = (s->head + 1) % SCAN_JOBS;
	s->jobs--;
	s->asked = false;
	s->cancelled = false;
}

static void ask(struct scans *s, const struct scan_job *job)
{
	struct scan_slot *slot = s->workers[s->worker]->scan;

	slot->neighbours = job->neighbours;
	slot->action = job->action;
	slot->filter = job->filter;
	slot->place = s->place;
	slot->matches = 0;
	slot->max = job->neighbours || job->action == SCAN_LIST ? SCAN_ROWS_MAX : UINT32_MAX;
	if (job->limit)
		slot->max = RTE_MIN(slot->max, job->limit - s->matches);
	s->asked = true;
	__atomic_store_n(&slot->state, SLOT_ASKED, __ATOMIC_RELEASE);
}

static int send_rows(const struct scan_job *job, struct scan_slot *slot, struct peer *peer)
{
	size_t length = sizeof(struct msg_scan_rows);

	if (slot->matches == 0 || (!job->neighbours && job->action != SCAN_LIST))
		return 0;
	length += slot->matches *
		  (job->neighbours ? sizeof(struct neighbour_row) : sizeof(struct flow_row));
	slot->message.flows.header = (struct msg_header){
		.type = job->neighbours ? MSG_NEIGHBOUR_ROWS : MSG_SCAN_ROWS,
		.length = (uint32_t)length,
		.seq = job->header.seq,
	};
	slot->message.flows.count = slot->matches;
	slot->message.flows.reserved = 0;
	return peer_send(peer, &slot->message, length, -1);
}

static int send_result(struct scans *s, const struct scan_job *job, uint64_t cursor,
	struct peer *peer, uint64_t generation)
{
	struct msg_result result = {
		.header = {MSG_RESULT, sizeof(result), job->header.seq},
		.rows = s->matches,
		.generation = generation,
		.cursor = cursor,
	};

	job_end(s);
	return peer_send(peer, &result, sizeof(result), -1);
}

/* The asked worker is done: passes its rows on and moves the place. */
static int collect(
	struct scans *s, const struct scan_job *job, struct peer *peer, uint64_t generation)
{
	struct scan_slot *slot = s->workers[s->worker]->scan;

	s->asked = false;
	slot->state = SLOT_IDLE;
	s->matches += slot->matches;
	s->place = slot->place;
	int err = send_rows(job, slot, peer);
	if (err)
		return err;
	if (s->place == PLACE_END) {
		s->place = 0;
		s->worker++;
	}
	if (s->worker == s->count)
		return send_result(s, job, 0, peer, generation);
	if (job->limit && s->matches >= job->limit)
		return send_result(s, job, (uint64_t)s->worker << 32 | s->place, peer, generation);
	ask(s, job);
	return 0;
}

int scans_run(struct scans *s, struct peer *peer, uint64_t generation)
{
	if (s->jobs == 0)
		return 0;
	const struct scan_job *job = &s->job[s->head];
	if (s->asked) {
		struct scan_slot *slot = s->workers[s->worker]->scan;
		if (__atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) != SLOT_DONE)
			return 0;
		if (s->cancelled) {
			slot->state = SLOT_IDLE;
			job_end(s);
			return 0;
		}
		return peer_waiting(peer) ? 0 : collect(s, job, peer, generation);
	}
	if (peer_waiting(peer))
		return 0;
	s->worker = (unsigned)(job->cursor >> 32);
	s->place = (uint32_t)job->cursor;
	s->matches = 0;
	ask(s, job);
	return 0;
}
