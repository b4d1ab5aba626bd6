/* SPDX-License-Identifier: BSD-3-Clause */
/* What a balancing method is: a file and this table. Used inside lb/ only. */
#ifndef WEIR_LB_METHOD_H
#define WEIR_LB_METHOD_H

#include "lb/lb.h"
#include "lb/schedule.h"

/* A pool as the methods see it. */
struct lb_pool {
	const struct lb_method *method;
	struct schedule *schedule; /* published by the control thread; NULL until first built */
	const struct snap_pool *row;
	struct counter_shared *line;
	bool touched;	 /* to be rebuilt */
	bool ramping;	 /* some member's share still grows */
	bool limited;	 /* priority groups, and some member or node has a connection limit */
	uint16_t lowest; /* priority group: members below are not in the schedule */
};

/* What each pick needs to know. */
struct lb_context {
	const struct snap_header *snap;
	const struct counters *counters;
	const struct snap_member *members;
	const struct snap_node *nodes;
};

struct lb_method {
	/* Weight of a usable member in the schedule; >= 1. */
	uint32_t (*weight)(const struct lb_context *c, const struct snap_member *member);
	/* Member row, admitted nowhere yet; `skip` entries of the schedule are to be passed over because
	 * their members took no connection. SNAP_NIL when there is none left. */
	uint32_t (*pick)(const struct lb_context *c, const struct schedule *s, uint64_t ticket,
		uint32_t skip);
};

extern const struct lb_method lb_round_robin, lb_ratio_member, lb_ratio_node,
	lb_least_connections_member;

static inline struct counter_shared *lb_line(const struct lb_context *c, uint32_t id)
{
	return &c->counters->shared[id_slot(id)];
}

#endif
