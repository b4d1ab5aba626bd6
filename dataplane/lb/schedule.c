/* SPDX-License-Identifier: BSD-3-Clause */
#include "lb/schedule.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A member waiting for its next entry: due at (2k + 1) / (2 weight). */
struct due {
	uint32_t row, order, weight, given;
};

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
	uint64_t x = (uint64_t)(2 * a->given + 1) * b->weight;
	uint64_t y = (uint64_t)(2 * b->given + 1) * a->weight;
	return x != y ? x < y : a->order < b->order;
}

static void heap_down(struct due *heap, uint32_t n, uint32_t i)
{
	struct due moving = heap[i];

	for (;;) {
		uint32_t child = 2 * i + 1;
		if (child >= n)
			break;
		if (child + 1 < n && due_before(&heap[child + 1], &heap[child]))
			child++;
		if (!due_before(&heap[child], &moving))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = moving;
}

/* Entries of each member in one cycle; returns their sum. */
static uint32_t cycle(struct due *heap, uint32_t n)
{
	uint32_t common = heap[0].weight;
	uint64_t sum = 0;

	for (uint32_t i = 1; i < n; i++)
		common = gcd(common, heap[i].weight);
	for (uint32_t i = 0; i < n; i++) {
		heap[i].weight /= common;
		sum += heap[i].weight;
	}
	if (sum <= SCHEDULE_MAX)
		return (uint32_t)sum;
	/* Each keeps one entry; the rest of the cycle is shared by weight, rounded down. */
	uint64_t room = SCHEDULE_MAX - n, total = 0;
	for (uint32_t i = 0; i < n; i++) {
		heap[i].weight = 1 + (uint32_t)(heap[i].weight * room / sum);
		total += heap[i].weight;
	}
	return (uint32_t)total;
}

struct schedule *schedule_new(const uint32_t *rows, const uint32_t *weights, uint32_t n)
{
	if (n > SCHEDULE_MAX)
		return NULL;
	if (n == 0)
		return calloc(1, sizeof(struct schedule));
	struct due *heap = malloc(n * sizeof(*heap));
	if (heap == NULL)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		heap[i] = (struct due){rows[i], i, weights[i], 0};
	uint32_t length = cycle(heap, n);
	struct schedule *s = malloc(sizeof(*s) + length * sizeof(s->entry[0]));
	if (s != NULL) {
		s->length = length;
		s->members = n;
		for (uint32_t i = n / 2; i-- > 0;)
			heap_down(heap, n, i);
		for (uint32_t i = 0; i < length; i++) {
			s->entry[i] = heap[0].row;
			heap[0].given++;
			heap_down(heap, n, 0);
		}
	}
	free(heap);
	return s;
}

void schedule_free(struct schedule *s)
{
	free(s);
}
