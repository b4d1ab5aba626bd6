/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory and processors of the machine, as /proc tells them. */
#ifndef WEIR_REST_REST_HOST_H
#define WEIR_REST_REST_HOST_H

#include <jansson.h>
#include <stdint.h>

#define REST_CPUS_MAX 256u

struct rest_memory {
	uint64_t total, used, swap_total, swap_used; /* bytes */
};

/* Zeroes where it cannot be read. */
void rest_memory_read(struct rest_memory *m);

/* Takes a look at how busy the processors are, once in five seconds at most. */
void rest_cpu_sample(void);

/* {"/0": {"cpuId", "fiveSecAvgIdle", ...}} of each, in percent over the last 5 s, minute and 5 minutes. */
json_t *rest_cpu_entries(void);
unsigned rest_cpu_count(void);

#endif
