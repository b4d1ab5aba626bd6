/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layer-4 forwarding with translation, both ways, in memory: CPU time per packet at many numbers of
 * standing flows, above the floor of the same run, and memory per flow.
 * bench_l4 [--hugepages] [FLOWS...]
 */
#include "rig.h"

#include "flow/flow.h"
#include "wire/headers.h"

#ifndef ROUNDS
#define ROUNDS 400u
#endif /* batches that are timed */
#define WARM_UP 40u
#define VERIFIED 40u /* batches whose every packet is looked at */

static uint8_t *member;

static void batch_make(uint32_t flows, uint32_t *flow, bool *from_client)
{
	for (uint32_t i = 0; i < RIG_BATCH; i++) {
		flow[i] = rig_random() % flows;
		from_client[i] = rig_random() & 1;
		if (from_client[i])
			rig_client_segment(flow[i], TCP_ACK, 107, 501);
		else
			rig_server_segment(flow[i], member[flow[i]], TCP_ACK, 501, 107);
	}
}

static void verify(uint32_t flows, uint32_t *flow, bool *from_client)
{
	for (unsigned round = 0; round < VERIFIED; round++) {
		batch_make(flows, flow, from_client);
		rig_run();
		CHECK_INT(rig.out_count, RIG_BATCH);
		/* IPv4 packets of a burst keep their order. */
		for (uint32_t i = 0; i < RIG_BATCH; i++) {
			uint32_t m = rig_verify(i, from_client[i], flow[i]);
			CHECK(!from_client[i] || m == member[flow[i]]);
		}
		rig_clear();
	}
}

static void measure(uint32_t flows)
{
	static uint32_t flow[RIG_BATCH];
	static bool from_client[RIG_BATCH];
	static double cost[ROUNDS], floor_cost[ROUNDS];
	long switches = rig_switches();

	verify(flows, flow, from_client);
	for (unsigned i = 0; i < WARM_UP + ROUNDS; i++) {
		batch_make(flows, flow, from_client);
		uint64_t ns = rig_run();
		rig_clear();
		batch_make(flows, flow, from_client);
		uint64_t floor_ns = rig_run_floor();
		rig_clear();
		if (i < WARM_UP)
			continue;
		cost[i - WARM_UP] = (double)ns / RIG_BATCH;
		floor_cost[i - WARM_UP] = (double)floor_ns / RIG_BATCH;
	}
	/* The median batch: one that was preempted does not count. */
	double value = rig_median(cost, ROUNDS), base = rig_median(floor_cost, ROUNDS);
	uint64_t used, places, bytes;
	l4_memory(rig.w, &used, &places, &bytes);
	printf("{\"name\": \"l4.ns_per_packet\", \"flows\": %u, \"value\": %.1f, \"unit\": \"ns\", "
	       "\"floor\": %.1f, \"above_floor\": %.1f, \"ratio\": %.2f, \"p5\": %.1f, \"p95\": "
	       "%.1f, "
	       "\"involuntary_switches\": %ld}\n",
		flows, value, base, value - base, value / base, cost[ROUNDS / 20],
		cost[ROUNDS - ROUNDS / 20], rig_switches() - switches);
	printf("{\"name\": \"l4.bytes_per_flow\", \"flows\": %u, \"places\": %llu, \"value\": "
	       "%.1f, "
	       "\"unit\": \"B\", \"fill\": %.2f}\n",
		flows, (unsigned long long)places, (double)bytes / (double)places,
		(double)used / (double)places);
	fflush(stdout);
}

static void bench(uint32_t flows, bool hugepages)
{
	rig_init(rig_places(flows), hugepages);
	member = malloc(flows);
	CHECK(member != NULL);
	rig_establish(0, flows, member);
	measure(flows);
}

int main(int argc, char **argv)
{
	return rig_main(argc, argv, "1000 65536 1048576 10485760", bench);
}
