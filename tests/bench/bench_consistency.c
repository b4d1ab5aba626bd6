/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flows that change their server without cause, counted packet by packet, while members come and go,
 * ratios change, members flap and a thousand commits are made.
 * bench_consistency [--hugepages] [FLOWS...]
 */
#include "rig.h"

#include "flow/flow.h"
#include "lb/lb.h"
#include "lb/live.h"
#include "wire/headers.h"

#define COMMITS 1000u
#define BATCHES 10u /* between two commits */

/* A push of the control plane: ratio and state of a member. */
static void push(uint32_t row)
{
	struct live_row live = {.id = 40 + row,
		.live = {.ratio = (uint16_t)(1 + rig_random() % 100),
			.dynamic_ratio = 1,
			.avail = rig_random() & 1 ? LIVE_BITS : 0}};

	CHECK(live_apply(&rig.counters, &live, 1));
	lb_touch(rig.view.lb, live.id);
	lb_garbage_free(lb_refresh(rig.view.lb, 1));
}

static uint64_t batch(uint32_t flows, const uint8_t *member)
{
	static uint32_t flow[RIG_BATCH];
	uint64_t wrong = 0;

	for (uint32_t i = 0; i < RIG_BATCH; i++) {
		flow[i] = rig_random() % flows;
		rig_client_segment(flow[i], TCP_ACK, 107, 501);
	}
	rig_run();
	wrong += RIG_BATCH - rig.out_count;
	for (uint32_t i = 0; i < rig.out_count; i++)
		wrong += rig_verify(i, true, flow[i]) != member[flow[i]];
	rig_clear();
	return wrong;
}

static void bench(uint32_t flows, bool hugepages)
{
	uint8_t *member = malloc(flows);
	uint64_t wrong = 0, packets = 0, pushes = 0;

	rig_init(rig_places(flows), hugepages);
	CHECK(member != NULL);
	rig_establish(0, flows, member);
	for (unsigned i = 0; i < COMMITS; i++) {
		rig_commit(RIG_MEMBERS - rig_random() % 4, rig_random() % SNAP_LB_COUNT);
		for (unsigned j = 0; j < BATCHES; j++, pushes++) {
			push(rig_random() % RIG_MEMBERS);
			wrong += batch(flows, member);
			packets += RIG_BATCH;
		}
	}
	printf("{\"name\": \"consistency.violations\", \"flows\": %u, \"value\": %llu, \"unit\": "
	       "\"1\", "
	       "\"packets\": %llu, \"commits\": %u, \"pushes\": %llu}\n",
		flows, (unsigned long long)wrong, (unsigned long long)packets, COMMITS,
		(unsigned long long)pushes);
	free(member);
}

int main(int argc, char **argv)
{
	return rig_main(argc, argv, "65536 1048576", bench);
}
