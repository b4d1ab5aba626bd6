/* SPDX-License-Identifier: BSD-3-Clause */
#include "event/events.h"

#include <stdlib.h>
#include <string.h>

/* Room for as many events as may come in a ms, so that a later start has higher ids; below 2^53, for JavaScript. */
#define IDS_PER_MS 1000u

void events_init(struct events *e, uint64_t now)
{
	*e = (struct events){.next_id = now * IDS_PER_MS};
}

static void drop_oldest(struct events *e)
{
	struct event_entry *oldest = &e->entry[e->first];

	e->bytes -= oldest->length;
	free(oldest->text);
	*oldest = (struct event_entry){0};
	e->first = (e->first + 1) % EVENTS_MAX;
	e->count--;
}

void events_fini(struct events *e)
{
	while (e->count)
		drop_oldest(e);
}

void events_add(struct events *e, uint64_t now, uint32_t object, uint8_t need, json_t *body)
{
	struct event_entry fresh = {.id = e->next_id, .object = object, .need = need};

	if (!body)
		return;
	e->next_id++;
	json_object_set_new(body, "id", json_integer((json_int_t)fresh.id));
	json_object_set_new(body, "time", json_integer((json_int_t)now));
	fresh.text = json_dumps(body, JSON_COMPACT);
	json_decref(body);
	if (!fresh.text)
		return; /* a gap, that readers are told of */
	fresh.length = strlen(fresh.text);
	e->bytes += fresh.length;
	while (e->count == EVENTS_MAX || (e->count && e->bytes > EVENTS_BYTES_MAX))
		drop_oldest(e);
	e->entry[(e->first + e->count++) % EVENTS_MAX] = fresh;
}

static const struct event_entry *at(const struct events *e, unsigned i)
{
	return &e->entry[(e->first + i) % EVENTS_MAX];
}

const struct event_entry *events_after(const struct events *e, uint64_t id)
{
	unsigned low = 0, high = e->count;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (at(e, middle)->id <= id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < e->count ? at(e, low) : NULL;
}

uint64_t events_last(const struct events *e)
{
	return e->next_id - 1;
}

uint64_t events_gone(const struct events *e, uint64_t id)
{
	const struct event_entry *next = events_after(e, id);
	uint64_t following = next ? next->id : e->next_id;

	return following > id + 1 ? following - id - 1 : 0;
}
