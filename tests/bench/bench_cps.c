/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * New connections per second of one core, in memory, beside standing flows. A connection is its whole
 * life: SYN, SYN ACK, ACK from the client, reset, both keys entered and taken out again, member and limits
 * counted.
 * bench_cps [--hugepages] [FLOWS...]
 */
#include "rig.h"

#include "flow/flow.h"
#include "wire/headers.h"

#define ROUNDS 200u
#define WARM_UP 20u

/* Carries one batch of connections through; returns ns of CPU. */
static uint64_t lives(uint32_t first, uint8_t *member)
{
	uint64_t ns;

	for (uint32_t i = 0; i < RIG_BATCH; i++)
		rig_client_segment(first + i, TCP_SYN, 100, 0);
	ns = rig_run();
	CHECK_INT(rig.out_count, RIG_BATCH);
	for (uint32_t i = 0; i < RIG_BATCH; i++)
		member[i] = (uint8_t)rig_verify(i, true, first + i);
	rig_clear();
	for (uint32_t i = 0; i < RIG_BATCH; i++)
		rig_server_segment(first + i, member[i], TCP_SYN | TCP_ACK, 500, 107);
	ns += rig_run();
	rig_clear();
	for (uint32_t i = 0; i < RIG_BATCH; i++)
		rig_client_segment(first + i, TCP_ACK, 107, 501);
	ns += rig_run();
	rig_clear();
	for (uint32_t i = 0; i < RIG_BATCH; i++)
		rig_client_segment(first + i, TCP_RST, 113, 501);
	ns += rig_run();
	CHECK_INT(rig.out_count, RIG_BATCH);
	rig_clear();
	return ns;
}

static void bench(uint32_t standing, bool hugepages)
{
	static double rate[ROUNDS];
	static uint8_t members[RIG_BATCH];
	uint8_t *member = malloc(standing);
	long switches;

	rig_init(rig_places(standing + RIG_BATCH), hugepages);
	CHECK(member != NULL);
	rig_establish(0, standing, member);
	switches = rig_switches();
	for (unsigned i = 0; i < WARM_UP + ROUNDS; i++) {
		uint64_t ns = lives(standing + i * RIG_BATCH, members);
		if (i >= WARM_UP)
			rate[i - WARM_UP] = RIG_BATCH * 1e9 / (double)ns;
	}
	uint64_t used, places, bytes;
	l4_memory(rig.w, &used, &places, &bytes);
	CHECK(used >= standing && used <= standing + RIG_MEMBERS);
	double value = rig_median(rate, ROUNDS);
	printf("{\"name\": \"cps\", \"flows\": %u, \"value\": %.0f, \"unit\": \"1/s\", \"p5\": "
	       "%.0f, "
	       "\"p95\": %.0f, \"packets_per_connection\": 4, \"involuntary_switches\": %ld}\n",
		standing, value, rate[ROUNDS / 20], rate[ROUNDS - ROUNDS / 20],
		rig_switches() - switches);
	free(member);
}

int main(int argc, char **argv)
{
	return rig_main(argc, argv, "1000 1048576", bench);
}
