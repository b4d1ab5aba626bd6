/* SPDX-License-Identifier: BSD-3-Clause */
/* The control thread: one epoll loop for control socket, kernel taps, events, signals. */
#ifndef WEIR_MAIN_CONTROL_H
#define WEIR_MAIN_CONTROL_H

#include "main/dataplane.h"
#include "main/peer.h"
#include "main/privileges.h"
#include "main/scan.h"

struct control {
	struct dataplane *dp;
	int epoll, listener, signals;
	char path[108]; /* of the control socket */
	struct peer peer;
	struct scans scans;
	uint64_t event_number; /* of the next row that is sent */
	bool event_gap;	       /* rows were lost since the last message */
	bool links_changed;    /* since weir-cp was told of them */
	uint64_t checked;      /* ns, links and missing taps */
};

/* Makes the socket (mode 0600, owner's). Signals must be blocked. 0 or -errno, logged. */
int control_init(struct control *c, struct dataplane *dp, const struct identity *owner);

/* Serves until SIGTERM or SIGINT. */
void control_run(struct control *c);

void control_fini(struct control *c);

/* Answers a request (request.c). 0, or -errno: the connection has ended. */
int request_serve(struct control *c, const struct peer_packet *packet);

/* What MSG_HELLO says now. */
int request_hello(struct control *c);

/* Publishes the schedules of pools that were marked (lb.h). */
void request_refresh(struct control *c);

#endif
