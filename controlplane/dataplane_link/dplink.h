/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weir-cp's side of the dataplane's control socket (api/message.h): connects again and again, keeps the
 * dataplane's snapshot and live state equal to ours, and carries questions. It holds no queue of changes:
 * it knows what is out of date and sends the values of the moment, so a slow dataplane costs no memory.
 */
#ifndef WEIR_DATAPLANE_LINK_DPLINK_H
#define WEIR_DATAPLANE_LINK_DPLINK_H

#include <event2/event.h>
#include <stdbool.h>

#include "api/counters.h"
#include "api/message.h"

#define DPLINK_SOCKET_NAME "dp.sock" /* within the run directory */
#define DPLINK_RETRY_MS 50	     /* between attempts to connect */
#define DPLINK_SILENCE_SECONDS 10 /* a request unanswered for so long: the connection is given up */
#define DPLINK_WAIT_MS 2000	  /* longest time that a commit waits for the dataplane */

struct dplink;

struct dplink_ops {
	/* HELLO came; says what to bring up to date by dplink_snapshot_changed and dplink_live_changed. */
	void (*connected)(void *ctx, const struct msg_hello *hello);
	void (*lost)(void *ctx);
	/* The snapshot of the moment: a sealed descriptor that the link closes, or -errno. */
	int (*snapshot)(void *ctx);
	/* Live row of the object, of the moment; false if it is gone or has none. */
	bool (*live)(void *ctx, uint32_t id, struct live_row *out);
	/* The dataplane took a snapshot (status 0), or refused it: the reason. */
	void (*snapshot_result)(void *ctx, int status, uint64_t generation, const char *reason);
	/* lost: how many events before this one never came. */
	void (*event)(void *ctx, const struct event_row *row, uint64_t lost);
};

/* Starts to connect to the socket at path. NULL: no memory. */
struct dplink *dplink_new(
	struct event_base *base, const char *path, const struct dplink_ops *ops, void *ctx);
void dplink_free(struct dplink *l);

/* The dataplane's greeting, or NULL while it is not connected. */
const struct msg_hello *dplink_hello(const struct dplink *l);

/* Its counters, read-only, or NULL. Valid until the loop turns. */
const struct counters *dplink_counters(const struct dplink *l);

/* Nothing is sent while not connected; connecting asks for everything anew. */
void dplink_snapshot_changed(struct dplink *l);
void dplink_live_changed(struct dplink *l, uint32_t id);

/*
 * Calls done once when all that has changed until now is in force. status: 0; -ENOTCONN, at once or when
 * the connection breaks; -ETIMEDOUT after DPLINK_WAIT_MS; -EINVAL: the snapshot was refused, reason says
 * why. May call done before it returns.
 */
typedef void (*dplink_done)(void *ctx, int status, const char *reason);
void dplink_wait(struct dplink *l, dplink_done done, void *ctx);

/* Forgets a wait: done will not be called. */
void dplink_wait_cancel(struct dplink *l, void *ctx);

/* A question: rows for each message that comes before the result; then done once, result NULL if the
 * connection broke (status -ENOTCONN). */
struct dplink_query_ops {
	void (*rows)(void *ctx, const struct msg_header *message);
	void (*done)(void *ctx, int status, const struct msg_result *result);
};

struct dplink_query;

/* Sends request (its seq is set here). NULL with errno set: ENOTCONN or ENOMEM; no callback then. */
struct dplink_query *dplink_query(struct dplink *l, const struct msg_header *request,
	const struct dplink_query_ops *ops, void *ctx);

/* No further callback. */
void dplink_query_cancel(struct dplink_query *q);

#endif
