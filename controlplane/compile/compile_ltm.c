/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes, pools, profiles, SNAT pools, virtual addresses and servers. */
#include "compile/compile_internal.h"

#include <stdlib.h>
#include <string.h>

static void compile_node(struct compiler *c, const struct object *o)
{
	struct live_row live;

	if (model_is_template(c->m, o)) {
		c->templates = true;
		return;
	}
	compile_row_is(c, o->id, SNAP_NODE);
	struct snap_node *row = compile_row(c, SNAP_NODE);
	row->id = o->id;
	row->addr = model_node(o)->conf.address;
	if (!c->buffer)
		return;
	compile_live(c->m, c->verdicts, o, &live);
	row->live = live.live;
}

static uint8_t pool_method(enum pool_load_balancing_mode mode)
{
	switch (mode) {
	case POOL_LOAD_BALANCING_MODE_RATIO_MEMBER:
		return SNAP_LB_RATIO_MEMBER;
	case POOL_LOAD_BALANCING_MODE_RATIO_NODE:
		return SNAP_LB_RATIO_NODE;
	case POOL_LOAD_BALANCING_MODE_LEAST_CONNECTIONS_MEMBER:
		return SNAP_LB_LEAST_CONNECTIONS_MEMBER;
	default:
		return SNAP_LB_ROUND_ROBIN;
	}
}

struct member_key {
	struct ip_addr addr;
	uint16_t port;
	const struct object *o;
};

static int member_order(const void *a, const void *b)
{
	const struct member_key *x = a, *y = b;
	int d = memcmp(&x->addr, &y->addr, sizeof(x->addr));

	return d ? d : (int)x->port - (int)y->port;
}

static void compile_member(struct compiler *c, const struct object *o, uint32_t pool)
{
	const struct pool_member_conf *conf = &model_pool_member(o)->conf;
	struct snap_member *row = compile_row(c, SNAP_MEMBER);
	struct live_row live;

	row->id = o->id;
	row->pool = pool;
	row->node = compile_row_of(c, conf->node);
	row->port = conf->port;
	row->priority_group = conf->priority_group;
	compile_live(c->m, c->verdicts, o, &live);
	row->live = live.live;
}

/* The least of *time and what passive monitors of the rule say; 0 stands for no end. */
static void response_time(
	const struct model *m, const struct model_monitor_rule *rule, uint16_t *time)
{
	for (unsigned i = 0; i < rule->count; i++) {
		const struct monitor_inband *inband =
			model_monitor_inband(model_get(m, rule->monitor[i]));
		uint32_t wait = inband ? (uint32_t)inband->conf.response_time : 0;

		if (wait > UINT16_MAX)
			wait = UINT16_MAX;
		if (wait && (*time == 0 || wait < *time))
			*time = (uint16_t)wait;
	}
}

static uint16_t pool_response_time(const struct model *m, const struct object *pool)
{
	const struct object *o;
	uint16_t time = 0;

	response_time(m, model_monitor_rule(m, pool), &time);
	for (unsigned i = 0; (o = model_child_at(m, pool, i)); i++)
		if (model_pool_member(o)->conf.monitor.mode != RULE_DEFAULT)
			response_time(m, model_monitor_rule(m, o), &time);
	return time;
}

/* Those that take traffic. */
static unsigned pool_members(const struct compiler *c, const struct object *pool)
{
	unsigned count = 0;
	const struct object *o;

	if (!c->templates)
		return model_child_count(c->m, pool);
	for (unsigned i = 0; (o = model_child_at(c->m, pool, i)); i++)
		count += !model_is_template(c->m, o);
	return count;
}

static void compile_pool(struct compiler *c, const struct object *o)
{
	uint32_t index = c->next[SNAP_POOL];
	unsigned count = pool_members(c, o), n = 0;
	struct member_key *key = c->buffer && count ? calloc(count, sizeof(*key)) : NULL;

	compile_row_is(c, o->id, SNAP_POOL);
	struct snap_pool *row = compile_row(c, SNAP_POOL);
	row->id = o->id;
	row->lb = pool_method(model_pool(o)->conf.load_balancing_mode);
	row->allow_snat = model_pool(o)->conf.allow_snat;
	row->min_active = (uint16_t)model_pool(o)->conf.min_active_members;
	row->reselect_tries = (uint16_t)model_pool(o)->conf.reselect_tries;
	row->slow_ramp = (uint32_t)model_pool(o)->conf.slow_ramp_time;
	row->first_member = c->next[SNAP_MEMBER];
	row->members = count;
	if (!c->buffer) {
		c->next[SNAP_MEMBER] += count;
		return;
	}
	if (c->passive)
		row->response_time = pool_response_time(c->m, o);
	if (count && !key) {
		c->failed = true;
		return;
	}
	for (unsigned i = 0; n < count; i++) {
		const struct object *child = model_child_at(c->m, o, i);
		if (c->templates && model_is_template(c->m, child))
			continue;
		const struct pool_member_conf *conf = &model_pool_member(child)->conf;
		const struct node *node = model_node(model_get(c->m, conf->node));

		key[n++] = (struct member_key){node->conf.address, conf->port, child};
	}
	if (count)
		qsort(key, count, sizeof(*key), member_order);
	for (unsigned i = 0; i < count; i++)
		compile_member(c, key[i].o, index);
	free(key);
}

static void compile_fastl4(struct compiler *c, const struct object *o)
{
	const struct profile_fastl4_conf *conf = &model_profile_fastl4(o)->conf;

	compile_row_is(c, o->id, SNAP_PROFILE);
	*(struct snap_profile *)compile_row(c, SNAP_PROFILE) = (struct snap_profile){
		.id = o->id,
		.kind = SNAP_PROFILE_FASTL4,
		.reset_on_timeout = conf->reset_on_timeout,
		.loose_initiation = conf->loose_initialization,
		.loose_close = conf->loose_close,
		.idle_timeout = conf->idle_timeout,
		.handshake_timeout = conf->tcp_handshake_timeout,
		.close_timeout = conf->tcp_close_timeout,
	};
}

/* Balanced packet by packet: what only a proxy could do stays undone. */
static void compile_tcp(struct compiler *c, const struct object *o)
{
	const struct profile_tcp_conf *conf = &model_profile_tcp(o)->conf;

	compile_row_is(c, o->id, SNAP_PROFILE);
	*(struct snap_profile *)compile_row(c, SNAP_PROFILE) = (struct snap_profile){
		.id = o->id,
		.kind = SNAP_PROFILE_FASTL4,
		.reset_on_timeout = conf->reset_on_timeout,
		.idle_timeout = conf->idle_timeout,
		.handshake_timeout = 5,
		.close_timeout = 5,
	};
}

static void compile_udp(struct compiler *c, const struct object *o)
{
	compile_row_is(c, o->id, SNAP_PROFILE);
	*(struct snap_profile *)compile_row(c, SNAP_PROFILE) = (struct snap_profile){
		.id = o->id,
		.kind = SNAP_PROFILE_UDP,
		.idle_timeout = model_profile_udp(o)->conf.idle_timeout,
	};
}

static void compile_snatpool(struct compiler *c, const struct object *o)
{
	const struct model_list *list = &model_snatpool(o)->conf.members;

	compile_row_is(c, o->id, SNAP_SNATPOOL);
	struct snap_snatpool *row = compile_row(c, SNAP_SNATPOOL);
	row->id = o->id;
	row->first_addr = c->next[SNAP_SNAT_ADDR];
	uint32_t addrs = 0;
	for (unsigned i = 0; i < list->count; i++) {
		const struct object *t = model_get(c->m, list->entry[i]);
		const struct snat_translation_conf *conf = &model_snat_translation(t)->conf;

		if (!conf->enabled)
			continue;
		*(struct snap_snat_addr *)compile_row(c, SNAP_SNAT_ADDR) =
			(struct snap_snat_addr){.id = t->id, .addr = conf->address};
		addrs++;
	}
	if (c->buffer)
		row->addrs = addrs;
}

static uint8_t vaddr_arp(enum virtual_address_arp arp)
{
	if (arp == VIRTUAL_ADDRESS_ARP_SELECTIVE)
		return SNAP_ANSWER_SELECTIVE;
	return arp == VIRTUAL_ADDRESS_ARP_ENABLED ? SNAP_ANSWER_ALWAYS : SNAP_ANSWER_NEVER;
}

static uint8_t vaddr_echo(enum virtual_address_icmp_echo echo)
{
	if (echo == VIRTUAL_ADDRESS_ICMP_ECHO_SELECTIVE)
		return SNAP_ANSWER_SELECTIVE;
	return echo == VIRTUAL_ADDRESS_ICMP_ECHO_ENABLED ? SNAP_ANSWER_ALWAYS : SNAP_ANSWER_NEVER;
}

static void compile_vaddr(struct compiler *c, const struct object *o)
{
	const struct virtual_address_conf *conf = &model_virtual_address(o)->conf;
	unsigned max = ip_prefix_max(&conf->address);

	compile_row_is(c, o->id, SNAP_VADDR);
	struct snap_vaddr *row = compile_row(c, SNAP_VADDR);
	row->id = o->id;
	row->prefix = conf->mask > max ? (uint8_t)max : conf->mask;
	row->addr = ip_prefix_of(&conf->address, row->prefix);
	row->arp = vaddr_arp(conf->arp);
	row->icmp_echo = vaddr_echo(conf->icmp_echo);
	row->enabled = conf->enabled;
}

static uint8_t virtual_snat(enum virtual_snat_type type)
{
	if (type == VIRTUAL_SNAT_TYPE_AUTOMAP)
		return SNAP_SNAT_AUTOMAP;
	return type == VIRTUAL_SNAT_TYPE_SNAT ? SNAP_SNAT_POOL : SNAP_SNAT_NONE;
}

static uint8_t virtual_type(const struct virtual_conf *conf)
{
	if (conf->reject)
		return SNAP_VIRTUAL_REJECT;
	return conf->ip_forward ? SNAP_VIRTUAL_FORWARD_IP : SNAP_VIRTUAL_FASTL4;
}

static uint32_t virtual_profile_row(const struct compiler *c, const struct object *o)
{
	const struct object *child = model_child_at(c->m, o, 0);
	return child ? compile_row_of(c, model_virtual_profile(child)->conf.profile) : SNAP_NIL;
}

/* The default source is IPv4's; of an IPv6 destination it means everybody there. */
static void virtual_source(
	const struct model *m, const struct virtual_conf *conf, struct snap_virtual *row)
{
	const struct object *vaddr = model_get(m, conf->destination.addr);
	const struct ip_addr *dst = &model_virtual_address(vaddr)->conf.address;

	row->source = ip_prefix_of(&conf->source.addr, conf->source.len);
	row->source_prefix = conf->source.len;
	if (ip_is_v4(dst) != ip_is_v4(&row->source) && row->source_prefix == 0)
		row->source = ip_prefix_of(dst, 0);
}

static void virtual_vlans(
	struct compiler *c, const struct virtual_conf *conf, struct snap_virtual *row)
{
	uint32_t count = conf->vlans.count;

	row->first_vlan = c->next[SNAP_VLAN_REF];
	row->vlan_count = count;
	if (conf->vlans_enabled)
		row->vlans = SNAP_VLANS_ONLY;
	else
		row->vlans = count ? SNAP_VLANS_EXCEPT : SNAP_VLANS_ALL;
	for (uint32_t i = 0; i < count; i++) {
		struct snap_vlan_ref *ref = compile_row(c, SNAP_VLAN_REF);
		ref->vlan = compile_row_of(c, conf->vlans.entry[i]);
	}
}

static void compile_virtual(struct compiler *c, const struct object *o)
{
	const struct virtual_conf *conf = &model_virtual(o)->conf;
	struct snap_virtual *row = compile_row(c, SNAP_VIRTUAL);
	struct live_row live;

	row->id = o->id;
	row->vaddr = compile_row_of(c, conf->destination.addr);
	row->pool = compile_row_of(c, conf->pool);
	row->profile = virtual_profile_row(c, o);
	row->snat = virtual_snat(conf->snat_type);
	row->snatpool = row->snat == SNAP_SNAT_POOL ? compile_row_of(c, conf->snat_pool) : SNAP_NIL;
	row->proto = conf->ip_protocol;
	row->port = conf->destination.port;
	row->type = virtual_type(conf);
	row->source_port = conf->source_port;
	row->translate_address = conf->translate_address;
	row->translate_port = conf->translate_port;
	row->auto_lasthop = conf->auto_lasthop;
	virtual_source(c->m, conf, row);
	compile_live(c->m, c->verdicts, o, &live);
	row->live = live.live;
	virtual_vlans(c, conf, row);
}

/* Which virtual addresses are available, behind the rows of their virtual servers. */
static void compile_available(struct compiler *c)
{
	struct snap_vaddr *row =
		(struct snap_vaddr *)(uintptr_t)SNAP_ROWS(c->buffer, SNAP_VADDR, struct snap_vaddr);
	struct state_count *count = calloc(c->next[SNAP_VADDR] + 1, sizeof(*count));
	const struct object *o;

	if (!count) {
		c->failed = true;
		return;
	}
	for (unsigned i = 0; (o = model_at(c->m, KIND_VIRTUAL, i)); i++)
		compile_count_virtual(c->m, c->verdicts, o,
			&count[compile_row_of(c, model_virtual(o)->conf.destination.addr)]);
	for (unsigned i = 0; (o = model_at(c->m, KIND_VIRTUAL_ADDRESS, i)); i++)
		row[i].available = compile_address_state(o, &count[i]).avail != 0;
	free(count);
}

void compile_ltm(struct compiler *c)
{
	static const struct {
		enum model_kind kind;
		void (*compile)(struct compiler *, const struct object *);
	} order[] = {
		{KIND_NODE, compile_node},
		{KIND_POOL, compile_pool},
		{KIND_PROFILE_FASTL4, compile_fastl4},
		{KIND_PROFILE_UDP, compile_udp},
		{KIND_PROFILE_TCP, compile_tcp},
		{KIND_SNATPOOL, compile_snatpool},
		{KIND_VIRTUAL_ADDRESS, compile_vaddr},
		{KIND_VIRTUAL, compile_virtual},
	};
	const struct object *o;

	for (unsigned i = 0; (o = model_at(c->m, KIND_MONITOR_INBAND, i)); i++)
		c->passive |= o->users > 0;
	for (size_t k = 0; k < sizeof(order) / sizeof(*order); k++)
		for (unsigned i = 0; (o = model_at(c->m, order[k].kind, i)); i++)
			order[k].compile(c, o);
	if (c->buffer)
		compile_available(c);
}
