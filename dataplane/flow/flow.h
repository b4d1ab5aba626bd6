/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flow table of one worker: rte_hash without locks, used in bursts, two keys a flow (packets from
 * the client, packets from the server) that lead to one record. IPv4 and IPv6 have a hash each and share
 * the records. Only the owning worker touches any of it.
 */
#ifndef WEIR_FLOW_FLOW_H
#define WEIR_FLOW_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_hash.h>

#include "api/message.h"
#include "base/ipaddr.h"

#define FLOW_NONE UINT32_MAX

/* A packet's tuple as it comes in. Addresses and ports in network order. */
struct flow_key4 {
	uint32_t src, dst;
	uint16_t src_port, dst_port;
	uint16_t domain; /* route domain */
	uint8_t proto;
	uint8_t zero;
};

struct flow_key6 {
	uint8_t src[16], dst[16];
	uint16_t src_port, dst_port;
	uint16_t domain;
	uint8_t proto;
	uint8_t zero;
};

_Static_assert(
	sizeof(struct flow_key4) == 16 && sizeof(struct flow_key6) == 40, "keys have no holes");

enum flow_side { FLOW_CLIENT, FLOW_SERVER }; /* whence a packet comes */

enum flow_flag {
	FLOW_USED = 1,
	FLOW_IPV6 = 2,
	FLOW_RESET_ON_TIMEOUT = 4,
	FLOW_COUNTED = 8,     /* counts on virtual, member and node are still held */
	FLOW_FIN_CLIENT = 16, /* FIN seen from that side */
	FLOW_FIN_SERVER = 32,
	FLOW_TRANSLATED = 64, /* any address or port changes on the way */
	FLOW_LASTHOP = 128,   /* the client's next hop is where its packets came from */
};

enum flow_mark {
	FLOW_SILENT = 1,      /* its member went down and its pool says drop: nothing passes */
	FLOW_LOOSE_CLOSE = 2, /* the first FIN, from either side, closes */
	FLOW_FAILED = 4,      /* that its member did not take it has been told */
};

/* The part a packet touches: one cache line. [side] = of packets from that side. */
struct flow {
	uint32_t pos[2]; /* positions of the two keys; pos[0] links free records */
	uint32_t last;	 /* tick of the last packet */
	uint8_t state;	 /* enum flow_tcp_state */
	uint8_t flags;	 /* enum flow_flag */
	uint8_t proto;
	uint8_t marks;	     /* enum flow_mark; room: mirror bits */
	uint32_t nexthop[2]; /* where packets from that side leave by */
	uint16_t l3_delta[2],
		l4_delta[2]; /* checksum deltas (RFC 1624); l3 includes the TTL step */
	uint32_t seq[2];     /* TCP: number behind the last byte seen from that side */
	uint16_t packets[2]; /* not yet folded */
	uint32_t bytes[2];   /* not yet folded */
	uint16_t policy;     /* room: policy id */
	uint16_t kept;	     /* kept SYN (l4_retry.c): place + 1, or 0 */
	uint32_t virtual_id, member_id;
} __attribute__((aligned(64)));

/* What only the sweep and lists look at. */
struct flow_cold {
	uint64_t bytes[2];
	uint32_t packets[2];
	uint32_t start;	       /* s since weir-dp started */
	uint32_t idle_timeout; /* s, or SNAP_TIMEOUT_INDEFINITE */
};

_Static_assert(sizeof(struct flow) == 64 && sizeof(struct flow_cold) == 32, "a flow is 96 bytes");

/* Above these a packet folds at once, so that the short counts never wrap. */
#define FLOW_FOLD_PACKETS 0x8000u
#define FLOW_FOLD_BYTES 0x80000000u

struct flow_worker {
	struct rte_hash *hash4, *hash6;
	struct flow *flows;
	struct flow_cold *cold;
	uint32_t places; /* records */
	uint32_t high;	 /* records below this were ever used: the sweep stops here */
	uint32_t free;	 /* first free record below high, or FLOW_NONE */
	uint32_t used;
	uint32_t limit[2]; /* most flows: IPv4, IPv6 */
	uint32_t count[2];
	uint32_t
		deletions; /* changes whenever a record is freed: an index looked up before may be stale */
	struct flow_keys {
		char *first;   /* key at position 0 */
		size_t stride; /* bytes from one position to the next */
	} keys[2];	       /* the hashes' key stores: IPv4, IPv6 */
	uint64_t secret;       /* keys the bucket hash */
	size_t bytes;	       /* allocated, all in all */
};

/* Slots of an rte_hash whose 75 % hold two keys for each of `flows` flows: 2^n - 1. */
uint32_t flow_slots(uint32_t flows);

/* name must be unique in the process. 0 or -ENOMEM. */
int flow_worker_init(struct flow_worker *f, const char *name, uint32_t flows4, uint32_t flows6);
void flow_worker_fini(struct flow_worker *f);

static inline uint32_t flow_mix(uint64_t a, uint64_t b)
{
	__uint128_t m = (__uint128_t)a * b;
	uint64_t x = (uint64_t)m ^ (uint64_t)(m >> 64);
	return (uint32_t)(x ^ (x >> 32));
}

/* Bucket hashes: keyed multiplication, independent of the CRC that names owners. */
static inline uint32_t flow_hash4(const struct flow_worker *f, const struct flow_key4 *k)
{
	uint64_t a, b;
	memcpy(&a, k, 8);
	memcpy(&b, (const char *)k + 8, 8);
	return flow_mix(a ^ f->secret, b ^ 0x9e3779b97f4a7c15ull ^ (f->secret << 1));
}

static inline uint32_t flow_hash6(const struct flow_worker *f, const struct flow_key6 *k)
{
	uint64_t w[5];
	memcpy(w, k, sizeof(w));
	uint64_t x = flow_mix(w[0] ^ f->secret, w[1] ^ 0x9e3779b97f4a7c15ull);
	uint64_t y = flow_mix(w[2] ^ 0xc2b2ae3d27d4eb4full, w[3] ^ f->secret);
	return flow_mix(w[4] ^ (x << 32) ^ y, f->secret | 1);
}

/*
 * Looks up a burst (n <= 32). hits: bit i set = found, then index[i] is the record and side[i] says which
 * of its keys it was.
 */
void flow_lookup4(struct flow_worker *f, const struct flow_key4 *keys, unsigned n, uint64_t *hits,
	uint32_t *index, uint8_t *side);
void flow_lookup6(struct flow_worker *f, const struct flow_key6 *keys, unsigned n, uint64_t *hits,
	uint32_t *index, uint8_t *side);

/* True if the tuple is taken. */
bool flow_exists(struct flow_worker *f, bool ipv6, const void *key);

/*
 * Takes a record and enters both keys (struct flow_key4 or flow_key6). The record's index, with pos set,
 * FLOW_USED and FLOW_IPV6 as fit, all else zero; or -ENOSPC (table full), -EEXIST (a key is taken).
 */
int64_t flow_insert(
	struct flow_worker *f, bool ipv6, const void *client_key, const void *server_key);

/* Takes both keys out and frees the record. */
void flow_delete(struct flow_worker *f, uint32_t index);

/* The key of a side; valid until the flow is deleted. rte_hash_get_key_with_position would look the key up
 * again each time. */
static inline const void *flow_key(
	const struct flow_worker *f, const struct flow *flow, enum flow_side side)
{
	const struct flow_keys *k = &f->keys[(flow->flags & FLOW_IPV6) != 0];

	return k->first + flow->pos[side] * k->stride;
}

/* The two ends of a side's key in one form. Ports in host order. */
struct flow_tuple {
	struct ip_addr src, dst;
	uint16_t src_port, dst_port;
};

void flow_tuple(const struct flow_worker *f, const struct flow *flow, enum flow_side side,
	struct flow_tuple *out);

#endif
