/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records to receivers: the newest go to all that are up to date; who is behind, because it is slow, was away or is new,
 * reads from its own place, a bounded part at a time. So none waits for another.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "notify/notify.h"
#include "event/event_message.h"

#define READ_ROWS 200u

static uint64_t seq_of(const json_t *record)
{
	return (uint64_t)json_integer_value(json_object_get(record, "seq"));
}

bool notify_wants(const struct receiver *r, const json_t *record)
{
	const json_t *modules = json_object_get(r->settings, "modules");
	const json_t *module = json_object_get(record, "module"), *known;
	size_t i;

	if (r->kind->incidents)
		return true;
	const char *level = json_string_value(json_object_get(record, "level"));

	if (level && event_level_of(level) > r->level)
		return false;
	json_array_foreach(modules, i, known)
	{
		const char *name = json_string_value(known);

		if (json_equal(known, module) || (name && !strcmp(name, "all")))
			return true;
	}
	return json_array_size(modules) == 0;
}

/* What it let through without keeping is done with. */
static void place_follow(struct receiver *r)
{
	if (r->held > r->place || r->place >= r->scanned)
		return;
	r->place = r->scanned;
	notify_place_changed(r);
}

void receiver_error(struct receiver *r, const char *reason)
{
	bool bad = reason != NULL;

	if (!bad)
		r->wait_s = 0;
	if (bad != r->bad) {
		r->since_ms = clock_wall_ms();
		if (bad)
			log_warning("%s: %s", r->name, reason);
		else
			log_notice("%s: works", r->name);
	}
	if (bad != r->bad || (bad && strcmp(r->error, reason)))
		notify_link_report_due(r->notify);
	r->bad = bad;
	snprintf(r->error, sizeof(r->error), "%s", bad ? reason : "");
}

void receiver_taken(struct receiver *r, uint64_t seq)
{
	if (!r->kind->incidents) /* taken into its state, not yet told */
		receiver_error(r, NULL);
	if (seq <= r->place)
		return;
	r->place = seq >= r->held && r->scanned > seq ? r->scanned : seq;
	notify_place_changed(r);
}

static bool offer(struct receiver *r, const json_t *record)
{
	uint64_t seq = seq_of(record);

	if (notify_wants(r, record)) {
		r->offering = true;
		enum receiver_answer answer = r->kind->offer(r->self, record);
		r->offering = false;
		if (r->paused)
			return false;
		r->full = answer == RECEIVER_FULL;
		if (r->full)
			return false;
		if (answer == RECEIVER_HELD && seq > r->place)
			r->held = seq;
	}
	if (seq > r->scanned)
		r->scanned = seq;
	place_follow(r);
	return true;
}

static void queue_drop(struct receiver *r)
{
	json_decref(r->queue);
	r->queue = NULL;
	r->queue_next = 0;
}

/* False: not all of what was read could be offered. */
static bool queue_offer(struct receiver *r)
{
	while (r->queue && r->queue_next < json_array_size(r->queue)) {
		if (!offer(r, json_array_get(r->queue, r->queue_next)))
			return false;
		r->queue_next++;
	}
	if (!r->queue)
		return true;
	queue_drop(r);
	if (r->queue_end > r->scanned)
		r->scanned = r->queue_end;
	place_follow(r);
	return true;
}

void notify_pump(struct receiver *r)
{
	if (!r->self || !r->started || r->paused || r->full || r->read || r->offering)
		return;
	if (queue_offer(r) && r->scanned < r->notify->last)
		r->read = notify_link_read(r->notify, r->scanned, READ_ROWS);
}

void receiver_more(struct receiver *r)
{
	if (r->offering)
		return;
	r->full = false;
	notify_pump(r);
}

void notify_pump_all(struct notify *n)
{
	struct receiver *r;

	LIST_FOREACH(r, &n->receivers, entry) notify_pump(r);
}

void notify_record(struct notify *n, const json_t *record)
{
	uint64_t before = n->last, seq = seq_of(record);
	struct receiver *r;

	if (seq <= before)
		return;
	n->last = seq;
	LIST_FOREACH(r, &n->receivers, entry)
	{
		bool ready =
			r->self && r->started && !r->paused && !r->full && !r->read && !r->queue;

		if (ready && r->scanned == before && seq == before + 1)
			offer(r, record);
		else
			notify_pump(r);
	}
	notify_link_report_due(n);
}

void notify_last(struct notify *n, uint64_t last)
{
	struct receiver *r;

	if (!n->last_known || last < n->last)
		n->last = last;
	n->last_known = true;
	LIST_FOREACH(r, &n->receivers, entry)
	{
		bool other = r->started && r->scanned > last;

		if (other)
			log_warning("%s: the journal is another one: begins at its end", r->name);
		if (r->started && !other)
			continue;
		if (other && r->self && r->kind->forget)
			r->kind->forget(r->self);
		r->started = true;
		r->place = r->scanned = r->counted = r->held = last;
		notify_place_changed(r);
	}
	notify_pump_all(n);
}

static struct receiver *reader(struct notify *n, uint64_t read)
{
	struct receiver *r;

	LIST_FOREACH(r, &n->receivers, entry)
	if (r->read == read)
		return r;
	return NULL;
}

void notify_rows(struct notify *n, uint64_t read, const json_t *rows)
{
	struct receiver *r = reader(n, read);

	if (!r)
		return;
	if (!r->queue)
		r->queue = json_array();
	json_array_extend(r->queue, (json_t *)rows);
}

/* Counted once, however often it is read again; told with the first record that is still there. */
static void gone(struct receiver *r, uint64_t count)
{
	uint64_t end = r->scanned + count;
	uint64_t from = r->counted > r->scanned ? r->counted : r->scanned;
	char text[128];

	if (end > from) {
		r->dropped += end - from;
		r->counted = end;
		notify_place_changed(r);
	}
	if (r->kind->gone) {
		r->kind->gone(r->self, count);
		return;
	}
	snprintf(text, sizeof(text),
		"%llu records were deleted from the journal before they could be sent here",
		(unsigned long long)count);
	if (!r->queue)
		r->queue = json_array();
	json_array_insert_new(r->queue, 0,
		json_pack("{s:I,s:I,s:s,s:s,s:s,s:s,s:s}", "seq", (json_int_t)end, "time",
			(json_int_t)clock_wall_ms() * 1000, "id",
			event_messages[MESSAGE_RECORDS_GONE].id, "level", "warning", "module",
			"sys", "type", "system", "text", text));
}

void notify_rows_end(struct notify *n, uint64_t read, const json_t *result)
{
	struct receiver *r = reader(n, read);
	uint64_t count = (uint64_t)json_integer_value(json_object_get(result, "gone"));

	if (!r)
		return;
	r->read = 0;
	r->queue_end = (uint64_t)json_integer_value(json_object_get(result, "next"));
	if (count)
		gone(r, count);
	/* What there is cannot be read: asked for again in a second, not at once for ever. */
	if (!r->queue && r->queue_end <= r->scanned)
		return;
	if (!r->queue)
		r->queue = json_array();
	notify_pump(r);
}

void notify_rows_lost(struct notify *n, uint64_t read)
{
	struct receiver *r;

	LIST_FOREACH(r, &n->receivers, entry)
	{
		if (!r->read || (read && r->read != read))
			continue;
		r->read = 0;
		queue_drop(r);
		if (read)
			receiver_failed(r, "its records cannot be read");
	}
}
