/* SPDX-License-Identifier: BSD-3-Clause */
/* Our own addresses: self IPs, host virtual addresses, addresses of SNAT pools. */
#include <errno.h>
#include <stdlib.h>

#include "net/netview.h"

static uint32_t own_place(const struct net_tables *t, const struct ip_addr *addr)
{
	uint32_t i = addr_hash(addr, 0) & t->own_mask;

	while (t->own[i].owner != NET_NOT_OURS && !ip_equal(&t->own[i].addr, addr))
		i = (i + 1) & t->own_mask;
	return i;
}

/* Bit of the filter for an address: most packets' ends are not ours, and need no more than this. */
static unsigned filter_bit(const struct ip_addr *addr)
{
	return (addr->w[3] * 0x9e3779b1u) >> (32 - OWN_FILTER_BITS);
}

const struct own_addr *own_find(const struct net_tables *t, const struct ip_addr *addr)
{
	unsigned bit = filter_bit(addr);

	if (!(t->own_filter[bit / 64] & (1ull << (bit % 64))))
		return NULL;
	const struct own_addr *a = &t->own[own_place(t, addr)];

	return a->owner == NET_NOT_OURS ? NULL : a;
}

/* The VLAN in whose network a virtual or SNAT address lies: only there it is asked for. */
static uint16_t vlan_of_addr(const struct net_tables *t, const struct ip_addr *addr)
{
	const struct route *r = route_find(t, addr);

	return r && r->kind == ROUTE_CONNECTED ? r->vlan : NET_NO_VLAN;
}

/* What two objects with one address do: if one of them always answers, it is answered. */
static uint8_t answer_both(uint8_t a, uint8_t b)
{
	if (a == SNAP_ANSWER_ALWAYS || b == SNAP_ANSWER_ALWAYS)
		return SNAP_ANSWER_ALWAYS;
	return a | b;
}

/* What comes first names the owner; the others add what they answer. */
static void own_add(struct net_tables *t, const struct own_addr *new)
{
	struct own_addr *a = &t->own[own_place(t, &new->addr)];

	if (a->owner == NET_NOT_OURS) {
		unsigned bit = filter_bit(&new->addr);
		t->own_filter[bit / 64] |= 1ull << (bit % 64);
		*a = *new;
		return;
	}
	a->answers = answer_both(a->answers, new->answers);
	a->echo = answer_both(a->echo, new->echo);
}

static void add_selfs(struct net_tables *t)
{
	const struct snap_self *self = SNAP_ROWS(t->snap, SNAP_SELF, struct snap_self);

	for (uint32_t i = 0; i < SNAP_COUNT(t->snap, SNAP_SELF); i++) {
		struct own_addr a = {.addr = self[i].addr,
			.owner = NET_SELF,
			.row = i,
			.id = self[i].id,
			.vlan = (uint16_t)self[i].vlan,
			.answers = SNAP_ANSWER_ALWAYS,
			.echo = SNAP_ANSWER_ALWAYS};
		own_add(t, &a);
	}
}

static void add_virtuals(struct net_tables *t)
{
	const struct snap_vaddr *vaddr = SNAP_ROWS(t->snap, SNAP_VADDR, struct snap_vaddr);

	for (uint32_t i = 0; i < SNAP_COUNT(t->snap, SNAP_VADDR); i++) {
		if (!vaddr[i].enabled || vaddr[i].prefix != ip_prefix_max(&vaddr[i].addr))
			continue;
		struct own_addr a = {.addr = vaddr[i].addr,
			.owner = NET_VADDR,
			.row = i,
			.id = vaddr[i].id,
			.vlan = vlan_of_addr(t, &vaddr[i].addr),
			.answers = vaddr[i].arp,
			.echo = vaddr[i].icmp_echo};
		own_add(t, &a);
	}
}

/* Addresses that virtual servers leave as they are. */
static void mark_shared(struct net_tables *t)
{
	const struct snap_vaddr *vaddr = SNAP_ROWS(t->snap, SNAP_VADDR, struct snap_vaddr);
	const struct snap_virtual *v = SNAP_ROWS(t->snap, SNAP_VIRTUAL, struct snap_virtual);

	for (uint32_t i = 0; i < SNAP_COUNT(t->snap, SNAP_VIRTUAL); i++) {
		struct own_addr *a = &t->own[own_place(t, &vaddr[v[i].vaddr].addr)];
		if (a->owner == NET_VADDR && v[i].type == SNAP_VIRTUAL_FASTL4 &&
			!v[i].translate_address)
			a->shared = true;
	}
}

static void add_snats(struct net_tables *t)
{
	const struct snap_snat_addr *snat =
		SNAP_ROWS(t->snap, SNAP_SNAT_ADDR, struct snap_snat_addr);

	for (uint32_t i = 0; i < SNAP_COUNT(t->snap, SNAP_SNAT_ADDR); i++) {
		struct own_addr a = {.addr = snat[i].addr,
			.owner = NET_SNAT,
			.row = i,
			.id = snat[i].id,
			.vlan = vlan_of_addr(t, &snat[i].addr),
			.answers = SNAP_ANSWER_ALWAYS};
		own_add(t, &a);
	}
}

/* An address that was there before, and answered there, need not be announced again. */
static void carry_over(struct net_tables *t, const struct net_tables *old, uint64_t now_ns)
{
	for (uint32_t i = 0; i <= t->own_mask; i++) {
		struct own_addr *a = &t->own[i];
		a->since = now_ns;
		if (a->owner == NET_NOT_OURS || !old)
			continue;
		uint32_t j = own_place(old, &a->addr);
		const struct own_addr *before = &old->own[j];
		if (before->owner == NET_NOT_OURS || !before->answers ||
			before->vlan == NET_NO_VLAN || a->vlan == NET_NO_VLAN ||
			old->vlans[before->vlan].id != t->vlans[a->vlan].id)
			continue;
		a->since = __atomic_load_n(&before->since, __ATOMIC_RELAXED);
		t->announced[i] = __atomic_load_n(&old->announced[j], __ATOMIC_RELAXED);
	}
}

int own_build(struct net_tables *t, const struct net_tables *old, uint64_t now_ns)
{
	uint32_t count = SNAP_COUNT(t->snap, SNAP_SELF) + SNAP_COUNT(t->snap, SNAP_VADDR) +
			 SNAP_COUNT(t->snap, SNAP_SNAT_ADDR);
	uint32_t places = rte_align32pow2(2 * count + 2);

	t->own = calloc(places, sizeof(*t->own));
	t->announced = calloc(places, 1);
	if (!t->own || !t->announced)
		return -ENOMEM;
	t->own_mask = places - 1;
	t->turned = old ? old->turned : 0;
	add_selfs(t);
	add_virtuals(t);
	mark_shared(t);
	add_snats(t);
	carry_over(t, old, now_ns);
	return 0;
}

enum net_owner net_owner_of(const struct view *v, const struct ip_addr *addr, uint32_t *row)
{
	const struct own_addr *a = &v->net->own[own_place(v->net, addr)];

	if (row)
		*row = a->row;
	return a->owner;
}

bool net_self_of_vlan(
	const struct view *v, uint16_t vlan, const struct ip_addr *dst, struct ip_addr *out)
{
	const struct net_tables *t = v->net;
	const struct snap_self *self = SNAP_ROWS(t->snap, SNAP_SELF, struct snap_self);
	const struct snap_self *best = NULL;

	if (vlan >= t->vlan_count)
		return false;
	for (uint32_t i = 0; i < t->vlans[vlan].selfs; i++) {
		const struct snap_self *s = &self[t->selfs[t->vlans[vlan].first_self + i]];
		if (ip_is_v4(&s->addr) != ip_is_v4(dst))
			continue;
		bool near = ip_prefix_match(&s->addr, s->prefix, dst);
		if (!best || (near && !ip_prefix_match(&best->addr, best->prefix, dst) &&
				     s->floating == best->floating))
			best = s;
	}
	if (best)
		*out = best->addr;
	return best != NULL;
}
