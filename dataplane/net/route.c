/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Longest prefix match: one hash table over (network, prefix), probed for each prefix length that occurs,
 * longest first. Gateways are resolved to a VLAN when the table is built.
 */
#include <errno.h>
#include <stdlib.h>

#include "net/netview.h"

static uint32_t route_place(
	const struct net_tables *t, const struct ip_addr *network, uint8_t prefix)
{
	uint32_t i = addr_hash(network, prefix) & t->route_mask;

	while (t->routes[i].kind != ROUTE_EMPTY &&
		(t->routes[i].prefix != prefix || !ip_equal(&t->routes[i].network, network)))
		i = (i + 1) & t->route_mask;
	return i;
}

const struct route *route_find(const struct net_tables *t, const struct ip_addr *dst)
{
	const struct prefix_lengths *l = &t->lengths[!ip_is_v4(dst)];

	for (unsigned i = 0; i < l->count; i++) {
		struct ip_addr network = ip_prefix_of(dst, l->length[i]);
		const struct route *r = &t->routes[route_place(t, &network, l->length[i])];
		if (r->kind != ROUTE_EMPTY && r->kind != ROUTE_UNUSABLE)
			return r;
	}
	return NULL;
}

static void lengths_note(struct prefix_lengths *l, uint8_t prefix)
{
	unsigned i = 0;

	while (i < l->count && l->length[i] > prefix)
		i++;
	if (i < l->count && l->length[i] == prefix)
		return;
	memmove(l->length + i + 1, l->length + i, l->count - i);
	l->length[i] = prefix;
	l->count++;
}

/* The first of equal ones stays: connected networks win over static routes. */
static void route_add(struct net_tables *t, const struct route *new)
{
	struct route *r = &t->routes[route_place(t, &new->network, new->prefix)];

	if (r->kind != ROUTE_EMPTY)
		return;
	*r = *new;
	lengths_note(&t->lengths[!ip_is_v4(&new->network)], new->prefix);
}

static void add_connected(struct net_tables *t)
{
	const struct snap_self *self = SNAP_ROWS(t->snap, SNAP_SELF, struct snap_self);

	for (uint32_t i = 0; i < SNAP_COUNT(t->snap, SNAP_SELF); i++) {
		struct route r = {.network = ip_prefix_of(&self[i].addr, self[i].prefix),
			.prefix = self[i].prefix,
			.kind = ROUTE_CONNECTED,
			.vlan = (uint16_t)self[i].vlan};
		route_add(t, &r);
	}
}

static void add_static(struct net_tables *t)
{
	static const uint8_t kinds[] = {[SNAP_ROUTE_GATEWAY] = ROUTE_GATEWAY,
		[SNAP_ROUTE_VLAN] = ROUTE_VLAN,
		[SNAP_ROUTE_BLACKHOLE] = ROUTE_BLACKHOLE};
	const struct snap_route *route = SNAP_ROWS(t->snap, SNAP_ROUTE, struct snap_route);

	for (uint32_t i = 0; i < SNAP_COUNT(t->snap, SNAP_ROUTE); i++) {
		struct route r = {.network = ip_prefix_of(&route[i].network, route[i].prefix),
			.prefix = route[i].prefix,
			.kind = kinds[route[i].kind],
			.gateway = route[i].gateway,
			.mtu = route[i].mtu,
			.vlan = route[i].vlan == SNAP_NIL ? NET_NO_VLAN : (uint16_t)route[i].vlan};
		route_add(t, &r);
	}
}

/* Finds the gateway's VLAN by the best route towards it, once that one is resolved. */
static bool resolve(const struct net_tables *t, struct route *r)
{
	const struct route *via = route_find(t, &r->gateway);

	if (!via || via->kind == ROUTE_BLACKHOLE || via->vlan == NET_NO_VLAN)
		return false;
	if (via->kind == ROUTE_GATEWAY)
		r->gateway = via->gateway;
	r->vlan = via->vlan;
	return true;
}

/* Until nothing more can be resolved; what is left leads in circles or nowhere. The outcome does not
 * depend on the order of the routes. */
static void resolve_all(struct net_tables *t)
{
	bool found = true;

	while (found) {
		found = false;
		for (uint32_t i = 0; i <= t->route_mask; i++) {
			struct route *r = &t->routes[i];
			if (r->kind == ROUTE_GATEWAY && r->vlan == NET_NO_VLAN)
				found |= resolve(t, r);
		}
	}
	for (uint32_t i = 0; i <= t->route_mask; i++)
		if (t->routes[i].kind == ROUTE_GATEWAY && t->routes[i].vlan == NET_NO_VLAN)
			t->routes[i].kind = ROUTE_UNUSABLE;
}

int routes_build(struct net_tables *t)
{
	uint32_t count = SNAP_COUNT(t->snap, SNAP_SELF) + SNAP_COUNT(t->snap, SNAP_ROUTE);
	uint32_t places = rte_align32pow2(2 * count + 2);

	t->routes = calloc(places, sizeof(*t->routes));
	if (!t->routes)
		return -ENOMEM;
	t->route_mask = places - 1;
	add_connected(t);
	add_static(t);
	resolve_all(t);
	return 0;
}
