/* SPDX-License-Identifier: BSD-3-Clause */
/* net-snmp's session over a socket of ours, which sees refusals and is waited for by our event loop. */
#ifndef WEIR_NOTIFY_TRAP_SESSION_H
#define WEIR_NOTIFY_TRAP_SESSION_H

/* clang-format off: net-snmp's headers need each other in this order */
#include <net-snmp/net-snmp-config.h>
#include <net-snmp/net-snmp-includes.h>
/* clang-format on */
#include <jansson.h>

#include "notify/trap_engine.h"

/* Once. */
void trap_library_init(void);

/*
 * A session as the settings say, on a connected socket that it owns from then on. engine: the
 * authoritative one, of version 3; NULL: the other end, which is asked for its own with the first
 * message. NULL: *reason says why, and the socket is closed.
 */
struct session_list *trap_session_new(
	const json_t *settings, int fd, const struct trap_engine *engine, const char **reason);
void trap_session_free(struct session_list *s);

/* Takes in what came. 0 or -errno: refused. */
int trap_session_read(struct session_list *s);

#endif
