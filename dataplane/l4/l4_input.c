/* SPDX-License-Identifier: BSD-3-Clause */
/* Dispatch to owners, then the burst: keys, one bulk look-up, prefetch, act. */
#include "l4/l4_internal.h"

#include <stdlib.h>

#include <rte_prefetch.h>

#include "core/handover.h"
#include "flow/owner.h"

struct flow_tuple l4_tuple(struct rte_mbuf *m)
{
	const struct wire_info *i = &pkt_of(m)->wire;
	struct flow_tuple t = {.src_port = rte_be_to_cpu_16(i->src_port),
		.dst_port = rte_be_to_cpu_16(i->dst_port)};

	if (i->ip_version == 4) {
		const struct ip4_hdr *ip = pkt_l3(m);
		t.src = ip_addr_v4(ip->src);
		t.dst = ip_addr_v4(ip->dst);
	} else {
		const struct ip6_hdr *ip = pkt_l3(m);
		memcpy(&t.src, ip->src, 16);
		memcpy(&t.dst, ip->dst, 16);
	}
	return t;
}

static struct owner owner_of(struct worker *w, struct rte_mbuf *m)
{
	struct flow_tuple t;
	struct wire_info inner;
	uint8_t proto = pkt_of(m)->wire.proto;

	if (pkt_of(m)->wire.flags & WIRE_ICMP_ERROR && l4_icmp_quoted(m, &inner, &t))
		proto = inner.proto;
	else
		t = l4_tuple(m);
	struct owner_packet p = {t.src, t.dst, t.src_port, t.dst_port, proto};
	return flow_owner(w->view, &p, w->count);
}

/* False: the packet went to its owner. */
static bool is_ours(struct worker *w, struct rte_mbuf *m)
{
	struct pkt *p = pkt_of(m);

	if (w->count == 1 || p->stage == PKT_MISSED) {
		p->owner_hash = w->index;
		return true;
	}
	struct owner owner = owner_of(w, m);
	p->owner_hash = owner.second;
	if (owner.first == w->index)
		return true;
	handover_send(w, owner.first, m, PKT_DISPATCH);
	return false;
}

/* A packet that the bulk look-up did not find, or whose find is in doubt. */
static void missed(struct worker *w, struct rte_mbuf *m, bool ipv6, const void *key)
{
	struct flow_worker *f = w->flow;
	uint64_t hit = 0;
	uint32_t index;
	uint8_t side = FLOW_CLIENT;

	/* An earlier packet of this burst may have opened it, or ended another. */
	if (ipv6)
		flow_lookup6(f, key, 1, &hit, &index, &side);
	else
		flow_lookup4(f, key, 1, &hit, &index, &side);
	if (!hit && pkt_of(m)->owner_hash != w->index) {
		handover_send(w, pkt_of(m)->owner_hash, m, PKT_MISSED);
		return;
	}
	if (!hit) {
		index = l4_open(w, m);
		side = FLOW_CLIENT;
	}
	if (index != FLOW_NONE)
		l4_forward(w, m, index, side);
}

static void act(struct worker *w, struct rte_mbuf **pkts, unsigned n, bool ipv6, const void *keys,
	uint64_t hits, const uint32_t *index, const uint8_t *side)
{
	const struct flow_worker *f = w->flow;
	size_t size = ipv6 ? sizeof(struct flow_key6) : sizeof(struct flow_key4);
	uint32_t deletions = f->deletions;

	for (unsigned i = 0; i < n; i++)
		if (hits & (1ull << i))
			rte_prefetch0(flow_key(f, &f->flows[index[i]], !side[i]));
	for (unsigned i = 0; i < n; i++) {
		/* Once a packet of this burst has ended a flow, what was looked up before is in doubt. */
		if (likely(hits & (1ull << i) && deletions == f->deletions))
			l4_forward(w, pkts[i], index[i], side[i]);
		else
			missed(w, pkts[i], ipv6, (const char *)keys + i * size);
	}
}

static void burst4(struct worker *w, struct rte_mbuf **pkts, unsigned n)
{
	struct flow_key4 keys[PKT_BURST];
	uint32_t index[PKT_BURST];
	uint8_t side[PKT_BURST];
	uint64_t hits;

	for (unsigned i = 0; i < n; i++) {
		const struct ip4_hdr *ip = pkt_l3(pkts[i]);
		const struct wire_info *p = &pkt_of(pkts[i])->wire;
		keys[i] = (struct flow_key4){
			ip->src, ip->dst, p->src_port, p->dst_port, 0, p->proto, 0};
	}
	flow_lookup4(w->flow, keys, n, &hits, index, side);
	act(w, pkts, n, false, keys, hits, index, side);
}

static void burst6(struct worker *w, struct rte_mbuf **pkts, unsigned n)
{
	struct flow_key6 keys[PKT_BURST];
	uint32_t index[PKT_BURST];
	uint8_t side[PKT_BURST];
	uint64_t hits;

	for (unsigned i = 0; i < n; i++) {
		const struct ip6_hdr *ip = pkt_l3(pkts[i]);
		const struct wire_info *p = &pkt_of(pkts[i])->wire;
		memcpy(keys[i].src, ip->src, 16);
		memcpy(keys[i].dst, ip->dst, 16);
		keys[i].src_port = p->src_port;
		keys[i].dst_port = p->dst_port;
		keys[i].domain = 0;
		keys[i].proto = p->proto;
		keys[i].zero = 0;
	}
	flow_lookup6(w->flow, keys, n, &hits, index, side);
	act(w, pkts, n, true, keys, hits, index, side);
}

static void input_burst(struct worker *w, struct rte_mbuf **pkts, unsigned n)
{
	struct rte_mbuf *v4[PKT_BURST], *v6[PKT_BURST];
	unsigned n4 = 0, n6 = 0;

	for (unsigned i = 0; i < n; i++) {
		struct rte_mbuf *m = pkts[i];
		if (!is_ours(w, m))
			continue;
		if (pkt_of(m)->wire.flags & WIRE_ICMP_ERROR)
			l4_icmp_error(w, m);
		else if (pkt_of(m)->wire.ip_version == 4)
			v4[n4++] = m;
		else
			v6[n6++] = m;
	}
	if (n4)
		burst4(w, v4, n4);
	if (n6)
		burst6(w, v6, n6);
}

void l4_input(struct worker *w, struct rte_mbuf **pkts, unsigned n)
{
	for (unsigned i = 0; i < n; i += PKT_BURST)
		input_burst(w, pkts + i, RTE_MIN(n - i, (unsigned)PKT_BURST));
}

int l4_worker_init(struct worker *w, const struct l4_config *config)
{
	struct l4_worker *l4 = aligned_alloc(64, (sizeof(*l4) + 63) & ~63ul);
	char name[16];

	if (l4 == NULL)
		return -ENOMEM;
	memset(l4, 0, sizeof(*l4));
	snprintf(name, sizeof(name), "flow%u", w->index);
	int rc = l4_retry_init(l4);
	if (rc == 0)
		rc = flow_worker_init(&l4->table, name, config->flows, config->flows6);
	if (rc < 0) {
		l4_retry_fini(l4);
		free(l4);
		return rc;
	}
	w->l4 = l4;
	w->flow = &l4->table;
	return 0;
}

void l4_worker_fini(struct worker *w)
{
	if (w->l4 == NULL)
		return;
	l4_retry_fini(w->l4);
	flow_worker_fini(&w->l4->table);
	free(w->l4);
	w->l4 = NULL;
	w->flow = NULL;
}

void l4_memory(const struct worker *w, uint64_t *flows, uint64_t *places, uint64_t *bytes)
{
	*flows = w->flow->used;
	*places = w->flow->places;
	*bytes = w->flow->bytes;
}
