/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of dataplane_link/, by nobody else. */
#ifndef WEIR_DPLINK_INTERNAL_H
#define WEIR_DPLINK_INTERNAL_H

#include <sys/queue.h>

#include "dataplane_link/dplink.h"

/* A message that waits to be sent, or whose result has not come. */
struct dplink_query {
	TAILQ_ENTRY(dplink_query) entry;
	uint64_t seq, sent_ns;
	uint32_t type;
	uint64_t
		number; /* MSG_SNAPSHOT and MSG_LIVE: value of sync's wanted counter that it reaches */
	const struct dplink_query_ops *ops; /* NULL: cancelled, or one of our own */
	void *ctx;
	struct msg_header message[]; /* of a question, until it is sent */
};

TAILQ_HEAD(dplink_queries, dplink_query);

struct dplink_wait {
	TAILQ_ENTRY(dplink_wait) entry;
	uint64_t snapshot, live, deadline_ns;
	dplink_done done;
	void *ctx;
};

/*
 * Each change raises `wanted`; a message carries the value it brings the dataplane to; its result raises
 * `done`. A commit is in force when both have reached what was wanted when it was made.
 */
struct dplink_sync {
	uint64_t snapshot_wanted, snapshot_sent, snapshot_done;
	uint64_t live_wanted, live_sent, live_done;
	unsigned live_flying; /* messages without result */
	uint64_t refused;     /* value of snapshot_wanted that was refused last */
	char refused_reason[256];
	uint32_t *dirty; /* ids whose live row must be sent, each once */
	unsigned dirty_count, dirty_size;
	uint64_t *dirty_slots; /* bit per id slot: is in dirty */
	TAILQ_HEAD(, dplink_wait) waits;
};

struct dplink {
	struct event_base *base;
	const struct dplink_ops *ops;
	void *ctx;
	char *path;
	int fd;		 /* -1: not connected */
	bool ready;	 /* HELLO came */
	bool broken;	 /* to be closed as soon as the stack is unwound */
	bool complained; /* this outage has been logged */
	struct event *read, *write, *timer, *work; /* work: close or send, off the caller's stack */
	uint64_t seq, connected_ns;
	struct dplink_queries unsent, unanswered;
	struct msg_hello hello;
	struct counters counters;
	uint64_t next_event;  /* number of the event row that is expected; 0 = any */
	uint64_t events_lost; /* before the next row that is passed on */
	struct dplink_sync sync;
};

/* Sends a message with an optional descriptor. 0, -EAGAIN (try when writable), other -errno: broken. */
int dplink_send(struct dplink *l, struct msg_header *message, int fd, struct dplink_query *q);

int dplink_sync_init(struct dplink_sync *s);
void dplink_sync_fini(struct dplink_sync *s);
void dplink_sync_lost(struct dplink *l);
/* Sends what is out of date. 0, or -EAGAIN. */
int dplink_sync_pump(struct dplink *l);
void dplink_sync_result(struct dplink *l, const struct dplink_query *q, const struct msg_result *r);
void dplink_sync_expire(struct dplink *l, uint64_t now);
void dplink_pump(struct dplink *l);

#endif
