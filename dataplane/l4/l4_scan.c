/* SPDX-License-Identifier: BSD-3-Clause */
/* Listing and deleting flows for the control thread, a slice at a time. */
#include "l4/l4_internal.h"

#include "lb/lb.h"

static bool addr_given(const struct ip_addr *a)
{
	return (a->d[0] | a->d[1]) != 0;
}

static bool addr_fits(const struct ip_addr *want, unsigned prefix, const struct ip_addr *have)
{
	return !addr_given(want) ||
	       ip_prefix_match(want, prefix ? prefix : ip_prefix_max(want), have);
}

static bool port_fits(uint16_t want, uint16_t have)
{
	return want == 0 || want == have;
}

static bool objects_fit(
	const struct worker *w, const struct flow_filter *want, const struct flow_row *row)
{
	if (want->virtual_id != ID_NONE && want->virtual_id != row->virtual_id)
		return false;
	if (want->node_id != ID_NONE &&
		(row->member_id == ID_NONE ||
			worker_shared(w, row->member_id)->id != row->member_id ||
			worker_shared(w, row->member_id)->parent != want->node_id))
		return false;
	if (want->pool_id == ID_NONE)
		return true;
	const struct snap_member *member = w->view ? lb_member(w->view->lb, row->member_id) : NULL;
	return member != NULL &&
	       SNAP_ROWS(w->view->snap, SNAP_POOL, struct snap_pool)[member->pool].id ==
		       want->pool_id;
}

/* What needs no row: a walk over millions of flows for a few members is mostly this. */
static bool member_fits(
	const struct worker *w, const struct flow_filter *want, const struct flow *flow)
{
	if (want->member_id != ID_NONE && want->member_id != flow->member_id)
		return false;
	if (!want->down)
		return true;
	const struct counter_shared *line = worker_shared(w, flow->member_id);
	return flow->member_id != ID_NONE && line->id == flow->member_id &&
	       !(__atomic_load_n(&line->avail, __ATOMIC_RELAXED) & LIVE_BITS);
}

static bool row_fits(
	const struct worker *w, const struct flow_filter *want, const struct flow_row *row)
{
	return (want->proto == 0 || want->proto == row->proto) && row->age >= want->age_min &&
	       row->idle >= want->idle_min && port_fits(want->client_port, row->client_port) &&
	       port_fits(want->virtual_port, row->virtual_port) &&
	       port_fits(want->server_port, row->server_port) &&
	       addr_fits(&want->client, want->client_prefix, &row->client) &&
	       addr_fits(&want->server, want->server_prefix, &row->server) &&
	       addr_fits(&want->virtual_addr, 0, &row->virtual_addr) &&
	       addr_fits(&want->local, 0, &row->local) && objects_fit(w, want, row);
}

static void row_fill(const struct worker *w, uint32_t index, struct flow_row *row)
{
	const struct flow *flow = &w->flow->flows[index];
	const struct flow_cold *cold = &w->flow->cold[index];
	struct flow_tuple client, server;

	memset(row, 0, sizeof(*row));
	flow_tuple(w->flow, flow, FLOW_CLIENT, &client);
	flow_tuple(w->flow, flow, FLOW_SERVER, &server);
	row->client = client.src;
	row->client_port = client.src_port;
	row->virtual_addr = client.dst;
	row->virtual_port = client.dst_port;
	row->server = server.src;
	row->server_port = server.src_port;
	row->local = server.dst;
	row->local_port = server.dst_port;
	row->proto = flow->proto;
	row->tcp_state = flow->state;
	row->worker = (uint8_t)w->index;
	row->virtual_id = flow->virtual_id;
	row->member_id = flow->member_id;
	row->age = l4_second(w) - cold->start;
	row->idle = (w->now - flow->last) / TICKS_PER_SECOND;
	row->timeout = cold->idle_timeout;
	for (int side = 0; side < 2; side++) {
		row->packets[side] = (uint64_t)cold->packets[side] + flow->packets[side];
		row->bytes[side] = cold->bytes[side] + flow->bytes[side];
	}
}

static void take(struct worker *w, uint32_t index, enum scan_action action)
{
	struct flow *flow = &w->flow->flows[index];

	switch (action) {
	case SCAN_DELETE:
		if (flow->proto == PROTO_TCP)
			l4_reset_flow(w, index);
		l4_end(w, index);
		break;
	case SCAN_DROP:
		flow->marks |= FLOW_SILENT;
		l4_uncount(w, index);
		break;
	case SCAN_RESELECT:
		/* Without TCP's state the next packet may simply choose anew. */
		if (!l4_reselect(w, index) && flow->proto != PROTO_TCP)
			l4_end(w, index);
		break;
	default:
		break;
	}
}

unsigned l4_scan(struct worker *w, enum scan_action action, const struct flow_filter *filter,
	uint32_t *place, unsigned budget, struct flow_row *rows, unsigned max)
{
	uint32_t high = w->flow->high;
	unsigned found = 0;

	for (; *place < high && budget > 0; (*place)++, budget--) {
		struct flow_row one, *row = action == SCAN_LIST ? &rows[found] : &one;
		/* A closed flow is no connection any more. */
		const struct flow *flow = &w->flow->flows[*place];
		if (!(flow->flags & FLOW_USED) || flow->state == FLOW_CLOSED ||
			!member_fits(w, filter, flow))
			continue;
		if (action == SCAN_LIST && found == max)
			return found;
		row_fill(w, *place, row);
		if (!row_fits(w, filter, row))
			continue;
		take(w, *place, action);
		found++;
	}
	if (*place >= high)
		*place = UINT32_MAX;
	return found;
}
