/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow/flow.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>

#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_prefetch.h>

#define FLOW_BURST 32

uint32_t flow_slots(uint32_t flows)
{
	uint64_t need = ((uint64_t)flows * 2 * 4 + 2) / 3;
	uint64_t slots = 1024;

	while (slots < need)
		slots <<= 1;
	return (uint32_t)(slots - 1);
}

/* rte_hash asks for one; we always pass the hash along. */
static uint32_t hash_unused(const void *key, uint32_t length, uint32_t seed)
{
	(void)key;
	(void)length;
	return seed;
}

static struct rte_hash *hash_new(const char *name, char kind, uint32_t flows, uint32_t key_length)
{
	char full[RTE_HASH_NAMESIZE];
	struct rte_hash_parameters p = {
		.name = full,
		.entries = flow_slots(flows),
		.key_len = key_length,
		.hash_func = hash_unused,
		.socket_id = SOCKET_ID_ANY,
		.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE,
	};

	snprintf(full, sizeof(full), "%s.%c", name, kind);
	return rte_hash_create(&p);
}

/* Records lie outside the DPDK heap: nobody does DMA to them, and the sanitizer watches them there. */
static void *records_new(size_t size)
{
#ifdef WEIR_SANITIZE
	return aligned_alloc(64, (size + 63) & ~(size_t)63);
#else
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	madvise(p, size, MADV_HUGEPAGE);
	return p;
#endif
}

static void records_free(void *p, size_t size)
{
	if (p == NULL)
		return;
#ifdef WEIR_SANITIZE
	(void)size;
	free(p);
#else
	munmap(p, size);
#endif
}

/* Learns where a hash keeps its keys; false if they do not lie in a row. */
static bool keys_find(const struct rte_hash *hash, struct flow_keys *k)
{
	void *key[3];

	/* The positions are empty yet: only the address counts, not what is found there. */
	for (int32_t i = 0; i < 3; i++)
		rte_hash_get_key_with_position(hash, i, &key[i]);
	k->first = key[0];
	k->stride = (size_t)((char *)key[1] - (char *)key[0]);
	return (char *)key[2] == k->first + 2 * k->stride;
}

int flow_worker_init(struct flow_worker *f, const char *name, uint32_t flows4, uint32_t flows6)
{
	struct rte_malloc_socket_stats before, after;
	uint32_t places = flows4 + flows6;

	memset(f, 0, sizeof(*f));
	if (getrandom(&f->secret, sizeof(f->secret), 0) != sizeof(f->secret))
		return -EIO;
	f->secret |= 1;
	rte_malloc_get_socket_stats(0, &before);
	f->hash4 = hash_new(name, '4', flows4, sizeof(struct flow_key4));
	f->hash6 = hash_new(name, '6', flows6, sizeof(struct flow_key6));
	rte_malloc_get_socket_stats(0, &after);
	f->flows = records_new((size_t)places * sizeof(struct flow));
	f->cold = records_new((size_t)places * sizeof(struct flow_cold));
	f->places = places;
	f->free = FLOW_NONE;
	f->limit[0] = flows4;
	f->limit[1] = flows6;
	if (f->hash4 == NULL || f->hash6 == NULL || f->flows == NULL || f->cold == NULL ||
		!keys_find(f->hash4, &f->keys[0]) || !keys_find(f->hash6, &f->keys[1])) {
		flow_worker_fini(f);
		return -ENOMEM;
	}
	f->bytes = after.heap_allocsz_bytes - before.heap_allocsz_bytes +
		   (size_t)places * (sizeof(struct flow) + sizeof(struct flow_cold));
	return 0;
}

void flow_worker_fini(struct flow_worker *f)
{
	rte_hash_free(f->hash4);
	rte_hash_free(f->hash6);
	records_free(f->flows, (size_t)f->places * sizeof(struct flow));
	records_free(f->cold, (size_t)f->places * sizeof(struct flow_cold));
	memset(f, 0, sizeof(*f));
}

/* What the hash keeps for a key: the record and the side, never 0. */
static inline void *data_of(uint32_t index, enum flow_side side)
{
	return (void *)(((uintptr_t)index << 1 | side) + 2);
}

static inline void data_split(const void *data, uint32_t *index, uint8_t *side)
{
	uintptr_t v = (uintptr_t)data - 2;
	*index = (uint32_t)(v >> 1);
	*side = v & 1;
}

static void lookup(struct flow_worker *f, const struct rte_hash *hash, const void **keys,
	hash_sig_t *sigs, unsigned n, uint64_t *hits, uint32_t *index, uint8_t *side)
{
	void *data[FLOW_BURST];

	*hits = 0;
	rte_hash_lookup_with_hash_bulk_data(hash, keys, sigs, n, hits, data);
	for (unsigned i = 0; i < n; i++) {
		if (!(*hits & (1ull << i)))
			continue;
		data_split(data[i], &index[i], &side[i]);
		rte_prefetch0(&f->flows[index[i]]);
	}
}

void flow_lookup4(struct flow_worker *f, const struct flow_key4 *keys, unsigned n, uint64_t *hits,
	uint32_t *index, uint8_t *side)
{
	const void *p[FLOW_BURST];
	hash_sig_t sigs[FLOW_BURST];

	for (unsigned i = 0; i < n; i++) {
		p[i] = &keys[i];
		sigs[i] = flow_hash4(f, &keys[i]);
	}
	lookup(f, f->hash4, p, sigs, n, hits, index, side);
}

void flow_lookup6(struct flow_worker *f, const struct flow_key6 *keys, unsigned n, uint64_t *hits,
	uint32_t *index, uint8_t *side)
{
	const void *p[FLOW_BURST];
	hash_sig_t sigs[FLOW_BURST];

	for (unsigned i = 0; i < n; i++) {
		p[i] = &keys[i];
		sigs[i] = flow_hash6(f, &keys[i]);
	}
	lookup(f, f->hash6, p, sigs, n, hits, index, side);
}

static inline uint32_t key_hash(const struct flow_worker *f, bool ipv6, const void *key)
{
	return ipv6 ? flow_hash6(f, key) : flow_hash4(f, key);
}

bool flow_exists(struct flow_worker *f, bool ipv6, const void *key)
{
	return rte_hash_lookup_with_hash(ipv6 ? f->hash6 : f->hash4, key, key_hash(f, ipv6, key)) >=
	       0;
}

static uint32_t record_take(struct flow_worker *f)
{
	uint32_t index = f->free;

	if (index != FLOW_NONE)
		f->free = f->flows[index].pos[0];
	else
		index = f->high++;
	return index;
}

static void record_give(struct flow_worker *f, uint32_t index)
{
	f->flows[index].flags = 0;
	f->flows[index].pos[0] = f->free;
	f->free = index;
}

/* Position of a key just entered, or a negative errno. */
static int32_t key_enter(struct rte_hash *hash, const void *key, uint32_t sig, void *data)
{
	int rc = rte_hash_add_key_with_hash_data(hash, key, sig, data);
	return rc < 0 ? rc : rte_hash_lookup_with_hash(hash, key, sig);
}

/* Brings buckets and key slots into the cache: adds and deletes are two to four times cheaper then. */
static bool keys_taken(
	const struct rte_hash *hash, const void *client, const void *server, hash_sig_t *sigs)
{
	const void *keys[2] = {client, server};
	void *data[2];
	uint64_t hits = 0;

	rte_hash_lookup_with_hash_bulk_data(hash, keys, sigs, 2, &hits, data);
	return hits != 0;
}

int64_t flow_insert(
	struct flow_worker *f, bool ipv6, const void *client_key, const void *server_key)
{
	struct rte_hash *hash = ipv6 ? f->hash6 : f->hash4;
	hash_sig_t sigs[2] = {key_hash(f, ipv6, client_key), key_hash(f, ipv6, server_key)};

	if (f->count[ipv6] >= f->limit[ipv6])
		return -ENOSPC;
	/* A tuple that is its own reply (source = destination) cannot be a flow. */
	if (!memcmp(client_key, server_key,
		    hash == f->hash6 ? sizeof(struct flow_key6) : sizeof(struct flow_key4)))
		return -EEXIST;
	if (keys_taken(hash, client_key, server_key, sigs))
		return -EEXIST;
	uint32_t index = record_take(f);
	int32_t client = key_enter(hash, client_key, sigs[0], data_of(index, FLOW_CLIENT));
	int32_t server =
		client < 0 ? client
			   : key_enter(hash, server_key, sigs[1], data_of(index, FLOW_SERVER));
	if (server < 0) {
		if (client >= 0)
			rte_hash_del_key_with_hash(hash, client_key, sigs[0]);
		record_give(f, index);
		return -ENOSPC;
	}
	struct flow *flow = &f->flows[index];
	memset(flow, 0, sizeof(*flow));
	memset(&f->cold[index], 0, sizeof(f->cold[index]));
	flow->pos[FLOW_CLIENT] = (uint32_t)client;
	flow->pos[FLOW_SERVER] = (uint32_t)server;
	flow->flags = FLOW_USED | (ipv6 ? FLOW_IPV6 : 0);
	f->count[ipv6]++;
	f->used++;
	return index;
}

void flow_delete(struct flow_worker *f, uint32_t index)
{
	struct flow *flow = &f->flows[index];
	bool ipv6 = flow->flags & FLOW_IPV6;
	struct rte_hash *hash = ipv6 ? f->hash6 : f->hash4;
	const void *client = flow_key(f, flow, FLOW_CLIENT),
		   *server = flow_key(f, flow, FLOW_SERVER);
	hash_sig_t sigs[2] = {key_hash(f, ipv6, client), key_hash(f, ipv6, server)};

	keys_taken(hash, client, server, sigs);
	rte_hash_del_key_with_hash(hash, client, sigs[0]);
	rte_hash_del_key_with_hash(hash, server, sigs[1]);
	record_give(f, index);
	f->deletions++;
	f->count[ipv6]--;
	f->used--;
}

void flow_tuple(const struct flow_worker *f, const struct flow *flow, enum flow_side side,
	struct flow_tuple *out)
{
	const void *key = flow_key(f, flow, side);

	if (flow->flags & FLOW_IPV6) {
		const struct flow_key6 *k = key;
		memcpy(&out->src, k->src, 16);
		memcpy(&out->dst, k->dst, 16);
		out->src_port = be16toh(k->src_port);
		out->dst_port = be16toh(k->dst_port);
	} else {
		const struct flow_key4 *k = key;
		out->src = ip_addr_v4(k->src);
		out->dst = ip_addr_v4(k->dst);
		out->src_port = be16toh(k->src_port);
		out->dst_port = be16toh(k->dst_port);
	}
}
