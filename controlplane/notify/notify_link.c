/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is asked of weir-cp. Its answers come in the order of the requests, so three connections: settings and the newest
 * records are followed on one each, on the third receivers that are behind read, and reports are made.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "notify/notify.h"

#define REPORT_DELAY_US 100000

struct notify_link {
	struct notify *notify;
	struct notify_conn *settings, *stream, *asks;
	struct event *report;
	json_t *tested;
	uint64_t next_read;
	bool asks_up, stream_up, following;
};

/* --- settings --------------------------------------------------------------------------------------- */

static void settings_up(void *ctx)
{
	struct notify_link *l = ctx;

	log_notice("weir-cp: connected");
	notify_conn_send(l->settings, json_pack("{s:s,s:b}", "op", "notify-settings", "follow", 1));
}

static void test_begin(struct notify_link *l, const json_t *test)
{
	const char *name = json_string_value(json_object_get(test, "receiver"));
	uint64_t number = (uint64_t)json_integer_value(json_object_get(test, "number"));
	struct receiver *r = name ? notify_find(l->notify, name) : NULL;

	if (!r)
		notify_link_tested(l->notify, number, false, "there is no such receiver");
	else if (!r->self)
		notify_link_tested(l->notify, number, false, r->error);
	else
		r->kind->test(r->self, number);
}

static void settings_message(void *ctx, const json_t *message)
{
	struct notify_link *l = ctx;
	const json_t *row, *rows = json_object_get(message, "rows");
	size_t i;

	json_array_foreach(rows, i, row)
	{
		const json_t *receivers = json_object_get(row, "receivers");
		const json_t *test = json_object_get(row, "test");
		const char *host = json_string_value(json_object_get(row, "host"));

		if (host)
			snprintf(l->notify->host, sizeof(l->notify->host), "%s", host);
		if (json_is_array(receivers))
			notify_settings(l->notify, receivers);
		if (test)
			test_begin(l, test);
	}
	if (!rows)
		notify_conn_again(l->settings);
}

static void settings_down(void *ctx) {}

/* --- the newest records ----------------------------------------------------------------------------- */

/* Both connections: the one that tells the newest number, and the one that follows from there. */
static void follow(struct notify_link *l)
{
	if (l->following || !l->stream_up || !l->asks_up || !l->notify->last_known)
		return;
	l->following =
		notify_conn_send(l->stream, json_pack("{s:s,s:I,s:b}", "op", "log", "after",
						    (json_int_t)l->notify->last, "follow", 1));
}

static void stream_up(void *ctx)
{
	struct notify_link *l = ctx;

	l->stream_up = true;
	follow(l);
}

static void stream_message(void *ctx, const json_t *message)
{
	struct notify_link *l = ctx;
	const json_t *row, *rows = json_object_get(message, "rows");
	size_t i;

	json_array_foreach(rows, i, row) notify_record(l->notify, row);
	if (rows)
		return;
	l->following = false;
	if (json_object_get(message, "result"))
		follow(l);
	else
		notify_conn_again(l->stream);
}

static void stream_down(void *ctx)
{
	struct notify_link *l = ctx;

	l->stream_up = l->following = false;
}

/* --- questions and reports -------------------------------------------------------------------------- */

static void asks_up(void *ctx)
{
	struct notify_link *l = ctx;

	l->asks_up = true;
	notify_conn_send(
		l->asks, json_pack("{s:s,s:i,s:s}", "op", "log", "limit", 1, "id", "last"));
	notify_link_report_due(l->notify);
}

/* Without an end of its own a report's answer says nothing that is needed. */
static void asks_message(void *ctx, const json_t *message)
{
	struct notify_link *l = ctx;
	const json_t *id = json_object_get(message, "id");
	const json_t *rows = json_object_get(message, "rows");
	const json_t *result = json_object_get(message, "result");
	uint64_t read = (uint64_t)json_integer_value(id);

	if (json_is_string(id) && result) {
		uint64_t before = l->notify->last;

		notify_last(
			l->notify, (uint64_t)json_integer_value(json_object_get(result, "last")));
		if (l->following && l->notify->last < before)
			notify_conn_again(l->stream);
		follow(l);
	} else if (json_is_string(id) && !rows) {
		notify_conn_again(l->asks);
	} else if (read && rows) {
		notify_rows(l->notify, read, rows);
	} else if (read && result) {
		notify_rows_end(l->notify, read, result);
	} else if (read) {
		notify_rows_lost(l->notify, read);
	}
}

static void asks_down(void *ctx)
{
	struct notify_link *l = ctx;

	l->asks_up = false;
	notify_rows_lost(l->notify, 0);
}

uint64_t notify_link_read(struct notify *n, uint64_t after, unsigned limit)
{
	struct notify_link *l = n->link;
	uint64_t number = l->next_read;

	if (!notify_conn_send(
		    l->asks, json_pack("{s:s,s:I,s:I,s:I}", "op", "log", "after", (json_int_t)after,
				     "limit", (json_int_t)limit, "id", (json_int_t)number)))
		return 0;
	l->next_read++;
	return number;
}

static void on_report(evutil_socket_t fd, short what, void *ctx)
{
	struct notify_link *l = ctx;
	json_t *rows = json_array();
	const struct receiver *r;

	if (!l->asks_up) {
		json_decref(rows);
		return;
	}
	LIST_FOREACH(r, &l->notify->receivers, entry)
	json_array_append_new(rows, notify_report_row(r));
	notify_conn_send(l->asks, json_pack("{s:s,s:o,s:O}", "op", "notify-report", "receivers",
					  rows, "tested", l->tested));
	json_array_clear(l->tested);
}

void notify_link_report_due(struct notify *n)
{
	struct timeval delay = {.tv_usec = REPORT_DELAY_US};
	struct notify_link *l = n->link;

	if (l && !evtimer_pending(l->report, NULL))
		evtimer_add(l->report, &delay);
}

void notify_link_tested(struct notify *n, uint64_t number, bool ok, const char *reason)
{
	if (!n->link)
		return;
	json_array_append_new(
		n->link->tested, json_pack("{s:I,s:b,s:s%}", "number", (json_int_t)number, "ok", ok,
					 "reason", reason, strlen(reason)));
	notify_link_report_due(n);
}

/* --- start and end ---------------------------------------------------------------------------------- */

int notify_link_new(struct notify *n, const char *run_dir, uid_t started_as)
{
	static const struct notify_conn_ops settings = {settings_up, settings_message,
						    settings_down},
					    stream = {stream_up, stream_message, stream_down},
					    asks = {asks_up, asks_message, asks_down};
	struct notify_link *l = calloc(1, sizeof(*l));
	char path[4096];

	if (!l)
		return -1;
	n->link = l;
	snprintf(path, sizeof(path), "%s/%s", run_dir, NOTIFY_SOCKET_NAME);
	l->notify = n;
	l->next_read = 1;
	l->tested = json_array();
	l->report = evtimer_new(n->base, on_report, l);
	l->settings = notify_conn_new(n->base, path, started_as, &settings, l);
	l->stream = notify_conn_new(n->base, path, started_as, &stream, l);
	l->asks = notify_conn_new(n->base, path, started_as, &asks, l);
	return l->report && l->settings && l->stream && l->asks && l->tested ? 0 : -1;
}

void notify_link_free(struct notify_link *l)
{
	if (!l)
		return;
	l->notify->link = NULL;
	notify_conn_free(l->settings);
	notify_conn_free(l->stream);
	notify_conn_free(l->asks);
	if (l->report)
		event_free(l->report);
	json_decref(l->tested);
	free(l);
}
