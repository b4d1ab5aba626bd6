/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow/listener.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Tuple-space search: one hash over (network, prefix, port, protocol); the kinds of tuple that occur
 * (prefix length, port given or any, protocol given or any) are tried from the most specific on. Virtual
 * servers of one tuple are chained, longer source prefix first.
 */
struct listener_kind {
	uint8_t bits; /* prefix over the 128-bit form: IPv4 adds 96 */
	bool ipv4, port, proto;
};

struct listener_slot {
	uint32_t first; /* row of SNAP_VIRTUAL, SNAP_NIL = empty */
	struct ip_addr net;
	uint16_t port;
	uint8_t proto, bits;
};

struct listener_table {
	const struct snap_header *snap;
	const struct snap_virtual *virtuals;
	const struct snap_vaddr *vaddrs;
	uint32_t *next; /* chain of virtual servers with the same tuple */
	struct listener_slot *slots;
	uint32_t mask;
	uint32_t *row_of_slot; /* id slot -> row */
	uint32_t id_slots;
	unsigned kinds;
	struct listener_kind kind[2 * 129 * 4];
};

static uint32_t tuple_hash(const struct ip_addr *net, uint16_t port, uint8_t proto, uint8_t bits)
{
	uint64_t x = (net->d[0] ^ 0x9e3779b97f4a7c15ull) * 0xff51afd7ed558ccdull;
	x = (x ^ (x >> 32) ^ net->d[1]) * 0xc4ceb9fe1a85ec53ull;
	x ^= ((uint64_t)port << 16) | ((uint64_t)proto << 8) | bits;
	x *= 0x9fb21c651e98df25ull;
	return (uint32_t)(x >> 32);
}

static struct listener_slot *slot_find(const struct listener_table *t, const struct ip_addr *net,
	uint16_t port, uint8_t proto, uint8_t bits)
{
	uint32_t i = tuple_hash(net, port, proto, bits) & t->mask;

	for (;; i = (i + 1) & t->mask) {
		struct listener_slot *s = &t->slots[i];
		if (s->first == SNAP_NIL)
			return s;
		if (s->port == port && s->proto == proto && s->bits == bits &&
			ip_equal(&s->net, net))
			return s;
	}
}

static uint8_t bits_of(const struct snap_vaddr *a)
{
	return ip_is_v4(&a->addr) ? a->prefix + 96 : a->prefix;
}

static int source_bits(const struct snap_virtual *v)
{
	return ip_is_v4(&v->source) ? v->source_prefix + 96 : v->source_prefix;
}

static void table_add(struct listener_table *t, uint32_t row)
{
	const struct snap_virtual *v = &t->virtuals[row];
	const struct snap_vaddr *a = &t->vaddrs[v->vaddr];
	struct ip_addr net = ip_prefix_of(&a->addr, a->prefix);
	uint8_t bits = bits_of(a);
	struct listener_slot *s = slot_find(t, &net, v->port, v->proto, bits);
	uint32_t *link = &s->first;

	s->net = net;
	s->port = v->port;
	s->proto = v->proto;
	s->bits = bits;
	while (*link != SNAP_NIL && source_bits(&t->virtuals[*link]) >= source_bits(v))
		link = &t->next[*link];
	t->next[row] = *link;
	*link = row;
}

/* Lists the kinds of tuple that occur, most specific first. */
static void table_kinds(struct listener_table *t)
{
	bool seen[2][129][2][2] = {0};

	for (uint32_t i = 0; i < SNAP_COUNT(t->snap, SNAP_VIRTUAL); i++) {
		const struct snap_virtual *v = &t->virtuals[i];
		const struct snap_vaddr *a = &t->vaddrs[v->vaddr];
		seen[ip_is_v4(&a->addr)][bits_of(a)][v->port != 0][v->proto != 0] = true;
	}
	for (int bits = 128; bits >= 0; bits--)
		for (int k = 7; k >= 0; k--) {
			bool port = k & 4, proto = k & 2, ipv4 = k & 1;
			if (seen[ipv4][bits][port][proto])
				t->kind[t->kinds++] =
					(struct listener_kind){bits, ipv4, port, proto};
		}
}

static int index_build(struct listener_table *t)
{
	uint32_t n = SNAP_COUNT(t->snap, SNAP_VIRTUAL);

	for (uint32_t i = 0; i < n; i++)
		if (id_slot(t->virtuals[i].id) >= t->id_slots)
			t->id_slots = id_slot(t->virtuals[i].id) + 1;
	t->row_of_slot = malloc((t->id_slots + 1) * sizeof(uint32_t));
	if (t->row_of_slot == NULL)
		return -ENOMEM;
	memset(t->row_of_slot, 0xff, (t->id_slots + 1) * sizeof(uint32_t));
	for (uint32_t i = 0; i < n; i++)
		t->row_of_slot[id_slot(t->virtuals[i].id)] = i;
	return 0;
}

struct listener_table *listener_table_new(const struct snap_header *snap)
{
	uint32_t n = SNAP_COUNT(snap, SNAP_VIRTUAL), size = 16;

	while (size < 2 * n)
		size <<= 1;
	struct listener_table *t = calloc(1, sizeof(*t));
	if (t == NULL)
		return NULL;
	t->snap = snap;
	t->virtuals = SNAP_ROWS(snap, SNAP_VIRTUAL, struct snap_virtual);
	t->vaddrs = SNAP_ROWS(snap, SNAP_VADDR, struct snap_vaddr);
	t->mask = size - 1;
	t->next = malloc((n + 1) * sizeof(*t->next));
	t->slots = calloc(size, sizeof(*t->slots));
	if (t->next == NULL || t->slots == NULL || index_build(t) < 0) {
		listener_table_free(t);
		return NULL;
	}
	for (uint32_t i = 0; i < size; i++)
		t->slots[i].first = SNAP_NIL;
	for (uint32_t i = 0; i < n; i++)
		table_add(t, i);
	table_kinds(t);
	return t;
}

void listener_table_free(struct listener_table *t)
{
	if (t == NULL)
		return;
	free(t->next);
	free(t->slots);
	free(t->row_of_slot);
	free(t);
}

static bool vlan_served(const struct listener_table *t, const struct snap_virtual *v, uint32_t vlan)
{
	const struct snap_vlan_ref *refs = SNAP_ROWS(t->snap, SNAP_VLAN_REF, struct snap_vlan_ref);
	bool listed = false;

	if (v->vlans == SNAP_VLANS_ALL)
		return true;
	for (uint32_t i = 0; i < v->vlan_count && !listed; i++)
		listed = refs[v->first_vlan + i].vlan == vlan;
	return listed == (v->vlans == SNAP_VLANS_ONLY);
}

static uint32_t chain_match(
	const struct listener_table *t, uint32_t row, const struct listener_key *key)
{
	for (; row != SNAP_NIL; row = t->next[row]) {
		const struct snap_virtual *v = &t->virtuals[row];
		if (ip_prefix_match(&v->source, v->source_prefix, &key->src) &&
			vlan_served(t, v, key->vlan))
			return row;
	}
	return SNAP_NIL;
}

uint32_t listener_match(const struct listener_table *t, const struct listener_key *key)
{
	bool ipv4 = ip_is_v4(&key->dst);

	for (unsigned i = 0; i < t->kinds; i++) {
		const struct listener_kind *k = &t->kind[i];
		if (k->ipv4 != ipv4)
			continue;
		struct ip_addr net = ip_prefix_of(&key->dst, ipv4 ? k->bits - 96 : k->bits);
		const struct listener_slot *s = slot_find(
			t, &net, k->port ? key->port : 0, k->proto ? key->proto : 0, k->bits);
		uint32_t row = chain_match(t, s->first, key);
		if (row != SNAP_NIL)
			return row;
	}
	return SNAP_NIL;
}

bool listener_is_host(
	const struct listener_table *t, const struct ip_addr *dst, uint16_t port, uint8_t proto)
{
	for (unsigned i = 0; i < t->kinds && t->kind[i].bits == 128; i++) {
		const struct listener_kind *k = &t->kind[i];
		const struct listener_slot *s =
			slot_find(t, dst, k->port ? port : 0, k->proto ? proto : 0, 128);
		if (s->first != SNAP_NIL)
			return true;
	}
	return false;
}

const struct snap_virtual *listener_virtual(const struct listener_table *t, uint32_t id)
{
	uint32_t slot = id_slot(id);

	if (slot >= t->id_slots || t->row_of_slot[slot] == SNAP_NIL)
		return NULL;
	const struct snap_virtual *v = &t->virtuals[t->row_of_slot[slot]];
	return v->id == id ? v : NULL;
}

const struct snap_profile *listener_profile(const struct listener_table *t, uint32_t id)
{
	const struct snap_virtual *v = listener_virtual(t, id);

	return v ? &SNAP_ROWS(t->snap, SNAP_PROFILE, struct snap_profile)[v->profile] : NULL;
}
