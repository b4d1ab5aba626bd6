/* SPDX-License-Identifier: BSD-3-Clause */
#include "link_queue.h"

#include <errno.h>
#include <stdlib.h>

static bool before(const struct link_item *a, const struct link_item *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

int link_queue_push(struct link_queue *q, struct link_item *item)
{
	if (q->count == q->places) {
		size_t places = q->places ? q->places * 2 : 256;
		struct link_item **heap = realloc(q->heap, places * sizeof(*heap));
		if (!heap)
			return -ENOMEM;
		q->heap = heap;
		q->places = places;
	}
	item->order = q->next_order++;
	size_t i = q->count++;
	for (; i && before(item, q->heap[(i - 1) / 2]); i = (i - 1) / 2)
		q->heap[i] = q->heap[(i - 1) / 2];
	q->heap[i] = item;
	return 0;
}

struct link_item *link_queue_first(const struct link_queue *q)
{
	return q->count ? q->heap[0] : NULL;
}

struct link_item *link_queue_pop(struct link_queue *q)
{
	struct link_item *first = q->heap[0], *last = q->heap[--q->count];
	size_t i = 0;
	for (size_t child = 1; child < q->count; child = 2 * i + 1) {
		if (child + 1 < q->count && before(q->heap[child + 1], q->heap[child]))
			child++;
		if (!before(q->heap[child], last))
			break;
		q->heap[i] = q->heap[child];
		i = child;
	}
	q->heap[i] = last;
	return first;
}

void link_queue_fini(struct link_queue *q)
{
	while (q->count)
		free(q->heap[--q->count]);
	free(q->heap);
	*q = (struct link_queue){0};
}
