/* SPDX-License-Identifier: BSD-3-Clause */
#include "net/fragment.h"

#include <errno.h>
#include <stdlib.h>

#include "net/netprivate.h"

#define NO_ROW UINT32_MAX
#define BUCKETS FRAGMENT_DATAGRAMS
#define HOUSE_PASS_TICKS 10u

struct fragment_key {
	struct ip_addr src, dst;
	uint32_t id;
	uint8_t proto;
};

static struct fragment_table *table_of(const struct worker *w)
{
	return &net_private(w)->fragments;
}

int fragments_init(struct worker *w)
{
	struct fragment_table *t = table_of(w);

	t->rows = calloc(FRAGMENT_DATAGRAMS, sizeof(*t->rows));
	t->buckets = malloc(BUCKETS * sizeof(*t->buckets));
	if (!t->rows || !t->buckets)
		return -ENOMEM;
	memset(t->buckets, 0xff, BUCKETS * sizeof(*t->buckets));
	for (uint32_t i = 0; i < FRAGMENT_DATAGRAMS; i++)
		t->rows[i].chain = i + 1 < FRAGMENT_DATAGRAMS ? i + 1 : NO_ROW;
	t->seed = (uint32_t)rte_rdtsc();
	return 0;
}

void fragments_fini(struct worker *w)
{
	struct fragment_table *t = table_of(w);

	for (uint32_t i = 0; t->rows && i < FRAGMENT_DATAGRAMS; i++)
		rte_pktmbuf_free_bulk(t->rows[i].hold, t->rows[i].held);
	free(t->rows);
	free(t->buckets);
}

static struct fragment_key key_of(struct rte_mbuf *m)
{
	const struct wire_info *i = &pkt_of(m)->wire;
	const uint8_t *base = rte_pktmbuf_mtod(m, const uint8_t *);

	return (struct fragment_key){.src = wire_src(base, i),
		.dst = wire_dst(base, i),
		.id = i->fragment_id,
		.proto = i->ip_version == 4 ? i->proto : 0};
}

static uint32_t key_hash(const struct fragment_key *k, uint32_t seed)
{
	return addr_hash(&k->src, seed ^ k->id ^ addr_hash(&k->dst, k->proto));
}

static uint32_t *bucket_of(struct fragment_table *t, const struct fragment_key *k)
{
	return &t->buckets[key_hash(k, t->seed) & (BUCKETS - 1)];
}

static struct datagram *datagram_find(struct fragment_table *t, const struct fragment_key *k)
{
	for (uint32_t i = *bucket_of(t, k); i != NO_ROW; i = t->rows[i].chain) {
		struct datagram *d = &t->rows[i];
		if (d->id == k->id && d->key_proto == k->proto && ip_equal(&d->src, &k->src) &&
			ip_equal(&d->dst, &k->dst))
			return d;
	}
	return NULL;
}

static struct datagram *datagram_new(struct worker *w, const struct fragment_key *k)
{
	struct fragment_table *t = table_of(w);
	uint32_t i = t->free, *bucket = bucket_of(t, k);

	if (i == NO_ROW)
		return NULL;
	struct datagram *d = &t->rows[i];
	t->free = d->chain;
	t->used++;
	*d = (struct datagram){.src = k->src,
		.dst = k->dst,
		.id = k->id,
		.key_proto = k->proto,
		.deadline = w->now + FRAGMENT_WAIT,
		.used = true,
		.chain = *bucket};
	*bucket = i;
	return d;
}

static void held_drop(struct worker *w, struct datagram *d, enum drop_reason reason)
{
	for (unsigned i = 0; i < d->held; i++)
		worker_drop(w, d->hold[i], reason);
	table_of(w)->held -= d->held;
	d->held = 0;
}

static void datagram_free(struct worker *w, struct datagram *d)
{
	struct fragment_table *t = table_of(w);
	struct fragment_key k = {.src = d->src, .dst = d->dst, .id = d->id, .proto = d->key_proto};
	uint32_t index = (uint32_t)(d - t->rows), *at = bucket_of(t, &k);

	held_drop(w, d, DROP_FRAGMENT_TIMEOUT);
	while (*at != index)
		at = &t->rows[*at].chain;
	*at = d->chain;
	d->used = false;
	d->chain = t->free;
	t->free = index;
	t->used--;
}

enum range_result { RANGE_NEW, RANGE_KNOWN, RANGE_OVERLAPS, RANGE_TOO_MANY };

/* Enters [from, to) unless it touches what was seen. */
static enum range_result range_enter(struct datagram *d, uint16_t from, uint16_t to)
{
	unsigned i = 0;

	while (i < d->ranges && d->range[i].to < from)
		i++;
	struct fragment_range *r = &d->range[i];
	if (i < d->ranges && r->from <= from && to <= r->to)
		return RANGE_KNOWN;
	bool joins_before = i < d->ranges && r->to == from;
	struct fragment_range *next = joins_before ? r + 1 : r;
	bool has_next = next < d->range + d->ranges;
	if (has_next && next->from < to)
		return RANGE_OVERLAPS;
	bool joins_next = has_next && next->from == to;
	if (joins_before && joins_next) {
		r->to = next->to;
		memmove(next, next + 1, (size_t)(d->range + d->ranges - next - 1) * sizeof(*r));
		d->ranges--;
	} else if (joins_before) {
		r->to = to;
	} else if (joins_next) {
		next->from = from;
	} else if (d->ranges == FRAGMENT_RANGES) {
		return RANGE_TOO_MANY;
	} else {
		memmove(r + 1, r, (d->ranges - i) * sizeof(*r));
		*r = (struct fragment_range){from, to};
		d->ranges++;
	}
	return RANGE_NEW;
}

/* Lengths that no honest sender makes (RFC 791, 1858, 8200). */
static bool malformed(const struct wire_info *i)
{
	uint32_t length = i->l3_end - i->l4, end = i->fragment_offset + length;

	if (length == 0 || end > UINT16_MAX)
		return true;
	if (i->flags & WIRE_FRAGMENT_MORE && length % 8)
		return true;
	return i->proto == PROTO_TCP && i->fragment_offset == 8;
}

/* Checks the fragment against the others of its datagram. */
static bool fits(struct datagram *d, const struct wire_info *i)
{
	uint16_t end = (uint16_t)(i->fragment_offset + i->l3_end - i->l4);
	bool last = !(i->flags & WIRE_FRAGMENT_MORE);

	if (d->bad || (d->end && (end > d->end || (last && end != d->end))))
		return false;
	if (last && d->ranges && d->range[d->ranges - 1].to > end)
		return false;
	switch (range_enter(d, i->fragment_offset, end)) {
	case RANGE_NEW:
		break;
	case RANGE_OVERLAPS:
		d->bad = true;
		return false;
	default:
		return false;
	}
	if (last)
		d->end = end;
	return true;
}

static void first_note(struct worker *w, struct datagram *d, const struct wire_info *i)
{
	d->first_seen = true;
	d->src_port = i->src_port;
	d->dst_port = i->dst_port;
	d->proto = i->proto;
	d->icmp_type = i->icmp_type;
	d->icmp_code = i->icmp_code;
	d->deadline = w->now + FRAGMENT_KEEP;
}

static void later_fill(const struct datagram *d, struct wire_info *i)
{
	i->src_port = d->src_port;
	i->dst_port = d->dst_port;
	i->proto = d->proto;
	i->icmp_type = d->icmp_type;
	i->icmp_code = d->icmp_code;
}

static void hold(struct worker *w, struct datagram *d, struct rte_mbuf *m)
{
	struct fragment_table *t = table_of(w);

	if (d->held == FRAGMENT_HELD_EACH || t->held == FRAGMENT_HELD) {
		worker_drop(w, m, DROP_FRAGMENT_TABLE_FULL);
		return;
	}
	d->hold[d->held++] = m;
	t->held++;
}

/* m and what waited for it, as far as there is room. */
static unsigned release(struct worker *w, struct datagram *d, struct rte_mbuf *m,
	struct rte_mbuf **out, unsigned room)
{
	unsigned n = 0;

	out[n++] = m;
	for (unsigned k = 0; k < d->held; k++) {
		if (n == room) {
			worker_drop(w, d->hold[k], DROP_FRAGMENT_TABLE_FULL);
			continue;
		}
		later_fill(d, &pkt_of(d->hold[k])->wire);
		out[n++] = d->hold[k];
	}
	table_of(w)->held -= d->held;
	d->held = 0;
	return n;
}

/* We are the keeper. */
static unsigned keep(struct worker *w, struct rte_mbuf *m, const struct fragment_key *k,
	struct rte_mbuf **out, unsigned room)
{
	struct wire_info *i = &pkt_of(m)->wire;
	struct datagram *d = datagram_find(table_of(w), k);
	unsigned n = 0;

	if (!d)
		d = datagram_new(w, k);
	if (!d) {
		worker_drop(w, m, DROP_FRAGMENT_TABLE_FULL);
		return 0;
	}
	if (!fits(d, i)) {
		if (d->bad)
			held_drop(w, d, DROP_FRAGMENT_BAD);
		worker_drop(w, m, DROP_FRAGMENT_BAD);
		return 0;
	}
	if (!(i->flags & WIRE_FRAGMENT_LATER)) {
		first_note(w, d, i);
		n = release(w, d, m, out, room);
	} else if (d->first_seen) {
		later_fill(d, i);
		out[n++] = m;
	} else {
		hold(w, d, m);
	}
	if (d->end && d->ranges == 1 && d->range[0].from == 0 && d->range[0].to == d->end)
		datagram_free(w, d);
	return n;
}

unsigned fragment_input(struct worker *w, struct rte_mbuf *m, struct rte_mbuf **out, unsigned room)
{
	struct fragment_key k = key_of(m);
	unsigned keeper = key_hash(&k, 0) % w->count;

	if (malformed(&pkt_of(m)->wire)) {
		worker_drop(w, m, DROP_FRAGMENT_BAD);
		return 0;
	}
	if (keeper != w->index) {
		handover_send(w, keeper, m, PKT_FRAGMENT);
		return 0;
	}
	w->stat[WORKER_FRAGMENTS]++;
	return keep(w, m, &k, out, room);
}

void fragments_house(struct worker *w)
{
	struct fragment_table *t = table_of(w);

	for (uint32_t k = 0; k < FRAGMENT_DATAGRAMS / HOUSE_PASS_TICKS + 1 && t->used; k++) {
		if (t->house_at >= FRAGMENT_DATAGRAMS)
			t->house_at = 0;
		struct datagram *d = &t->rows[t->house_at++];
		if (d->used && tick_reached(w->now, d->deadline))
			datagram_free(w, d);
	}
}
