/* SPDX-License-Identifier: BSD-3-Clause */
/* What a receiver has sent and not yet seen taken, in order. Tests go the same way, with a number instead of a seq. */
#ifndef WEIR_NOTIFY_HELD_H
#define WEIR_NOTIFY_HELD_H

#include "notify/receiver.h"

#define HELD_MAX 2048u

struct held_item {
	uint64_t seq;	   /* 0: a test */
	uint64_t test;	   /* its number */
	uint64_t end;	   /* bytes of the connection up to its last */
	uint64_t since_ns; /* when it was sent; when the other end had it */
	bool there;	   /* the other end has it */
};

struct held {
	struct held_item item[HELD_MAX];
	unsigned first, count;
};

static inline struct held_item *held_at(struct held *h, unsigned i)
{
	return &h->item[(h->first + i) % HELD_MAX];
}

/* There must be room. */
static inline struct held_item *held_put(struct held *h, uint64_t seq, uint64_t test)
{
	struct held_item *item = held_at(h, h->count++);

	*item = (struct held_item){.seq = seq, .test = test};
	return item;
}

/* The first count are taken. */
static inline void held_taken(struct held *h, struct receiver *r, unsigned count)
{
	uint64_t seq = 0;

	for (unsigned i = 0; i < count; i++) {
		const struct held_item *item = held_at(h, i);

		if (item->seq)
			seq = item->seq;
		else
			receiver_tested(r, item->test, true, "");
	}
	h->first = (h->first + count) % HELD_MAX;
	h->count -= count;
	if (count)
		receiver_taken(r, seq);
}

/* None is: records come again, tests do not. */
static inline void held_lost(struct held *h, struct receiver *r, const char *reason)
{
	for (unsigned i = 0; i < h->count; i++)
		if (!held_at(h, i)->seq)
			receiver_tested(r, held_at(h, i)->test, false, reason);
	h->first = h->count = 0;
}

#endif
