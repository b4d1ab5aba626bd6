/* SPDX-License-Identifier: BSD-3-Clause */
/* When a number that falls will be 0: an exponential through its last samples. Pure. */
#ifndef WEIR_DRAIN_FORECAST_H
#define WEIR_DRAIN_FORECAST_H

#include <stdint.h>

enum {
	FORECAST_SAMPLES = 32,
	FORECAST_STEP_MIN_MS = 250,  /* between samples at first */
	FORECAST_STEP_MAX_MS = 2000, /* and later: the window is a minute */
};

struct forecast {
	unsigned count;
	uint32_t step_ms;
	uint64_t at_ms[FORECAST_SAMPLES];
	uint32_t value[FORECAST_SAMPLES];
};

/* Takes a sample unless the last is too young. A zeroed struct has none. */
void forecast_add(struct forecast *f, uint64_t now_ms, uint32_t value);

/* ms from the last sample until the value is below one half; -1: it does not fall. */
int64_t forecast_zero(const struct forecast *f);

#endif
