/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Server's side of the local socket: frames, peers, answers in parts. One thread, libevent; nothing here
 * blocks, and a client that stops reading costs no more than its buffers until it is cut off.
 */
#ifndef WEIR_IPC_SERVER_H
#define WEIR_IPC_SERVER_H

#include <event2/event.h>
#include <stdbool.h>
#include <sys/types.h>

#include "ipc/ipc.h"

#define IPC_CLIENTS_MAX 256u
#define IPC_ROWS_BYTES                                                                             \
	65536u /* a part of an answer is sent when its rows have about so many bytes */
#define IPC_WAITING_MAX 262144u /* no further rows are asked for while so many bytes wait */
#define IPC_STALL_SECONDS 60	/* a client that reads nothing for so long is cut off */

struct ipc_server;

/* One request being answered. Exactly one of ipc_reply, ipc_reply_error, ipc_stream ends it. */
struct ipc_request;

/* Who is at the other end, as the kernel says. */
struct ipc_peer {
	pid_t pid;
	uid_t uid;
	gid_t gid;
};

/* Strings may be NULL. code as in docs/local-api.md. more: further members of the error, owned, or NULL. */
struct ipc_error {
	int code;
	const char *kind, *object, *field, *reason, *file, *text;
	int line;
	json_t *more;
};

/* Called for each request; it may end the request at once or later. */
typedef void (*ipc_handler)(struct ipc_request *r, void *ctx);

/*
 * Listens on path (an old socket there is removed, mode 0600). NULL with errno set on failure: -EADDRINUSE
 * if somebody answers there. The process ignores SIGPIPE from then on.
 */
struct ipc_server *ipc_server_new(
	struct event_base *base, const char *path, ipc_handler handler, void *ctx);

/* Closes all connections; the requests in progress are told by their gone callbacks. NULL is accepted. */
void ipc_server_free(struct ipc_server *s);

const json_t *ipc_request_body(const struct ipc_request *r);
const struct ipc_peer *ipc_request_peer(const struct ipc_request *r);

/* Goes on with a request outside of the handler as if it were within it: r is valid until resume returns. */
void ipc_request_resume(
	struct ipc_request *r, void (*resume)(struct ipc_request *r, void *ctx), void *ctx);

/* Something of the handler's that goes with the request: release is called when the request ends. Once. */
void ipc_request_keep(struct ipc_request *r, void *kept, void (*release)(void *kept));
void *ipc_request_kept(const struct ipc_request *r); /* NULL: nothing */

/* gone(ctx) is called if the client vanishes before the end; r is invalid then. NULL takes it back. */
void ipc_request_on_gone(struct ipc_request *r, void (*gone)(void *ctx), void *ctx);

/* Ends with a result; takes over result. NULL counts as out of memory. */
void ipc_reply(struct ipc_request *r, json_t *result);
void ipc_reply_error(struct ipc_request *r, const struct ipc_error *error);

/* Adds a row to the answer; takes over row. Sent in parts. */
void ipc_row(struct ipc_request *r, json_t *row);

/*
 * An answer of any length. next is called whenever the client has room, and adds some rows; it returns
 * IPC_MORE, or IPC_WAIT until ipc_stream_resume, or IPC_END after it has ended the request itself with
 * ipc_reply or ipc_reply_error. free is called once, at the end or when the client is gone.
 */
enum ipc_step { IPC_MORE, IPC_WAIT, IPC_END };

struct ipc_stream {
	enum ipc_step (*next)(struct ipc_request *r, void *ctx);
	void (*free)(void *ctx);
};

void ipc_stream(struct ipc_request *r, const struct ipc_stream *stream, void *ctx);
void ipc_stream_resume(struct ipc_request *r);

#endif
