/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Questions to the dataplane about the connections of a drain: resets of what holds it up, and the list
 * of that. A scan visits the whole flow table, so there is one at a time for all drains, and as long a
 * pause behind it as it took.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "drain/drain_internal.h"

#define LIST_ROWS 1024u	  /* connections that are looked at to find the oldest */
#define SILENT_SECONDS 5u /* a connection that is silent for so long counts as one that stays so */

static void filter_init(const struct operation *o, struct msg_scan *scan)
{
	*scan = (struct msg_scan){.header = {.type = MSG_SCAN, .length = sizeof(*scan)}};
	if (o->d.node)
		scan->filter.node_id = o->d.object;
	else
		scan->filter.member_id = o->d.object;
}

/* --- resets --------------------------------------------------------------------------------------- */

static void scan_count(struct drains *s, struct operation *o, uint32_t rows)
{
	if (s->scan_capped) {
		o->d.capped += rows;
		drains_note(s, o, "has its last connections reset at the cap: %u (drain %u)", rows,
			o->d.id);
	} else {
		o->d.stuck += rows;
		drains_note(s, o, "has connections reset that were silent for %u s: %u (drain %u)",
			o->d.stuck_time, rows, o->d.id);
	}
	drains_write(s, o);
}

static void on_scanned(void *ctx, int status, const struct msg_result *result)
{
	struct drains *s = ctx;
	struct operation *o = drains_operation(s, s->scan_id);
	uint64_t now = clock_ns();

	s->scan = NULL;
	s->scan_after_ns = now + (status ? SCAN_EVERY_MS * 1000000ull : now - s->scan_started_ns);
	if (status && result)
		log_warning(
			"drain %u: connections cannot be reset: %s", s->scan_id, result->reason);
	if (o && status == 0 && result->rows)
		scan_count(s, o, result->rows);
	drains_look_soon(s);
}

/* There are none: what is reset is only counted. */
static void on_rows(void *ctx, const struct msg_header *message) {}

static bool wants_scan(const struct operation *o, uint64_t now)
{
	const struct drain *d = &o->d;

	return d->running && d->connections > 0 &&
	       (d->stuck_time || (d->cap_reset && drain_is_capped(o, now)));
}

void drains_scan(struct drains *s, uint64_t now)
{
	static const struct dplink_query_ops ops = {.rows = on_rows, .done = on_scanned};
	struct operation *next = NULL;
	struct msg_scan scan;

	if (s->scan || now < s->scan_after_ns)
		return;
	for (unsigned i = 0; i < s->count; i++)
		if (wants_scan(s->op[i], now) && s->op[i]->scan_due_ns <= now &&
			(!next || s->op[i]->scan_due_ns < next->scan_due_ns))
			next = s->op[i];
	if (!next)
		return;
	filter_init(next, &scan);
	scan.action = SCAN_DELETE;
	s->scan_capped = next->d.cap_reset && drain_is_capped(next, now);
	if (!s->scan_capped)
		scan.filter.idle_min = next->d.stuck_time;
	next->scan_due_ns = now + SCAN_EVERY_MS * 1000000ull;
	s->scan_id = next->d.id;
	s->scan_started_ns = now;
	s->scan = dplink_query(s->link, &scan.header, &ops, s);
}

/* --- lists ---------------------------------------------------------------------------------------- */

struct drain_query {
	struct dplink_query *query;
	uint32_t stuck_time;
	struct drain_flows flows;
	void (*done)(void *ctx, const struct drain_flows *flows);
	void *ctx;
};

static void keep_oldest(struct drain_flows *f, const struct flow_row *row)
{
	unsigned i = f->count;

	if (i == DRAIN_FLOWS_MAX && row->age <= f->row[i - 1].age)
		return;
	if (i < DRAIN_FLOWS_MAX)
		f->count++;
	else
		i--;
	for (; i > 0 && f->row[i - 1].age < row->age; i--)
		f->row[i] = f->row[i - 1];
	f->row[i] = *row;
}

static void on_list(void *ctx, const struct msg_header *message)
{
	struct drain_query *q = ctx;
	const struct msg_scan_rows *rows = (const void *)message;

	for (uint32_t i = 0; message->type == MSG_SCAN_ROWS && i < rows->count; i++) {
		const struct flow_row *row = &rows->row[i];
		uint32_t limit = row->timeout;

		if (q->stuck_time && q->stuck_time < limit)
			limit = q->stuck_time;
		uint32_t left = limit == UINT32_MAX ? limit
				: limit > row->idle ? limit - row->idle
						    : 0;
		if (q->flows.left < left)
			q->flows.left = left;
		if (q->flows.silent > row->idle)
			q->flows.silent = row->idle;
		q->flows.listed++;
		keep_oldest(&q->flows, row);
	}
}

static void on_listed(void *ctx, int status, const struct msg_result *result)
{
	struct drain_query *q = ctx;

	q->flows.all = status == 0 && result->cursor == 0;
	if (q->flows.listed == 0)
		q->flows.silent = 0;
	q->done(q->ctx, status ? NULL : &q->flows);
	free(q);
}

struct drain_query *drains_flows(struct drains *s, uint32_t id,
	void (*done)(void *ctx, const struct drain_flows *flows), void *ctx)
{
	static const struct dplink_query_ops ops = {.rows = on_list, .done = on_listed};
	const struct operation *o = drains_operation(s, id);
	struct drain_query *q = o ? calloc(1, sizeof(*q)) : NULL;
	struct msg_scan scan;

	if (!q)
		return NULL;
	*q = (struct drain_query){.stuck_time = o->d.stuck_time,
		.flows = {.silent = UINT32_MAX},
		.done = done,
		.ctx = ctx};
	filter_init(o, &scan);
	scan.action = SCAN_LIST;
	scan.limit = LIST_ROWS;
	q->query = dplink_query(s->link, &scan.header, &ops, q);
	if (q->query)
		return q;
	free(q);
	return NULL;
}

void drains_flows_cancel(struct drain_query *q)
{
	dplink_query_cancel(q->query);
	free(q);
}

/* --- forecast ------------------------------------------------------------------------------------- */

const char *drain_basis_name(unsigned basis)
{
	static const char *const names[] = {
		[BASIS_NONE] = "",
		[BASIS_RATE] = "as connections have been leaving",
		[BASIS_SILENCE] = "when the last silent connection times out",
		[BASIS_STUCK] = "when the last silent connection is reset",
		[BASIS_CAP] = "when the cap resets what is left",
	};

	return basis < sizeof(names) / sizeof(*names) ? names[basis] : "";
}

/* Whether all that hold the drain up are silent, so that only their time-outs count. */
static bool all_silent(const struct drain_flows *f, uint32_t stuck_time)
{
	uint32_t silent =
		stuck_time && stuck_time < 2 * SILENT_SECONDS ? stuck_time / 2 : SILENT_SECONDS;

	return f && f->all && f->listed && f->silent >= silent && f->left != UINT32_MAX;
}

int64_t drains_forecast(const struct drains *s, uint32_t id, const struct drain_flows *flows,
	enum drain_basis *basis)
{
	const struct operation *o = drains_operation(s, id);
	int64_t best = -1, left;

	*basis = BASIS_NONE;
	if (!o || !o->d.running || o->d.connections <= 0)
		return -1;
	left = forecast_zero(&o->forecast);
	if (left >= 0) {
		best = (left + 999) / 1000;
		*basis = BASIS_RATE;
	}
	if (all_silent(flows, o->d.stuck_time) && (best < 0 || flows->left < best)) {
		best = flows->left;
		*basis = o->d.stuck_time ? BASIS_STUCK : BASIS_SILENCE;
	}
	if (o->d.timeout && o->d.cap_reset) {
		int64_t gone = (int64_t)((clock_ns() - o->begun_ns) / 1000000000u);

		left = gone < o->d.timeout ? o->d.timeout - gone : 0;
		if (best < 0 || left < best) {
			best = left;
			*basis = BASIS_CAP;
		}
	}
	return best;
}
