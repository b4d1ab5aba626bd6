/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions to weir-mon for statistics of its probes. */
#include <errno.h>
#include <stdlib.h>

#include "health/health_internal.h"

#define PATIENCE_SECONDS 5

struct health_query {
	LIST_ENTRY(health_query) entry;
	uint32_t number;
	struct health_stats_ops ops;
	void *ctx;
	struct event *timer;
};

void health_stats_cancel(struct health_query *q)
{
	LIST_REMOVE(q, entry);
	event_free(q->timer);
	free(q);
}

static void query_end(struct health_query *q, int status)
{
	struct health_stats_ops ops = q->ops;
	void *ctx = q->ctx;

	health_stats_cancel(q);
	ops.done(ctx, status);
}

static void on_timer(evutil_socket_t fd, short what, void *ctx)
{
	query_end(ctx, -ETIMEDOUT);
}

static json_t *question(const struct health_query *q, uint32_t object, uint32_t monitor)
{
	json_t *message =
		json_pack("{s:s,s:I}", "type", MON_STATS, "request", (json_int_t)q->number);

	if (object != ID_NONE)
		json_object_set_new(message, "object", json_integer(object));
	if (monitor != ID_NONE)
		json_object_set_new(message, "monitor", json_integer(monitor));
	return message;
}

struct health_query *health_stats(struct health *h, uint32_t object, uint32_t monitor,
	const struct health_stats_ops *ops, void *ctx)
{
	const struct timeval patience = {.tv_sec = PATIENCE_SECONDS};

	if (!health_link_connected(h->link)) {
		errno = ENOTCONN;
		return NULL;
	}
	struct health_query *q = calloc(1, sizeof(*q));
	if (q)
		q->timer = evtimer_new(h->base, on_timer, q);
	if (!q || !q->timer) {
		free(q);
		errno = ENOMEM;
		return NULL;
	}
	q->number = ++h->query_number;
	q->ops = *ops;
	q->ctx = ctx;
	LIST_INSERT_HEAD(&h->queries, q, entry);
	event_add(q->timer, &patience);
	health_link_send(h->link, question(q, object, monitor));
	return q;
}

void health_stats_message(struct health *h, const json_t *message, bool end)
{
	json_int_t number = json_integer_value(json_object_get(message, "request"));
	const json_t *rows = json_object_get(message, "rows");
	struct health_query *q;

	LIST_FOREACH(q, &h->queries, entry)
	if (q->number == number)
		break;
	if (!q)
		return; /* nobody waits any more */
	if (end)
		query_end(q, 0);
	else if (json_is_array(rows))
		q->ops.rows(q->ctx, rows);
}

void health_stats_lost(struct health *h)
{
	struct health_query *q;

	while ((q = LIST_FIRST(&h->queries)))
		query_end(q, -ENOTCONN);
}
