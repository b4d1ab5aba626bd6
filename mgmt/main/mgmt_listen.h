/* SPDX-License-Identifier: BSD-3-Clause */
/* The addresses that weir-mgmt serves. */
#ifndef WEIR_MAIN_MGMT_LISTEN_H
#define WEIR_MAIN_MGMT_LISTEN_H

#include <event2/event.h>

#include "http/http_server.h"

struct mgmt_listen;

/* Listens on "ADDRESS:PORT" or "[ADDRESS]:PORT". NULL: said why. */
struct mgmt_listen *mgmt_listen_new(const char *address);

/* Accepts for the server from now on. 0 or -ENOMEM. */
int mgmt_listen_start(
	struct mgmt_listen *listener, struct event_base *base, struct http_server *server);

/* Goes on where descriptors had run out. */
void mgmt_listen_resume(struct mgmt_listen *listener);

void mgmt_listen_free(struct mgmt_listen *listener);

#endif
