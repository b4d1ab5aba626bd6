/* SPDX-License-Identifier: BSD-3-Clause */
/* A smooth order of weighted members: ticket t goes to entry[t % length]. */
#ifndef WEIR_LB_SCHEDULE_H
#define WEIR_LB_SCHEDULE_H

#include <stdint.h>

#define SCHEDULE_MAX 65535u

struct schedule {
	uint32_t length;  /* entries; 0 = no usable member */
	uint32_t members; /* different members in it */
	uint32_t entry[]; /* rows of SNAP_MEMBER */
};

/*
 * Orders n members (rows, weights >= 1) so that each has weight / gcd entries, spread evenly: after t
 * tickets each has had its share of t within 1. A cycle longer than SCHEDULE_MAX is scaled down, each
 * member keeping at least one entry. NULL on no memory or n > SCHEDULE_MAX.
 */
struct schedule *schedule_new(const uint32_t *rows, const uint32_t *weights, uint32_t n);
void schedule_free(struct schedule *s);

#endif
