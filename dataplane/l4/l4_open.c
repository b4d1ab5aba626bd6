/* SPDX-License-Identifier: BSD-3-Clause */
/* The first packet of a connection: virtual server, member, source, next hops, flow. */
#include "l4/l4_internal.h"

#include <errno.h>

#include "flow/listener.h"
#include "flow/owner.h"
#include "lb/lb.h"
#include "wire/csum.h"

#define PORT_TRIES 4096u /* source ports tried for one connection that keeps its client's address */
#define USED_UP_TICKS                                                                              \
	10u /* such a search is not repeated sooner: it costs as much as a thousand packets */

/* What a connection is going to be. */
struct opening {
	struct worker *w;
	struct rte_mbuf *m;
	uint8_t proto;
	bool ipv6;
	struct flow_tuple client; /* as the client sent it */
	struct flow_tuple server; /* as the server will see it: local -> server */
	const struct snap_virtual *virtual;
	const struct snap_member *member; /* NULL: no pool */
	struct ip_addr hop;		  /* where packets to the server are routed to */
	uint32_t nexthop[2];
	enum snat_kind snat;
	uint32_t avoid; /* member that failed for this connection, or ID_NONE */
};

union key {
	struct flow_key4 v4;
	struct flow_key6 v6;
};

static void key_make(union key *k, bool ipv6, uint8_t proto, const struct ip_addr *src,
	const struct ip_addr *dst, uint16_t src_port, uint16_t dst_port)
{
	memset(k, 0, sizeof(*k));
	if (ipv6) {
		memcpy(k->v6.src, src, 16);
		memcpy(k->v6.dst, dst, 16);
		k->v6.src_port = rte_cpu_to_be_16(src_port);
		k->v6.dst_port = rte_cpu_to_be_16(dst_port);
		k->v6.proto = proto;
	} else {
		k->v4.src = src->w[3];
		k->v4.dst = dst->w[3];
		k->v4.src_port = rte_cpu_to_be_16(src_port);
		k->v4.dst_port = rte_cpu_to_be_16(dst_port);
		k->v4.proto = proto;
	}
}

static bool is_icmp(uint8_t proto)
{
	return proto == PROTO_ICMP || proto == PROTO_ICMP6;
}

static bool has_ports(uint8_t proto)
{
	return proto == PROTO_TCP || proto == PROTO_UDP || is_icmp(proto);
}

/* The key of the server's packets if our source port is `port`. */
static void server_key(const struct opening *o, uint16_t port, union key *k)
{
	/* An echo's identifier stands in both places. */
	uint16_t far = is_icmp(o->proto) ? port : o->server.dst_port;

	key_make(k, o->ipv6, o->proto, &o->server.dst, &o->server.src, far, port);
}

static bool port_free(const struct opening *o, uint16_t port)
{
	union key k;

	/* Replies to a listener's port would be dealt out by the owner rule for listeners. */
	if ((o->snat == SNAT_AUTOMAP || (o->snat == SNAT_POOL && o->w->count > 1)) &&
		listener_is_host(o->w->view->listeners, &o->server.src, port, o->proto))
		return false;
	server_key(o, port, &k);
	return !flow_exists(o->w->flow, o->ipv6, &k);
}

/* Our packets leave with the client's address: any port whose replies come to this worker will do. */
static bool port_untranslated(struct opening *o)
{
	struct l4_worker *l4 = o->w->l4;
	uint16_t own = o->client.src_port;
	uint8_t mode = o->virtual->source_port;

	if (mode != SNAP_PORT_CHANGE && port_free(o, own)) {
		o->server.src_port = own;
		return true;
	}
	for (unsigned i = 0; i < PORT_TRIES && mode != SNAP_PORT_PRESERVE_STRICT && own != 0; i++) {
		uint16_t port = SNAT_PORT_FIRST + l4->port_cursor++ % (65536 - SNAT_PORT_FIRST);
		if (owner_of_end(&o->client.src, port, o->w->count) != o->w->index ||
			!port_free(o, port))
			continue;
		o->server.src_port = port;
		return true;
	}
	return false;
}

static struct used_up *used_up_slot(struct opening *o)
{
	uint32_t mix = o->server.src.w[3] ^ o->server.dst.w[3] * 31u ^ o->server.dst_port;

	return &o->w->l4->used_up[(mix ^ mix >> 16 ^ mix >> 24) % USED_UP_SLOTS];
}

static bool is_used_up(struct opening *o)
{
	const struct used_up *u = used_up_slot(o);

	return u->until != 0 && (int32_t)(u->until - o->w->now) > 0 && u->proto == o->proto &&
	       u->dst_port == o->server.dst_port && ip_equal(&u->src, &o->server.src) &&
	       ip_equal(&u->dst, &o->server.dst);
}

static void note_used_up(struct opening *o)
{
	*used_up_slot(o) = (struct used_up){o->server.src, o->server.dst, o->server.dst_port,
		o->proto, o->w->now + USED_UP_TICKS};
}

/* A port of this worker's block of server.src. Without ports there is one flow between two addresses, and
 * its replies come to the worker that the address names. */
static bool port_translated(struct opening *o)
{
	struct l4_worker *l4 = o->w->l4;
	uint16_t first, count, own = o->client.src_port;

	if (!has_ports(o->proto))
		return owner_of_end(&o->server.src, 0, o->w->count) == o->w->index &&
		       port_free(o, 0);
	snat_block(o->snat, o->w->index, o->w->count, &first, &count);
	if (o->virtual->source_port != SNAP_PORT_CHANGE && own >= first && own - first < count &&
		port_free(o, own)) {
		o->server.src_port = own;
		return true;
	}
	if (o->virtual->source_port == SNAP_PORT_PRESERVE_STRICT || is_used_up(o))
		return false;
	for (unsigned i = 0; i < count; i++) {
		uint16_t port = first + l4->port_cursor++ % count;
		if (!port_free(o, port))
			continue;
		o->server.src_port = port;
		return true;
	}
	note_used_up(o);
	return false;
}

static enum drop_reason source_automap(struct opening *o)
{
	const struct nexthop *n = net_nexthop(o->w, o->nexthop[FLOW_CLIENT]);

	o->snat = SNAT_AUTOMAP;
	if (!net_self_of_vlan(o->w->view, n->vlan, &o->server.dst, &o->server.src))
		return DROP_NO_SNAT_ADDRESS;
	return port_translated(o) ? LB_ADMITTED : DROP_PORTS_EXHAUSTED;
}

/* The pool's addresses in turn; one whose ports are used up is passed over. */
static enum drop_reason source_pool(struct opening *o)
{
	const struct snap_header *snap = o->w->view->snap;
	const struct snap_snatpool *pool =
		&SNAP_ROWS(snap, SNAP_SNATPOOL, struct snap_snatpool)[o->virtual->snatpool];
	const struct snap_snat_addr *addrs =
		SNAP_ROWS(snap, SNAP_SNAT_ADDR, struct snap_snat_addr) + pool->first_addr;
	enum drop_reason reason = DROP_NO_SNAT_ADDRESS;
	uint32_t turn = o->w->l4->snat_turn++;

	for (uint32_t i = 0; i < pool->addrs; i++) {
		unsigned owner;
		o->server.src = addrs[(turn + i) % pool->addrs].addr;
		if (ip_is_v4(&o->server.src) == o->ipv6)
			continue;
		o->snat = snat_owner(o->w->view->snat, &o->server.src, SNAT_PORT_FIRST, &owner);
		if (port_translated(o))
			return LB_ADMITTED;
		reason = DROP_PORTS_EXHAUSTED;
	}
	return reason;
}

static bool snat_wanted(const struct opening *o)
{
	const struct snap_pool *pools = SNAP_ROWS(o->w->view->snap, SNAP_POOL, struct snap_pool);
	const struct snap_virtual *v = o->virtual;

	return v->snat != SNAP_SNAT_NONE && (v->pool == SNAP_NIL || pools[v->pool].allow_snat);
}

static enum drop_reason source_choose(struct opening *o)
{
	enum drop_reason reason;

	if (!snat_wanted(o)) {
		o->snat = SNAT_NOT;
		o->server.src = o->client.src;
		reason = port_untranslated(o) ? LB_ADMITTED : DROP_PORTS_EXHAUSTED;
	} else {
		reason = o->virtual->snat == SNAP_SNAT_AUTOMAP ? source_automap(o) : source_pool(o);
	}
	if (reason == DROP_PORTS_EXHAUSTED)
		worker_event(o->w, EVENT_PORT_EXHAUSTION, o->virtual->id,
			o->member ? o->member->id : ID_NONE, &o->server.src, NULL);
	return reason;
}

/* A member of the pool, if possible not the one that has just failed. */
static uint32_t member_pick(struct opening *o, enum drop_reason *reason)
{
	const struct view *view = o->w->view;
	const struct snap_member *members = SNAP_ROWS(view->snap, SNAP_MEMBER, struct snap_member);
	const struct snap_pool *pool =
		&SNAP_ROWS(view->snap, SNAP_POOL, struct snap_pool)[o->virtual->pool];
	uint32_t row = lb_pick(view->lb, o->virtual->pool, l4_second(o->w), reason);

	for (uint32_t i = 1; row != SNAP_NIL && i < pool->members && members[row].id == o->avoid;
		i++) {
		lb_release(o->w->counters, members[row].id);
		row = lb_pick(view->lb, o->virtual->pool, l4_second(o->w), reason);
	}
	return row;
}

/* Where the packets go: a member of the pool, or the destination itself. Counts on the member. */
static enum drop_reason server_choose(struct opening *o)
{
	const struct snap_virtual *v = o->virtual;
	const struct view *view = o->w->view;
	enum drop_reason reason;

	o->server.dst = o->client.dst;
	o->server.dst_port = o->client.dst_port;
	o->hop = o->client.dst;
	if (v->type == SNAP_VIRTUAL_FORWARD_IP)
		return LB_ADMITTED;
	if (v->pool == SNAP_NIL)
		return DROP_NO_MEMBER;
	uint32_t row = member_pick(o, &reason);
	if (row == SNAP_NIL)
		return reason;
	o->member = &SNAP_ROWS(view->snap, SNAP_MEMBER, struct snap_member)[row];
	o->hop = SNAP_ROWS(view->snap, SNAP_NODE, struct snap_node)[o->member->node].addr;
	if (ip_is_v4(&o->hop) == o->ipv6)
		return DROP_NO_MEMBER;
	if (v->translate_address)
		o->server.dst = o->hop;
	if (v->translate_port && o->member->port != 0 && has_ports(o->proto) && !is_icmp(o->proto))
		o->server.dst_port = o->member->port;
	return LB_ADMITTED;
}

static bool lasthop_wanted(const struct opening *o)
{
	const struct snap_vlan *vlan =
		&SNAP_ROWS(o->w->view->snap, SNAP_VLAN, struct snap_vlan)[pkt_of(o->m)->vlan];
	uint8_t setting = o->virtual->auto_lasthop;

	if (setting == SNAP_DEFAULT)
		setting = vlan->auto_lasthop;
	if (setting == SNAP_DEFAULT)
		return view_settings(o->w->view)->auto_lasthop;
	return setting == SNAP_ENABLED;
}

static enum drop_reason nexthops_find(struct opening *o)
{
	o->nexthop[FLOW_CLIENT] = net_route_get(o->w, &o->hop);
	if (o->nexthop[FLOW_CLIENT] == NEXTHOP_NONE)
		return DROP_NO_ROUTE;
	if (lasthop_wanted(o))
		o->nexthop[FLOW_SERVER] = net_lasthop_get(o->w, o->m);
	if (o->nexthop[FLOW_SERVER] == NEXTHOP_NONE)
		o->nexthop[FLOW_SERVER] = net_route_get(o->w, &o->client.src);
	return o->nexthop[FLOW_SERVER] == NEXTHOP_NONE ? DROP_NO_ROUTE : LB_ADMITTED;
}

/* Deltas of packets whose tuple changes from `from` to `to`. */
static void deltas(struct flow *flow, enum flow_side side, const struct flow_tuple *from,
	const struct flow_tuple *to)
{
	uint16_t addr = csum_delta_add(
		csum_delta_addr(&from->src, &to->src), csum_delta_addr(&from->dst, &to->dst));
	uint16_t port =
		csum_delta_16(rte_cpu_to_be_16(from->src_port), rte_cpu_to_be_16(to->src_port));
	uint16_t ttl = csum_delta_16(rte_cpu_to_be_16(0x0100), 0);

	if (!is_icmp(flow->proto))
		port = csum_delta_add(port, csum_delta_16(rte_cpu_to_be_16(from->dst_port),
						    rte_cpu_to_be_16(to->dst_port)));
	flow->l3_delta[side] = csum_delta_add(addr, ttl);
	/* ICMP of IPv4 has no pseudo header. */
	flow->l4_delta[side] = flow->proto == PROTO_ICMP ? port : csum_delta_add(addr, port);
}

static struct flow_tuple reversed(const struct flow_tuple *t)
{
	return (struct flow_tuple){t->dst, t->src, t->dst_port, t->src_port};
}

static void flow_fill(struct opening *o, uint32_t index)
{
	struct flow *flow = &o->w->flow->flows[index];
	struct flow_cold *cold = &o->w->flow->cold[index];
	const struct snap_profile *p = &SNAP_ROWS(
		o->w->view->snap, SNAP_PROFILE, struct snap_profile)[o->virtual->profile];
	struct flow_tuple back_from = reversed(&o->server), back_to = reversed(&o->client);

	flow->last = o->w->now;
	flow->proto = o->proto;
	flow->flags |= FLOW_COUNTED | (p->reset_on_timeout ? FLOW_RESET_ON_TIMEOUT : 0);
	flow->marks = p->loose_close ? FLOW_LOOSE_CLOSE : 0;
	flow->nexthop[0] = o->nexthop[0];
	flow->nexthop[1] = o->nexthop[1];
	flow->virtual_id = o->virtual->id;
	flow->member_id = o->member ? o->member->id : ID_NONE;
	cold->start = l4_second(o->w);
	cold->idle_timeout = p->idle_timeout;
	deltas(flow, FLOW_CLIENT, &o->client, &o->server);
	deltas(flow, FLOW_SERVER, &back_from, &back_to);
	if (o->proto != PROTO_TCP)
		return;
	const struct tcp_hdr *tcp = pkt_l4(o->m);
	bool syn = tcp->flags & TCP_SYN;
	flow->state = syn ? FLOW_SYN_SENT : FLOW_ESTABLISHED;
	flow->seq[FLOW_CLIENT] = rte_be_to_cpu_32(tcp->seq);
	flow->seq[FLOW_SERVER] = syn ? 0 : rte_be_to_cpu_32(tcp->ack);
}

static enum drop_reason flow_enter(struct opening *o, uint32_t *index)
{
	union key client, server;
	int64_t rc;

	key_make(&client, o->ipv6, o->proto, &o->client.src, &o->client.dst, o->client.src_port,
		o->client.dst_port);
	server_key(o, o->server.src_port, &server);
	rc = flow_insert(o->w->flow, o->ipv6, &client, &server);
	if (rc == -ENOSPC && l4_evict(o->w, o->ipv6))
		rc = flow_insert(o->w->flow, o->ipv6, &client, &server);
	if (rc < 0)
		return rc == -EEXIST ? DROP_PORTS_EXHAUSTED : DROP_FLOW_TABLE_FULL;
	*index = (uint32_t)rc;
	flow_fill(o, *index);
	if (o->w->flow->flows[*index].state == FLOW_SYN_SENT && o->member) {
		const struct snap_pool *pool =
			&SNAP_ROWS(o->w->view->snap, SNAP_POOL, struct snap_pool)[o->member->pool];
		l4_retry_keep(o->w, *index, o->m, l4_retry_tries(o->w, pool->reselect_tries));
	}
	return LB_ADMITTED;
}

static void count_opened(struct opening *o)
{
	o->w->stat[WORKER_FLOWS_CREATED]++;
	worker_object(o->w, o->virtual->id)[OBJECT_CONNECTIONS]++;
	if (o->member)
		worker_object(o->w, o->member->id)[OBJECT_CONNECTIONS]++;
}

/* All steps, in order; whatever was taken is given back if one fails. */
static enum drop_reason build(struct opening *o, uint32_t *index)
{
	enum drop_reason reason = server_choose(o);

	if (reason == LB_ADMITTED)
		reason = nexthops_find(o);
	if (reason == LB_ADMITTED)
		reason = source_choose(o);
	if (reason == LB_ADMITTED)
		reason = flow_enter(o, index);
	if (reason == LB_ADMITTED)
		return reason;
	for (int side = 0; side < 2; side++)
		if (o->nexthop[side] != NEXTHOP_NONE)
			net_nexthop_put(o->w, o->nexthop[side]);
	if (o->member)
		lb_release(o->w->counters, o->member->id);
	return reason;
}

static enum drop_reason virtual_admit(struct opening *o)
{
	struct counter_shared *line = worker_shared(o->w, o->virtual->id);

	if (!(__atomic_load_n(&line->avail, __ATOMIC_RELAXED) & LIVE_NEW))
		return DROP_VIRTUAL_DISABLED;
	if (o->virtual->type == SNAP_VIRTUAL_REJECT)
		return DROP_REJECTED;
	enum drop_reason reason = lb_admit(line, l4_second(o->w));
	if (reason == DROP_CONNECTION_LIMIT)
		worker_event(o->w, EVENT_LIMIT_REACHED, o->virtual->id, 0, NULL, NULL);
	return reason;
}

static uint32_t open_on(struct opening *o)
{
	uint32_t index;
	enum drop_reason reason = virtual_admit(o);

	if (reason == LB_ADMITTED) {
		reason = build(o, &index);
		if (reason == LB_ADMITTED) {
			count_opened(o);
			return index;
		}
		lb_release(o->w->counters, o->virtual->id);
	}
	worker_object(o->w, o->virtual->id)[OBJECT_REFUSED]++;
	l4_refuse(o->w, o->m, reason);
	return FLOW_NONE;
}

/* A packet that no virtual server wants: for the kernel, or nobody's. */
static void unwanted(struct worker *w, struct rte_mbuf *m, const struct flow_tuple *t)
{
	uint32_t row;

	if (net_owner_of(w->view, &t->dst, &row) == NET_SELF)
		net_to_kernel(w, m, row);
	else
		l4_refuse(w, m, DROP_NO_LISTENER);
}

/* Kinds of packets that may begin a connection: not answers, not the middle of something. */
static bool may_begin(struct rte_mbuf *m, const struct snap_profile *p)
{
	const struct wire_info *i = &pkt_of(m)->wire;

	if (i->flags & WIRE_FRAGMENT_LATER && i->proto == PROTO_TCP)
		return false;
	switch (i->proto) {
	case PROTO_TCP:
		if (i->tcp_flags & TCP_RST)
			return false;
		return (i->tcp_flags & (TCP_SYN | TCP_ACK)) == TCP_SYN || p->loose_initiation;
	case PROTO_ICMP:
		return i->icmp_type == ICMP_ECHO;
	case PROTO_ICMP6:
		return i->icmp_type == ICMP6_ECHO;
	default:
		return true;
	}
}

uint32_t l4_open(struct worker *w, struct rte_mbuf *m)
{
	struct pkt *p = pkt_of(m);
	struct opening o = {.w = w,
		.m = m,
		.proto = p->wire.proto,
		.ipv6 = p->wire.ip_version == 6,
		.client = l4_tuple(m),
		.nexthop = {NEXTHOP_NONE, NEXTHOP_NONE},
		.avoid = l4_retry_avoid(w)};
	/* It may have waited in a ring or for its first fragment while VLANs came and went. */
	p->vlan = net_vlan_of(w->view, p->port, p->wire.tag);
	struct listener_key key = {.dst = o.client.dst,
		.src = o.client.src,
		.port = o.client.dst_port,
		.proto = o.proto,
		.vlan = p->vlan};
	const struct snap_header *snap = w->view->snap;

	if (p->vlan == NET_NO_VLAN) {
		worker_drop(w, m, DROP_UNKNOWN_VLAN);
		return FLOW_NONE;
	}
	if (is_icmp(o.proto))
		key.port = 0;
	uint32_t row = listener_match(w->view->listeners, &key);
	if (row == SNAP_NIL) {
		unwanted(w, m, &o.client);
		return FLOW_NONE;
	}
	o.virtual = &SNAP_ROWS(snap, SNAP_VIRTUAL, struct snap_virtual)[row];
	if (!may_begin(
		    m, &SNAP_ROWS(snap, SNAP_PROFILE, struct snap_profile)[o.virtual->profile])) {
		l4_refuse(w, m, DROP_NO_FLOW);
		return FLOW_NONE;
	}
	return open_on(&o);
}

bool l4_reselect(struct worker *w, uint32_t index)
{
	struct flow *flow = &w->flow->flows[index];
	const struct snap_virtual *v = listener_virtual(w->view->listeners, flow->virtual_id);
	struct opening o = {.w = w, .virtual = v, .avoid = flow->member_id};
	enum drop_reason reason;

	if (v == NULL || v->pool == SNAP_NIL || v->translate_address ||
		!(flow->flags & FLOW_COUNTED))
		return false;
	uint32_t row = member_pick(&o, &reason);
	if (row == SNAP_NIL)
		return false;
	const struct snap_member *m =
		&SNAP_ROWS(w->view->snap, SNAP_MEMBER, struct snap_member)[row];
	uint32_t hop = net_route_get(
		w, &SNAP_ROWS(w->view->snap, SNAP_NODE, struct snap_node)[m->node].addr);
	if (m->id == flow->member_id || hop == NEXTHOP_NONE) {
		lb_release(w->counters, m->id);
		if (hop != NEXTHOP_NONE)
			net_nexthop_put(w, hop);
		return false;
	}
	l4_fold(w, index);
	lb_release(w->counters, flow->member_id);
	if (flow->nexthop[FLOW_CLIENT] != NEXTHOP_NONE)
		net_nexthop_put(w, flow->nexthop[FLOW_CLIENT]);
	flow->nexthop[FLOW_CLIENT] = hop;
	flow->member_id = m->id;
	return true;
}
