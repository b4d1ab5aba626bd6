/* SPDX-License-Identifier: BSD-3-Clause */
/* Every byte of every row is covered by exactly one rule. */
#include "api/snapshot_rules.h"

#include "api/message.h"

const uint32_t snap_row_size[SNAP_KINDS] = {
	[SNAP_SETTINGS] = sizeof(struct snap_settings),
	[SNAP_INTERFACE] = sizeof(struct snap_interface),
	[SNAP_VLAN] = sizeof(struct snap_vlan),
	[SNAP_VLAN_MEMBER] = sizeof(struct snap_vlan_member),
	[SNAP_SELF] = sizeof(struct snap_self),
	[SNAP_SERVICE] = sizeof(struct snap_service),
	[SNAP_ROUTE] = sizeof(struct snap_route),
	[SNAP_NODE] = sizeof(struct snap_node),
	[SNAP_POOL] = sizeof(struct snap_pool),
	[SNAP_MEMBER] = sizeof(struct snap_member),
	[SNAP_VADDR] = sizeof(struct snap_vaddr),
	[SNAP_VIRTUAL] = sizeof(struct snap_virtual),
	[SNAP_VLAN_REF] = sizeof(struct snap_vlan_ref),
	[SNAP_PROFILE] = sizeof(struct snap_profile),
	[SNAP_SNATPOOL] = sizeof(struct snap_snatpool),
	[SNAP_SNAT_ADDR] = sizeof(struct snap_snat_addr),
};

const char *const snap_kind_name[SNAP_KINDS] = {
	"settings",
	"interface",
	"vlan",
	"vlan member",
	"self IP",
	"service",
	"route",
	"node",
	"pool",
	"member",
	"virtual address",
	"virtual server",
	"vlan reference",
	"profile",
	"SNAT pool",
	"SNAT address",
};

#define F(s, f) #f, offsetof(struct s, f), sizeof(((struct s *)0)->f)
#define RANGE(s, f, lo, hi)                                                                        \
	{                                                                                          \
		F(s, f), RULE_RANGE, lo, hi                                                        \
	}
#define FLAG(s, f) RANGE(s, f, 0, 1)
#define ANY32(s, f) RANGE(s, f, 0, UINT32_MAX)
#define ZERO(s, f)                                                                                 \
	{                                                                                          \
		F(s, f), RULE_ZERO, 0, 0                                                           \
	}
#define ADDR(s, f)                                                                                 \
	{                                                                                          \
		F(s, f), RULE_ADDR, 0, 0                                                           \
	}
#define ID(s)                                                                                      \
	{                                                                                          \
		F(s, id), RULE_ID, 0, 0                                                            \
	}
#define REF(s, f, kind)                                                                            \
	{                                                                                          \
		F(s, f), RULE_REF, 0, kind                                                         \
	}
#define REF_NIL(s, f, kind)                                                                        \
	{                                                                                          \
		F(s, f), RULE_REF, 1, kind                                                         \
	}
#define SPAN(s, f, kind)                                                                           \
	{                                                                                          \
#f, offsetof(struct s, f), 8, RULE_SPAN, 0, kind                                   \
	}
#define NAME(s, f)                                                                                 \
	{                                                                                          \
		F(s, f), RULE_NAME, 0, 0                                                           \
	}
#define PREFIX(s, f, addr, net)                                                                    \
	{                                                                                          \
		F(s, f), RULE_PREFIX, offsetof(struct s, addr), net                                \
	}
#define LIVE(s)                                                                                    \
	RANGE(s, live.ratio, 1, 65535), RANGE(s, live.dynamic_ratio, 0, 65535),                    \
		RANGE(s, live.avail, 0, LIVE_BITS), ZERO(s, live.reserved),                        \
		ANY32(s, live.connection_limit), ANY32(s, live.rate_limit)
#define END                                                                                        \
	{                                                                                          \
		NULL, 0, 0, 0, 0, 0                                                                \
	}

static const struct snap_rule settings_rules[] = {
	FLAG(snap_settings, auto_lasthop),
	FLAG(snap_settings, reset_unmatched),
	ZERO(snap_settings, reserved),
	RANGE(snap_settings, arp_timeout, 1, UINT32_MAX),
	RANGE(snap_settings, arp_retries, 1, 255),
	RANGE(snap_settings, maximum_arp, 1, 1u << 20),
	END,
};
static const struct snap_rule interface_rules[] = {
	ID(snap_interface),
	FLAG(snap_interface, enabled),
	ZERO(snap_interface, reserved),
	NAME(snap_interface, name),
	END,
};
static const struct snap_rule vlan_rules[] = {
	ID(snap_vlan),
	RANGE(snap_vlan, tag, 1, 4094),
	RANGE(snap_vlan, mtu, 576, 9198),
	SPAN(snap_vlan, first_member, SNAP_VLAN_MEMBER),
	NAME(snap_vlan, tap),
	RANGE(snap_vlan, auto_lasthop, 0, SNAP_ENABLED),
	ZERO(snap_vlan, reserved),
	END,
};
static const struct snap_rule vlan_member_rules[] = {
	REF(snap_vlan_member, interface, SNAP_INTERFACE),
	FLAG(snap_vlan_member, tagged),
	ZERO(snap_vlan_member, reserved),
	END,
};
static const struct snap_rule self_rules[] = {
	ID(snap_self),
	REF(snap_self, vlan, SNAP_VLAN),
	ADDR(snap_self, addr),
	PREFIX(snap_self, prefix, addr, 0),
	FLAG(snap_self, floating),
	RANGE(snap_self, allow, 0, SNAP_ALLOW_ALL),
	ZERO(snap_self, reserved),
	SPAN(snap_self, first_service, SNAP_SERVICE),
	ZERO(snap_self, reserved2),
	END,
};
static const struct snap_rule service_rules[] = {
	RANGE(snap_service, proto, 0, 255),
	ZERO(snap_service, reserved),
	RANGE(snap_service, port, 0, 65535),
	END,
};
static const struct snap_rule route_rules[] = {
	ID(snap_route),
	RANGE(snap_route, kind, 0, SNAP_ROUTE_BLACKHOLE),
	PREFIX(snap_route, prefix, network, 1),
	RANGE(snap_route, mtu, 0, 9198),
	REF_NIL(snap_route, vlan, SNAP_VLAN),
	ZERO(snap_route, reserved),
	ADDR(snap_route, network),
	ADDR(snap_route, gateway),
	END,
};
static const struct snap_rule node_rules[] = {
	ID(snap_node),
	ZERO(snap_node, reserved),
	ADDR(snap_node, addr),
	LIVE(snap_node),
	END,
};
static const struct snap_rule pool_rules[] = {
	ID(snap_pool),
	RANGE(snap_pool, lb, 0, SNAP_LB_COUNT - 1),
	FLAG(snap_pool, allow_snat),
	RANGE(snap_pool, min_active, 0, 65535),
	RANGE(snap_pool, reselect_tries, 0, 65535),
	RANGE(snap_pool, slow_ramp, 0, UINT32_MAX),
	RANGE(snap_pool, response_time, 0, 65535),
	SPAN(snap_pool, first_member, SNAP_MEMBER),
	END,
};
static const struct snap_rule member_rules[] = {
	ID(snap_member),
	REF(snap_member, pool, SNAP_POOL),
	REF(snap_member, node, SNAP_NODE),
	RANGE(snap_member, port, 0, 65535),
	RANGE(snap_member, priority_group, 0, 65535),
	LIVE(snap_member),
	END,
};
static const struct snap_rule vaddr_rules[] = {
	ID(snap_vaddr),
	ZERO(snap_vaddr, reserved),
	ADDR(snap_vaddr, addr),
	PREFIX(snap_vaddr, prefix, addr, 1),
	RANGE(snap_vaddr, arp, 0, SNAP_ANSWERS - 1),
	RANGE(snap_vaddr, icmp_echo, 0, SNAP_ANSWERS - 1),
	FLAG(snap_vaddr, enabled),
	FLAG(snap_vaddr, available),
	ZERO(snap_vaddr, reserved2),
	END,
};
static const struct snap_rule virtual_rules[] = {
	ID(snap_virtual),
	REF(snap_virtual, vaddr, SNAP_VADDR),
	REF_NIL(snap_virtual, pool, SNAP_POOL),
	REF(snap_virtual, profile, SNAP_PROFILE),
	REF_NIL(snap_virtual, snatpool, SNAP_SNATPOOL),
	ZERO(snap_virtual, reserved),
	ADDR(snap_virtual, source),
	PREFIX(snap_virtual, source_prefix, source, 1),
	RANGE(snap_virtual, proto, 0, 255),
	RANGE(snap_virtual, port, 0, 65535),
	RANGE(snap_virtual, type, 0, SNAP_VIRTUAL_REJECT),
	RANGE(snap_virtual, snat, 0, SNAP_SNAT_POOL),
	RANGE(snap_virtual, vlans, 0, SNAP_VLANS_EXCEPT),
	RANGE(snap_virtual, source_port, 0, SNAP_PORT_CHANGE),
	FLAG(snap_virtual, translate_address),
	FLAG(snap_virtual, translate_port),
	RANGE(snap_virtual, auto_lasthop, 0, SNAP_ENABLED),
	ZERO(snap_virtual, reserved2),
	SPAN(snap_virtual, first_vlan, SNAP_VLAN_REF),
	LIVE(snap_virtual),
	ZERO(snap_virtual, reserved3),
	END,
};
static const struct snap_rule vlan_ref_rules[] = {REF(snap_vlan_ref, vlan, SNAP_VLAN), END};
static const struct snap_rule profile_rules[] = {
	ID(snap_profile),
	RANGE(snap_profile, kind, 0, SNAP_PROFILE_UDP),
	FLAG(snap_profile, reset_on_timeout),
	FLAG(snap_profile, loose_initiation),
	FLAG(snap_profile, loose_close),
	ANY32(snap_profile, idle_timeout),
	ANY32(snap_profile, handshake_timeout),
	ANY32(snap_profile, close_timeout),
	END,
};
static const struct snap_rule snatpool_rules[] = {
	ID(snap_snatpool),
	SPAN(snap_snatpool, first_addr, SNAP_SNAT_ADDR),
	END,
};
static const struct snap_rule snat_addr_rules[] = {
	/* An address may stand in several pools, each time with its one id. */
	RANGE(snap_snat_addr, id, 1, UINT32_MAX),
	ZERO(snap_snat_addr, reserved),
	ADDR(snap_snat_addr, addr),
	END,
};

const struct snap_rule *const snap_rules[SNAP_KINDS] = {
	settings_rules,
	interface_rules,
	vlan_rules,
	vlan_member_rules,
	self_rules,
	service_rules,
	route_rules,
	node_rules,
	pool_rules,
	member_rules,
	vaddr_rules,
	virtual_rules,
	vlan_ref_rules,
	profile_rules,
	snatpool_rules,
	snat_addr_rules,
};
