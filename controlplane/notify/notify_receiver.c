/* SPDX-License-Identifier: BSD-3-Clause */
/* Receivers come and go with the settings, fail and are tried again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "notify/notify.h"
#include "event/event_message.h"

#define WAIT_MAX_S 60u

struct event_base *receiver_base(const struct receiver *r)
{
	return r->notify->base;
}

const char *receiver_name(const struct receiver *r)
{
	return r->name;
}

const char *receiver_host(const struct receiver *r)
{
	return r->notify->host;
}

const char *receiver_state_dir(const struct receiver *r)
{
	return r->notify->state_dir;
}

uint64_t receiver_place(const struct receiver *r)
{
	return r->place;
}

void receiver_tested(struct receiver *r, uint64_t number, bool ok, const char *reason)
{
	notify_link_tested(r->notify, number, ok, reason);
}

json_t *receiver_test_record(const struct receiver *r, uint64_t number)
{
	char text[400];

	snprintf(text, sizeof(text), "Test %llu of receiver %s", (unsigned long long)number,
		r->name);
	return json_pack("{s:i,s:I,s:s,s:s,s:s,s:s,s:s}", "seq", 0, "time",
		(json_int_t)clock_wall_ms() * 1000, "id", event_messages[MESSAGE_RECEIVER_TEST].id,
		"level", "notice", "module", "sys", "type", "system", "text", text);
}

/* --- failures --------------------------------------------------------------------------------------- */

static void on_retry(evutil_socket_t fd, short what, void *ctx)
{
	struct receiver *r = ctx;

	r->paused = false;
	notify_pump(r);
}

void receiver_failed(struct receiver *r, const char *reason)
{
	r->wait_s = r->wait_s ? r->wait_s * 2 : 1;
	if (r->wait_s > WAIT_MAX_S)
		r->wait_s = WAIT_MAX_S;
	struct timeval wait = {.tv_sec = r->wait_s};
	receiver_error(r, reason);
	if (r->self)
		r->kind->reset(r->self);
	json_decref(r->queue);
	r->queue = NULL;
	r->queue_next = 0;
	r->read = 0;
	r->full = false;
	r->paused = true;
	r->scanned = r->held = r->place;
	evtimer_add(r->retry, &wait);
}

/* --- settings --------------------------------------------------------------------------------------- */

struct receiver *notify_find(struct notify *n, const char *name)
{
	struct receiver *r;

	LIST_FOREACH(r, &n->receivers, entry)
	if (!strcmp(r->name, name))
		return r;
	return NULL;
}

static const struct receiver_kind *kind_of(const json_t *row)
{
	const char *name = json_string_value(json_object_get(row, "kind"));

	for (const struct receiver_kind *const *k = receiver_kinds; name && *k; k++)
		if (!strcmp((*k)->name, name))
			return *k;
	return NULL;
}

void notify_receiver_free(struct receiver *r)
{
	LIST_REMOVE(r, entry);
	if (r->self)
		r->kind->free(r->self);
	if (r->retry)
		event_free(r->retry);
	json_decref(r->queue);
	json_decref(r->settings);
	free(r);
}

static void receiver_new(struct notify *n, const json_t *row)
{
	const struct receiver_kind *kind = kind_of(row);
	const char *name = json_string_value(json_object_get(row, "name"));
	const char *level = json_string_value(json_object_get(row, "level"));
	const char *reason = "no memory";
	struct receiver *r = kind && name ? calloc(1, sizeof(*r)) : NULL;

	if (!r) {
		log_warning("settings: %s: of a kind that is not known", name ? name : "receiver");
		return;
	}
	r->notify = n;
	r->kind = kind;
	r->settings = json_incref((json_t *)row);
	r->name = json_string_value(json_object_get(r->settings, "name"));
	r->level = level ? event_level_of(level) : EVENT_NOTICE;
	r->since_ms = clock_wall_ms();
	r->retry = evtimer_new(n->base, on_retry, r);
	LIST_INSERT_HEAD(&n->receivers, r, entry);
	notify_place_get(r);
	if (!r->started && n->last_known) {
		r->started = true;
		r->place = r->scanned = r->counted = n->last;
		notify_place_changed(r);
	}
	r->self = r->retry ? kind->create(r, r->settings, &reason) : NULL;
	if (!r->self)
		receiver_error(r, reason);
	notify_pump(r);
}

static bool named_in(const json_t *rows, const char *name)
{
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		const char *other = json_string_value(json_object_get(row, "name"));

		if (other && !strcmp(other, name))
			return true;
	}
	return false;
}

void notify_settings(struct notify *n, const json_t *rows)
{
	struct receiver *r, *next;
	const json_t *row;
	size_t i;

	for (r = LIST_FIRST(&n->receivers); r; r = next) {
		next = LIST_NEXT(r, entry);
		if (named_in(rows, r->name))
			continue;
		json_object_del(n->places, r->name);
		n->save_due = true;
		if (r->self && r->kind->forget)
			r->kind->forget(r->self);
		notify_receiver_free(r);
	}
	json_array_foreach(rows, i, row)
	{
		const char *name = json_string_value(json_object_get(row, "name"));

		r = name ? notify_find(n, name) : NULL;
		if (r && json_equal(r->settings, row))
			continue;
		if (r)
			notify_receiver_free(r);
		receiver_new(n, row);
	}
	notify_places_save(n);
	notify_link_report_due(n);
}

void notify_clear(struct notify *n)
{
	while (!LIST_EMPTY(&n->receivers))
		notify_receiver_free(LIST_FIRST(&n->receivers));
}

json_t *notify_report_row(const struct receiver *r)
{
	uint64_t last = r->notify->last;

	return json_pack("{s:s,s:s,s:I,s:I,s:I,s:s%,s:I}", "name", r->name, "kind", r->kind->name,
		"delivered", (json_int_t)r->place, "waiting",
		(json_int_t)(r->started && last > r->place ? last - r->place : 0), "dropped",
		(json_int_t)r->dropped, "error", r->error, strlen(r->error), "since",
		(json_int_t)r->since_ms);
}
