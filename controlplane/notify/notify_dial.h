/* SPDX-License-Identifier: BSD-3-Clause */
/* A socket towards a host that the settings name; a name is looked up without waiting. */
#ifndef WEIR_NOTIFY_NOTIFY_DIAL_H
#define WEIR_NOTIFY_NOTIFY_DIAL_H

#include <event2/event.h>
#include <stdint.h>

struct notify_dial;

/* fd: connected, or (streams) on its way, non-blocking, the callee's; -1: reason says why. */
typedef void (*notify_dialled)(void *ctx, int fd, const char *reason);

/*
 * local may be NULL or "". dialled is called once, never before this returns, unless notify_dial_stop comes first. NULL:
 * no memory.
 */
struct notify_dial *notify_dial(struct event_base *base, const char *host, uint16_t port,
	const char *local, int type, notify_dialled dialled, void *ctx);
void notify_dial_stop(struct notify_dial *d);

/* At the end: of the resolver. */
void notify_dial_fini(void);

#endif
