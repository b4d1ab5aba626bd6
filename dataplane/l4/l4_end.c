/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of flows: counts given back, sweep, eviction. */
#include "l4/l4_internal.h"

#include "flow/listener.h"
#include "lb/lb.h"

#define SWEEP_PERIOD 1000000000ull /* ns; longer for tables that would need more than this rate: */
#define SWEEP_RATE 2000000ull	   /* records per second */
#define SWEEP_SLICE 256u	   /* records per turn at most */
#define EVICT_LOOK 64u		   /* records looked at to make room */
#define TIMEOUT_DEFAULT 5u	   /* s, of handshake and close, when the virtual server is gone */

static void fold_object(struct worker *w, uint32_t id, const struct flow *flow)
{
	if (id == ID_NONE || worker_shared(w, id)->id != id)
		return;
	uint64_t *o = worker_object(w, id);
	o[OBJECT_CLIENT_PACKETS_IN] += flow->packets[FLOW_CLIENT];
	o[OBJECT_CLIENT_BYTES_IN] += flow->bytes[FLOW_CLIENT];
	o[OBJECT_CLIENT_PACKETS_OUT] += flow->packets[FLOW_SERVER];
	o[OBJECT_CLIENT_BYTES_OUT] += flow->bytes[FLOW_SERVER];
}

void l4_fold(struct worker *w, uint32_t index)
{
	struct flow *flow = &w->flow->flows[index];
	struct flow_cold *cold = &w->flow->cold[index];

	fold_object(w, flow->virtual_id, flow);
	fold_object(w, flow->member_id, flow);
	for (int side = 0; side < 2; side++) {
		cold->packets[side] += flow->packets[side];
		cold->bytes[side] += flow->bytes[side];
		flow->packets[side] = 0;
		flow->bytes[side] = 0;
	}
}

void l4_uncount(struct worker *w, uint32_t index)
{
	struct flow *flow = &w->flow->flows[index];

	if (!(flow->flags & FLOW_COUNTED))
		return;
	flow->flags &= (uint8_t)~FLOW_COUNTED;
	lb_release(w->counters, flow->virtual_id);
	if (flow->member_id != ID_NONE && lb_release(w->counters, flow->member_id))
		worker_event(w, EVENT_CONNECTIONS_ZERO, flow->member_id, 0, NULL, NULL);
}

void l4_end(struct worker *w, uint32_t index)
{
	struct flow *flow = &w->flow->flows[index];

	if (flow->state == FLOW_SYN_SENT && l4_second(w) - w->flow->cold[index].start >= L4_SILENCE)
		l4_failed(w, flow, CONNECT_SILENT);
	l4_fold(w, index);
	l4_uncount(w, index);
	l4_retry_forget(w, flow);
	for (int side = 0; side < 2; side++)
		if (flow->nexthop[side] != NEXTHOP_NONE)
			net_nexthop_put(w, flow->nexthop[side]);
	flow_delete(w->flow, index);
	w->stat[WORKER_FLOWS_DELETED]++;
}

/* Seconds without a packet after which the flow goes. */
static uint32_t timeout_of(const struct worker *w, const struct flow *flow, uint32_t idle)
{
	const struct snap_profile *p;

	if (flow->proto != PROTO_TCP || flow->state == FLOW_ESTABLISHED ||
		flow->state == FLOW_FIN_WAIT)
		return idle;
	p = w->view ? listener_profile(w->view->listeners, flow->virtual_id) : NULL;
	if (p == NULL)
		return TIMEOUT_DEFAULT;
	bool opening = flow->state == FLOW_SYN_SENT || flow->state == FLOW_SYN_RECEIVED;
	return opening ? p->handshake_timeout : p->close_timeout;
}

static void expire(struct worker *w, uint32_t index)
{
	struct flow *flow = &w->flow->flows[index];

	/* A closed one only waited for stragglers. */
	if (flow->state != FLOW_CLOSED) {
		w->stat[WORKER_FLOWS_EXPIRED]++;
		if (worker_shared(w, flow->virtual_id)->id == flow->virtual_id)
			worker_object(w, flow->virtual_id)[OBJECT_TIMEOUTS]++;
		if (flow->state == FLOW_SYN_SENT)
			l4_failed(w, flow, CONNECT_SILENT);
		if (flow->proto == PROTO_TCP && flow->flags & FLOW_RESET_ON_TIMEOUT &&
			!(flow->marks & FLOW_SILENT))
			l4_reset_flow(w, index);
	}
	l4_end(w, index);
}

static void visit(struct worker *w, uint32_t index)
{
	struct flow *flow = &w->flow->flows[index];

	if (!(flow->flags & FLOW_USED))
		return;
	if (unlikely(l4_failed_silent(w, index)))
		l4_failed(w, flow, CONNECT_SILENT);
	uint32_t timeout = timeout_of(w, flow, w->flow->cold[index].idle_timeout);
	uint32_t idle = (w->now - flow->last) / TICKS_PER_SECOND;
	if (timeout != SNAP_TIMEOUT_INDEFINITE && idle >= timeout)
		expire(w, index);
	else if (flow->packets[0] | flow->packets[1])
		l4_fold(w, index);
}

static void sweep_begin(struct worker *w)
{
	struct l4_worker *l4 = w->l4;
	uint64_t least = l4->table.high * (1000000000ull / SWEEP_RATE);

	l4->hand = 0;
	l4->sweep_start = w->now_ns;
	l4->sweep_period = RTE_MAX(least, SWEEP_PERIOD);
}

void l4_house(struct worker *w)
{
	struct l4_worker *l4 = w->l4;
	uint64_t elapsed = w->now_ns - l4->sweep_start;

	l4_failed_house(w);
	if (elapsed >= l4->sweep_period && l4->hand >= l4->table.high)
		sweep_begin(w);
	if (l4->hand >= l4->table.high)
		return;
	elapsed = RTE_MIN(w->now_ns - l4->sweep_start, l4->sweep_period);
	uint32_t due =
		(uint32_t)((double)l4->table.high * (double)elapsed / (double)l4->sweep_period);
	uint32_t end = RTE_MIN(due, l4->hand + SWEEP_SLICE);
	if (due > end)
		w->busy = true;
	while (l4->hand < end)
		visit(w, l4->hand++);
}

/* Nobody has answered the client yet. */
static bool embryonic(const struct flow *flow, const struct flow_cold *cold)
{
	if (flow->proto == PROTO_TCP)
		return flow->state <= FLOW_SYN_RECEIVED;
	return (flow->packets[FLOW_SERVER] | cold->packets[FLOW_SERVER]) == 0;
}

/* Closed flows go first, then the embryonic ones that waited longest; an established flow is never ended
 * before its time. Higher goes sooner, 0 = stays. */
static uint32_t evict_rank(const struct worker *w, uint32_t index, bool ipv6)
{
	const struct flow *flow = &w->flow->flows[index];

	if (!(flow->flags & FLOW_USED) || ipv6 != !!(flow->flags & FLOW_IPV6))
		return 0;
	if (flow->state >= FLOW_CLOSING)
		return UINT32_MAX;
	return embryonic(flow, &w->flow->cold[index]) ? w->now - flow->last + 1 : 0;
}

bool l4_evict(struct worker *w, bool ipv6)
{
	struct l4_worker *l4 = w->l4;
	uint32_t best = FLOW_NONE, highest = 0;

	for (unsigned i = 0; i < EVICT_LOOK && highest != UINT32_MAX; i++) {
		l4->evict_hand = l4->evict_hand + 1 < l4->table.high ? l4->evict_hand + 1 : 0;
		uint32_t rank = evict_rank(w, l4->evict_hand, ipv6);
		if (rank > highest) {
			highest = rank;
			best = l4->evict_hand;
		}
	}
	if (best == FLOW_NONE)
		return false;
	w->stat[WORKER_FLOWS_EVICTED]++;
	l4_end(w, best);
	return true;
}
