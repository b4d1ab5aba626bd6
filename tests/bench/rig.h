/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker on ports of memory: the real packet path from port_receive to port_flush, driven by hand. Two
 * ports: 0 towards clients (VLAN row 0, through one router), 1 towards servers (VLAN row 1).
 */
#ifndef WEIR_BENCH_RIG_H
#define WEIR_BENCH_RIG_H

#include "api/test_snapshot.h"
#include "core/worker.h"
#include "l4/l4.h"

#define RIG_BATCH 1024u /* packets between generation and look at the output */
#define RIG_MEMBERS 8u
#define RIG_VIRTUAL_PORT 80u

struct rig {
	struct worker *w;
	struct counters counters;
	uint64_t generation;
	uint64_t start; /* ns */
	struct view view;
	struct rte_mbuf *in[RIG_BATCH];
	uint8_t in_port[RIG_BATCH];
	unsigned in_count, in_next;
	struct rte_mbuf *out[4 * RIG_BATCH];
	unsigned out_count;
	uint64_t out_total;
};

extern struct rig rig;

/* One worker with tables for that many flows; EAL on `hugepages` or ordinary ones. */
void rig_init(uint32_t flows, bool hugepages);

/* Builds and takes a view anew, as a commit would; the pool has the first `members` of RIG_MEMBERS. */
void rig_commit(uint32_t members, enum snap_lb lb);

/* A flow's client: address and port by number. */
void rig_client(uint32_t flow, uint32_t *addr, uint16_t *port);

/* The address the servers of member rows have. */
uint32_t rig_server(uint32_t member);

/* Adds a TCP segment to the batch; from the client, or from the server of that member. */
void rig_client_segment(uint32_t flow, uint8_t flags, uint32_t seq, uint32_t ack);
void rig_server_segment(uint32_t flow, uint32_t member, uint8_t flags, uint32_t seq, uint32_t ack);

/* Runs the batch through the worker; returns its CPU time in ns. The output stays in rig.out. */
uint64_t rig_run(void);
/* The same, but receive and send only: the floor. */
uint64_t rig_run_floor(void);

/* Frees the output. */
void rig_clear(void);

/* Member row that the packet in rig.out went to or came from, after its headers and checksums have been
 * verified in full; aborts on a wrong one. from_client: it came out of port 1. */
uint32_t rig_verify(unsigned out, bool from_client, uint32_t flow);

/* Establishes flows [first, first + n): SYN, SYN ACK, ACK. member[] gets each one's member row. */
void rig_establish(uint32_t first, uint32_t n, uint8_t *member);

/* xorshift, seeded the same in every run. */
uint32_t rig_random(void);

/* Involuntary context switches of this process so far. */
long rig_switches(void);

/* The most flows whose keys fill at most 75 % of the slots that `flows` need. */
uint32_t rig_places(uint32_t flows);

/* Arguments [--hugepages] [FLOWS...]: runs bench for each number, in a process of its own. */
int rig_main(
	int argc, char **argv, const char *defaults, void (*bench)(uint32_t flows, bool hugepages));

/* Sorts and takes the middle one. */
double rig_median(double *values, unsigned n);

#endif
