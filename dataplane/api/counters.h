/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counter file: a memory file that weir-dp writes and everybody else maps read-only (descriptor in
 * MSG_HELLO). Sections, each 64-byte aligned at the offset in the header:
 *   worker  [workers][WORKER_COUNTERS]          counters of a worker
 *   drop    [workers][DROP_REASONS]             packets dropped, by reason
 * (rows of these two are padded to whole cache lines, so that workers share none)
 *   shared  [slots]                             struct counter_shared, one line of atomics per object
 *   object  [slots][workers][OBJECT_COUNTERS]   counters of an object (base/ids.h: id_slot)
 * A counter is written by one worker and only grows; readers sum the workers. 64-bit, never reset: a
 * "reset-stats" is a base line that the reader keeps.
 */
#ifndef WEIR_API_COUNTERS_H
#define WEIR_API_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#define COUNTERS_MAGIC 0x57454952434e5452ull
#define COUNTERS_VERSION 1u

enum object_counter {
	OBJECT_CLIENT_PACKETS_IN,
	OBJECT_CLIENT_BYTES_IN,
	OBJECT_CLIENT_PACKETS_OUT,
	OBJECT_CLIENT_BYTES_OUT,
	OBJECT_CONNECTIONS, /* opened, total */
	OBJECT_REFUSED,	    /* turned away: limit, no member, table full, ports exhausted */
	OBJECT_RESETS,	    /* RST sent by the dataplane for its flows */
	OBJECT_TIMEOUTS,    /* flows that idled out */
	OBJECT_COUNTERS = 8
};

/* One cache line per object: all that workers share about it, touched once per new flow and at its end. */
struct counter_shared {
	uint32_t id;	  /* whose line this is; written by the control thread */
	uint32_t limit;	  /* connection limit, 0 = none; control thread writes, workers read */
	uint32_t current; /* connections now; workers, atomic add and compare-and-swap */
	uint32_t maximum; /* highest current seen; workers, atomic maximum */
	uint64_t cursor;  /* next ticket of the schedule (pools); workers, fetch_add */
	uint64_t
		rate_window; /* second of the rate limit (high 32 bits) and count in it; workers, CAS */
	uint32_t
		parent; /* a member's node (id), else ID_NONE; control thread writes, workers read */
	uint32_t
		rate_limit; /* new connections per second, 0 = none; control thread writes, workers read */
	uint16_t ratio, dynamic_ratio; /* control thread writes, workers read */
	uint8_t avail; /* LIVE_* of api/message.h; control thread writes, workers read */
	uint8_t ramp; /* slow ramp: share of its weight in 32nds, 0 = all; control thread writes, workers read */
	uint8_t reserved[2];
	uint32_t
		ramp_since; /* s (CLOCK_MONOTONIC) when the member came up, 0 = no ramp; control thread's own */
	uint8_t reserved2[12];
} __attribute__((aligned(64)));

#define WORKER_COUNTER_LIST(X)                                                                     \
	X(RX_PACKETS, "rx-packets")                                                                \
	X(RX_BYTES, "rx-bytes")                                                                    \
	X(TX_PACKETS, "tx-packets")                                                                \
	X(TX_BYTES, "tx-bytes")                                                                    \
	X(HANDED_OVER, "handed-over")                                                              \
	X(HANDED_IN, "handed-in")                                                                  \
	X(TURNS, "turns")                                                                          \
	X(SLEEPS, "sleeps")                                                                        \
	X(CPU_NS, "cpu-ns")                                                                        \
	X(FLOWS_CREATED, "flows-created")                                                          \
	X(FLOWS_DELETED, "flows-deleted")                                                          \
	X(FLOWS_EXPIRED, "flows-expired")                                                          \
	X(FLOWS_EVICTED, "flows-evicted")                                                          \
	X(RESETS_SENT, "resets-sent")                                                              \
	X(ICMP_SENT, "icmp-sent")                                                                  \
	X(ICMP_TRANSLATED, "icmp-translated")                                                      \
	X(ARP_SENT, "arp-sent")                                                                    \
	X(TAP_TO_KERNEL, "tap-to-kernel")                                                          \
	X(TAP_FROM_KERNEL, "tap-from-kernel")                                                      \
	X(FRAGMENTS, "fragments")                                                                  \
	X(FRAGMENTED, "fragmented")                                                                \
	X(EVENTS, "events")

#define DROP_REASON_LIST(X)                                                                        \
	X(TRUNCATED, "truncated") /* shorter than its headers say */                               \
	X(BAD_VERSION, "bad-ip-version")                                                           \
	X(BAD_HEADER_LENGTH, "bad-header-length")                                                  \
	X(BAD_TOTAL_LENGTH, "bad-total-length")                                                    \
	X(BAD_HEADER_CHECKSUM, "bad-ip-checksum")                                                  \
	X(TOO_MANY_EXTENSIONS, "too-many-extension-headers")                                       \
	X(BAD_L4_HEADER, "bad-l4-header")                                                          \
	X(UNKNOWN_ETHERTYPE, "unknown-ethertype")                                                  \
	X(UNKNOWN_VLAN, "unknown-vlan")                                                            \
	X(NOT_FOR_US, "not-our-mac")                                                               \
	X(MARTIAN, "martian")                                                                      \
	X(TTL, "ttl-exceeded")                                                                     \
	X(BAD_ARP, "bad-arp")                                                                      \
	X(BAD_NDP, "bad-ndp")                                                                      \
	X(BAD_ICMP, "bad-icmp")                                                                    \
	X(ICMP_NO_FLOW, "icmp-error-without-flow")                                                 \
	X(NO_SNAPSHOT, "not-configured")                                                           \
	X(NO_LISTENER, "no-listener")                                                              \
	X(NO_FLOW, "tcp-without-flow")                                                             \
	X(NO_ROUTE, "no-route")                                                                    \
	X(NO_NEIGHBOUR, "neighbour-unresolved")                                                    \
	X(NEIGHBOUR_QUEUE_FULL, "neighbour-queue-full")                                            \
	X(NO_MEMBER, "no-member-available")                                                        \
	X(VIRTUAL_DISABLED, "virtual-disabled")                                                    \
	X(CONNECTION_LIMIT, "connection-limit")                                                    \
	X(RATE_LIMIT, "rate-limit")                                                                \
	X(FLOW_TABLE_FULL, "flow-table-full")                                                      \
	X(PORTS_EXHAUSTED, "snat-ports-exhausted")                                                 \
	X(NO_SNAT_ADDRESS, "no-snat-address")                                                      \
	X(REJECTED, "rejected")                                                                    \
	X(SERVICE_NOT_ALLOWED, "self-ip-service-not-allowed")                                      \
	X(FRAGMENT_TABLE_FULL, "fragment-table-full")                                              \
	X(FRAGMENT_TIMEOUT, "fragment-timeout")                                                    \
	X(FRAGMENT_BAD, "bad-fragment")                                                            \
	X(TOO_BIG, "too-big")                                                                      \
	X(HANDOVER_FULL, "hand-over-ring-full")                                                    \
	X(TAP_FULL, "tap-ring-full")                                                               \
	X(TX_FULL, "transmit-full")                                                                \
	X(TX_NO_PORT, "port-down")                                                                 \
	X(NO_MEMORY, "no-memory")                                                                  \
	X(RATE_LIMITED_ICMP, "icmp-rate-limited")                                                  \
	X(MEMBER_DOWN, "member-down")                                                              \
	X(DELETED, "queued-for-deleted-object")

enum worker_counter {
#define X(name, text) WORKER_##name,
	WORKER_COUNTER_LIST(X)
#undef X
		WORKER_COUNTERS
};

enum drop_reason {
#define X(name, text) DROP_##name,
	DROP_REASON_LIST(X)
#undef X
		DROP_REASONS
};

struct counters_header {
	uint64_t magic;
	uint32_t version;
	uint32_t workers;
	uint32_t slots;
	uint32_t worker_counters, drop_reasons, object_counters;
	uint64_t worker_offset, drop_offset, shared_offset,
		object_offset; /* bytes from the start */
	uint64_t length;
};

/* A reader's or the writer's map of a counter file. */
struct counters {
	struct counters_header *header;
	uint64_t *worker, *drop, *object;
	struct counter_shared *shared;
};

/* Names of the text columns, also used by SNMP and Prometheus. */
extern const char *const worker_counter_name[WORKER_COUNTERS];
extern const char *const drop_reason_name[DROP_REASONS];

/*
 * Makes the file (memfd, sealed against resizing and against further writers) for writing. Pages are
 * allocated when first touched, so slots may be ID_SLOTS_MAX. The descriptor, or -errno.
 */
int counters_create(unsigned workers, unsigned slots, struct counters *out);

/* Maps a file received from weir-dp, read-only, and checks it. 0 or -errno. */
int counters_map(int fd, struct counters *out);

void counters_unmap(struct counters *c);

/* Words that a row of n counters takes. */
#define COUNTERS_STRIDE(n) (((size_t)(n) + 7) / 8 * 8)

static inline uint64_t *counters_worker(const struct counters *c, unsigned worker)
{
	return c->worker + (size_t)worker * COUNTERS_STRIDE(WORKER_COUNTERS);
}

static inline uint64_t *counters_drop(const struct counters *c, unsigned worker)
{
	return c->drop + (size_t)worker * COUNTERS_STRIDE(DROP_REASONS);
}

static inline uint64_t *counters_object(const struct counters *c, unsigned slot, unsigned worker)
{
	return c->object + ((size_t)slot * c->header->workers + worker) * OBJECT_COUNTERS;
}

/* Sums over all workers; 0 for a slot outside the file. */
uint64_t counters_object_sum(const struct counters *c, unsigned slot, enum object_counter which);
uint64_t counters_worker_sum(const struct counters *c, enum worker_counter which);
uint64_t counters_drop_sum(const struct counters *c, enum drop_reason which);

#endif
