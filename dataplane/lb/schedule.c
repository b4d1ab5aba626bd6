/* SPDX-License-Identifier: BSD-3-Clause */
#include "lb/schedule.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * Entry k of a member with weight w belongs between slots floor(k L / w) and ceil((k + 1) L / w) of a cycle
 * of length L. The earliest deadline among those that may already come keeps all of them (Baruah et al.,
 * Proportionate progress, 1996), so no member is ever a whole turn ahead of or behind its share.
 */
struct due {
	uint32_t row, order, weight, given;
	uint32_t deadline;
	uint32_t next; /* in the list of those whose next entry may come at one slot */
};

#define NOBODY UINT32_MAX

static uint32_t gcd(uint32_t a, uint32_t b)
{
	while (b != 0) {
		uint32_t t = a % b;
		a = b;
		b = t;
	}
	return a;
}

static bool due_before(const struct due *a, const struct due *b)
{
	return a->deadline != b->deadline ? a->deadline < b->deadline : a->order < b->order;
}

static void heap_up(struct due **heap, uint32_t i)
{
	struct due *moving = heap[i];

	for (; i > 0 && due_before(moving, heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = moving;
}

static void heap_down(struct due **heap, uint32_t n, uint32_t i)
{
	struct due *moving = heap[i];

	for (;;) {
		uint32_t child = 2 * i + 1;
		if (child >= n)
			break;
		if (child + 1 < n && due_before(heap[child + 1], heap[child]))
			child++;
		if (!due_before(heap[child], moving))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = moving;
}

/* Entries of each member in one cycle; returns their sum. */
static uint32_t cycle(struct due *all, uint32_t n)
{
	uint32_t common = all[0].weight;
	uint64_t sum = 0;

	for (uint32_t i = 1; i < n; i++)
		common = gcd(common, all[i].weight);
	for (uint32_t i = 0; i < n; i++) {
		all[i].weight /= common;
		sum += all[i].weight;
	}
	if (sum <= SCHEDULE_MAX)
		return (uint32_t)sum;
	/* Each keeps one entry; the rest of the cycle is shared by weight, rounded down. */
	uint64_t room = SCHEDULE_MAX - n, total = 0;
	for (uint32_t i = 0; i < n; i++) {
		all[i].weight = 1 + (uint32_t)(all[i].weight * room / sum);
		total += all[i].weight;
	}
	return (uint32_t)total;
}

/* Lays out one cycle; lists has a place for each slot. */
static void cycle_fill(
	struct schedule *s, struct due *all, uint32_t n, struct due **heap, uint32_t *lists)
{
	uint64_t length = s->length;
	uint32_t ready = 0;

	memset(lists, 0xff, length * sizeof(*lists));
	for (uint32_t i = n; i-- > 0;) {
		all[i].next = lists[0];
		lists[0] = i;
	}
	for (uint32_t slot = 0; slot < length; slot++) {
		for (uint32_t i = lists[slot], next; i != NOBODY; i = next) {
			struct due *d = &all[i];
			next = d->next;
			d->deadline =
				(uint32_t)(((d->given + 1) * length + d->weight - 1) / d->weight);
			heap[ready] = d;
			heap_up(heap, ready++);
		}
		struct due *first = heap[0];
		s->entry[slot] = first->row;
		heap[0] = heap[--ready];
		if (ready > 0)
			heap_down(heap, ready, 0);
		uint64_t again = ++first->given * length / first->weight;
		if (first->given == first->weight)
			continue;
		if (again <= slot)
			again = slot + 1;
		first->next = lists[again];
		lists[again] = first->order;
	}
}

struct schedule *schedule_new(const uint32_t *rows, const uint32_t *weights, uint32_t n)
{
	if (n > SCHEDULE_MAX)
		return NULL;
	if (n == 0)
		return calloc(1, sizeof(struct schedule));
	struct due *all = malloc(n * sizeof(*all)), **heap = malloc(n * sizeof(*heap));
	uint32_t *lists = malloc(SCHEDULE_MAX * sizeof(*lists));
	struct schedule *s = NULL;
	if (all != NULL && heap != NULL && lists != NULL) {
		for (uint32_t i = 0; i < n; i++)
			all[i] = (struct due){.row = rows[i], .order = i, .weight = weights[i]};
		uint32_t length = cycle(all, n);
		s = malloc(sizeof(*s) + length * sizeof(s->entry[0]));
		if (s != NULL) {
			s->length = length;
			s->members = n;
			cycle_fill(s, all, n, heap, lists);
		}
	}
	free(all);
	free(heap);
	free(lists);
	return s;
}

void schedule_free(struct schedule *s)
{
	free(s);
}
