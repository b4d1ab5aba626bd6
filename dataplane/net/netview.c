/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/netview.h"

#include <errno.h>
#include <stdlib.h>

static uint64_t table_hash(const struct snap_header *snap, enum snap_kind kind, uint64_t hash)
{
	size_t length = (size_t)SNAP_COUNT(snap, kind) * snap->tables[kind].row;

	hash = (hash ^ length) * 0x9e3779b97f4a7c15u;
	return (hash ^ snapshot_checksum(SNAP_ROWS(snap, kind, char), length)) *
	       0x9e3779b97f4a7c15u;
}

static void sign(struct net_tables *t)
{
	static const enum snap_kind kinds[] = {
		SNAP_INTERFACE, SNAP_VLAN, SNAP_VLAN_MEMBER, SNAP_SELF, SNAP_ROUTE, SNAP_SETTINGS};

	for (unsigned i = 0; i < RTE_DIM(kinds); i++)
		t->signature = table_hash(t->snap, kinds[i], t->signature);
	t->addresses = table_hash(t->snap, SNAP_VADDR, t->signature);
	t->addresses = table_hash(t->snap, SNAP_SNAT_ADDR, t->addresses);
}

struct net_tables *net_tables_new(
	const struct snap_header *snap, const struct net_tables *old, uint64_t now_ns)
{
	struct net_tables *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->snap = snap;
	sign(t);
	if (SNAP_COUNT(snap, SNAP_VLAN) < NET_NO_VLAN && vlans_build(t) == 0 &&
		routes_build(t) == 0 && own_build(t, old, now_ns) == 0)
		return t;
	net_tables_free(t);
	return NULL;
}

void net_tables_free(struct net_tables *t)
{
	if (!t)
		return;
	for (unsigned i = 0; i < PORTS_MAX; i++)
		free(t->vlan_at[i]);
	free(t->vlans);
	free(t->vlan_ports);
	free(t->selfs);
	free(t->own);
	free(t->announced);
	free(t->routes);
	free(t);
}

/* --- VLANs ---------------------------------------------------------------------------------------- */

static int vlan_enter(struct net_tables *t, uint16_t row, struct vlan_port at)
{
	uint16_t **map = &t->vlan_at[at.port];

	if (!*map) {
		*map = malloc(TAGS * sizeof(**map));
		if (!*map)
			return -ENOMEM;
		memset(*map, 0xff, TAGS * sizeof(**map));
	}
	uint16_t *place = &(*map)[at.tagged ? t->vlans[row].tag : 0];
	if (*place == NET_NO_VLAN)
		*place = row;
	return 0;
}

static int vlan_build(struct net_tables *t, uint16_t row, uint32_t *next)
{
	const struct snap_vlan *v = SNAP_ROWS(t->snap, SNAP_VLAN, struct snap_vlan) + row;
	const struct snap_vlan_member *m =
		SNAP_ROWS(t->snap, SNAP_VLAN_MEMBER, struct snap_vlan_member) + v->first_member;
	const struct snap_interface *interfaces =
		SNAP_ROWS(t->snap, SNAP_INTERFACE, struct snap_interface);
	bool lasthop = SNAP_ROWS(t->snap, SNAP_SETTINGS, struct snap_settings)->auto_lasthop;
	struct net_vlan *out = &t->vlans[row];

	*out = (struct net_vlan){.id = v->id, .tag = v->tag, .mtu = v->mtu, .first_port = *next};
	out->auto_lasthop =
		v->auto_lasthop == SNAP_DEFAULT ? lasthop : v->auto_lasthop == SNAP_ENABLED;
	for (uint32_t i = 0; i < v->members; i++) {
		const struct snap_interface *interface = &interfaces[m[i].interface];
		struct vlan_port at = {port_by_name(interface->name), m[i].tagged};

		if (at.port == PORT_NONE || !interface->enabled)
			continue;
		if (port_at(at.port)->mtu_max < out->mtu)
			out->mtu = port_at(at.port)->mtu_max;
		t->vlan_ports[(*next)++] = at;
		out->ports++;
		if (vlan_enter(t, row, at) != 0)
			return -ENOMEM;
	}
	return 0;
}

static int selfs_build(struct net_tables *t)
{
	const struct snap_self *self = SNAP_ROWS(t->snap, SNAP_SELF, struct snap_self);
	uint32_t count = SNAP_COUNT(t->snap, SNAP_SELF), n = 0;

	t->selfs = calloc(count + 1, sizeof(*t->selfs));
	if (!t->selfs)
		return -ENOMEM;
	for (unsigned v = 0; v < t->vlan_count; v++) {
		t->vlans[v].first_self = n;
		for (int floating = 1; floating >= 0; floating--)
			for (uint32_t i = 0; i < count; i++)
				if (self[i].vlan == v && self[i].floating == floating)
					t->selfs[n++] = i;
		t->vlans[v].selfs = n - t->vlans[v].first_self;
	}
	return 0;
}

int vlans_build(struct net_tables *t)
{
	uint32_t next = 0;

	t->vlan_count = SNAP_COUNT(t->snap, SNAP_VLAN);
	t->vlans = calloc(t->vlan_count + 1, sizeof(*t->vlans));
	t->vlan_ports = calloc(SNAP_COUNT(t->snap, SNAP_VLAN_MEMBER) + 1, sizeof(*t->vlan_ports));
	if (!t->vlans || !t->vlan_ports)
		return -ENOMEM;
	for (unsigned i = 0; i < t->vlan_count; i++) {
		if (vlan_build(t, (uint16_t)i, &next) != 0)
			return -ENOMEM;
	}
	return selfs_build(t);
}

uint16_t net_vlan_of(const struct view *v, uint8_t port, uint16_t tag)
{
	const struct net_tables *t = v->net;

	if (port >= PORTS_MAX || !t->vlan_at[port])
		return NET_NO_VLAN;
	return t->vlan_at[port][tag == WIRE_NO_TAG ? 0 : tag & (TAGS - 1)];
}

uint16_t vlan_row_of(const struct net_tables *t, uint32_t id)
{
	for (unsigned i = 0; i < t->vlan_count; i++)
		if (t->vlans[i].id == id)
			return (uint16_t)i;
	return NET_NO_VLAN;
}

bool vlan_tag_at(const struct net_tables *t, uint16_t vlan, uint8_t port, uint16_t *tag)
{
	const struct net_vlan *v = &t->vlans[vlan];

	for (unsigned i = 0; i < v->ports; i++) {
		const struct vlan_port *at = &t->vlan_ports[v->first_port + i];
		if (at->port != port)
			continue;
		*tag = at->tagged ? v->tag : WIRE_NO_TAG;
		return true;
	}
	return false;
}
