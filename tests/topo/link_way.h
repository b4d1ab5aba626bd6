/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One direction of a simulated cable: what happens to each frame, decided from a seed.
 *
 * The fate of the n-th frame depends on seed, direction and n alone, so equal traffic meets equal
 * faults. Time is a parameter (ns, monotonic); nothing here waits, allocates or sends.
 */
#ifndef WEIR_TESTS_LINK_WAY_H
#define WEIR_TESTS_LINK_WAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct link_params {
	uint64_t delay, jitter; /* ns; jitter is added evenly from 0, order kept */
	uint64_t rate;		/* bit/s of whole frames, 0 = none */
	uint64_t queue;		/* ns a frame may wait for the rate; behind that it is dropped */
	uint64_t gap;		/* ns that a reordered frame and a duplicate come late */
	double loss, reorder, duplicate, corrupt; /* probability, 0-1 */
	uint32_t mtu; /* bytes behind the Ethernet header, tag not counted */
};

#define LINK_COUNT_LIST(X)                                                                         \
	X(received)                                                                                \
	X(sent)                                                                                    \
	X(bytes)                                                                                   \
	X(lost)                                                                                    \
	X(queue_dropped)                                                                           \
	X(too_long)                                                                                \
	X(duplicated)                                                                              \
	X(corrupted)                                                                               \
	X(reordered) /* left after a frame that had come later */                                  \
	X(send_failed)                                                                             \
	X(tagged)                                                                                  \
	X(untagged)

struct link_counts {
#define X(name) uint64_t name;
	LINK_COUNT_LIST(X)
#undef X
};

struct link_way {
	struct link_params params;
	struct link_counts counts;
	uint64_t seed;
	uint64_t frames;  /* number of the next frame */
	uint64_t busy;	  /* the rate's line is free from then on */
	uint64_t last;	  /* latest planned departure, keeps the order under jitter */
	uint64_t highest; /* number of the newest frame that left, plus 1 */
};

struct link_fate {
	unsigned copies;    /* 0 = dropped, else 1 or 2 */
	uint64_t number;    /* of the frame, for link_way_sent */
	uint64_t depart[2]; /* time of each copy */
	size_t corrupt_bit; /* bit to flip, counted from the frame's start; 0 = none */
};

/* No fault at all, any length. */
void link_params_init(struct link_params *params);

/*
 * Reads "key=value" (see Link in links.py for keys and units) into params.
 * 0; -EINVAL for an unknown key or a bad value.
 */
int link_params_set(struct link_params *params, const char *key, const char *value);

/* id tells the directions of one seed apart. */
void link_way_init(
	struct link_way *way, const struct link_params *params, uint64_t seed, uint64_t id);

/* A frame of length bytes, Ethernet header included, came in at time now. */
struct link_fate link_way_decide(struct link_way *way, uint64_t now, size_t length);

/* A copy of frame number left; counts it, and whether it was overtaken. */
void link_way_sent(struct link_way *way, uint64_t number, size_t length, bool duplicate);

#endif
