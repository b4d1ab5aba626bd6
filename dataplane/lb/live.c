/* SPDX-License-Identifier: BSD-3-Clause */
#include "lb/live.h"

#include <string.h>

static void line_write(struct counter_shared *line, const struct snap_live *live)
{
	__atomic_store_n(&line->limit, live->connection_limit, __ATOMIC_RELAXED);
	__atomic_store_n(&line->rate_limit, live->rate_limit, __ATOMIC_RELAXED);
	__atomic_store_n(&line->ratio, live->ratio, __ATOMIC_RELAXED);
	__atomic_store_n(&line->dynamic_ratio, live->dynamic_ratio, __ATOMIC_RELAXED);
	__atomic_store_n(&line->avail, live->avail, __ATOMIC_RELEASE);
}

static void line_init(
	const struct counters *c, uint32_t id, uint32_t parent, const struct snap_live *live)
{
	static const struct snap_live open = {.ratio = 1, .avail = LIVE_BITS};
	struct counter_shared *line = &c->shared[id_slot(id)];

	if (line->id == id)
		return;
	/* The slot's former object is gone: nobody sums its counts any more. */
	for (unsigned w = 0; w < c->header->workers; w++)
		memset(counters_object(c, id_slot(id), w), 0, OBJECT_COUNTERS * sizeof(uint64_t));
	memset(line, 0, sizeof(*line));
	line->parent = parent;
	line_write(line, live ? live : &open);
	__atomic_store_n(&line->id, id, __ATOMIC_RELEASE);
}

void live_sync(const struct snap_header *snap, const struct counters *c)
{
	const struct snap_node *nodes = SNAP_ROWS(snap, SNAP_NODE, struct snap_node);
	const struct snap_member *members = SNAP_ROWS(snap, SNAP_MEMBER, struct snap_member);
	const struct snap_virtual *virtuals = SNAP_ROWS(snap, SNAP_VIRTUAL, struct snap_virtual);
	const struct snap_pool *pools = SNAP_ROWS(snap, SNAP_POOL, struct snap_pool);
	const struct snap_vaddr *vaddrs = SNAP_ROWS(snap, SNAP_VADDR, struct snap_vaddr);

	for (uint32_t i = 0; i < SNAP_COUNT(snap, SNAP_NODE); i++)
		line_init(c, nodes[i].id, ID_NONE, &nodes[i].live);
	for (uint32_t i = 0; i < SNAP_COUNT(snap, SNAP_MEMBER); i++)
		line_init(c, members[i].id, nodes[members[i].node].id, &members[i].live);
	for (uint32_t i = 0; i < SNAP_COUNT(snap, SNAP_VIRTUAL); i++)
		line_init(c, virtuals[i].id, ID_NONE, &virtuals[i].live);
	for (uint32_t i = 0; i < SNAP_COUNT(snap, SNAP_POOL); i++)
		line_init(c, pools[i].id, ID_NONE, NULL);
	for (uint32_t i = 0; i < SNAP_COUNT(snap, SNAP_VADDR); i++)
		line_init(c, vaddrs[i].id, ID_NONE,
			&(struct snap_live){
				.ratio = 1, .avail = vaddrs[i].available ? LIVE_BITS : 0});
}

enum live_applied live_apply(const struct counters *c, const struct live_row *row, uint32_t second)
{
	uint32_t slot = id_slot(row->id);

	if (slot >= c->header->slots || c->shared[slot].id != row->id)
		return LIVE_UNKNOWN;
	struct counter_shared *line = &c->shared[slot];
	bool was = line->avail & LIVE_NEW, is = row->live.avail & LIVE_NEW;
	if (is && !was)
		line->ramp_since = second ? second : 1;
	else if (!is)
		line->ramp_since = 0;
	line_write(line, &row->live);
	return is == was ? LIVE_SAME : LIVE_TURNED;
}
