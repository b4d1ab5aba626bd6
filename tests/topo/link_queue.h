/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames under way, ordered by the time they leave, equal times by arrival. */
#ifndef WEIR_TESTS_LINK_QUEUE_H
#define WEIR_TESTS_LINK_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct link_item {
	uint64_t at;	/* ns */
	uint64_t order; /* given by the queue */
	void *owner;	/* the caller's */
	uint64_t number;
	bool duplicate;
	size_t length;
	uint8_t data[];
};

struct link_queue {
	struct link_item **heap;
	size_t count, places;
	uint64_t next_order;
};

/* The queue owns the item then. 0 or -ENOMEM. */
int link_queue_push(struct link_queue *queue, struct link_item *item);

/* The item that leaves first, NULL if empty; it stays. */
struct link_item *link_queue_first(const struct link_queue *queue);

/* Takes the first item out; the caller frees it. */
struct link_item *link_queue_pop(struct link_queue *queue);

void link_queue_fini(struct link_queue *queue);

#endif
