/* SPDX-License-Identifier: BSD-3-Clause */
/* One connection of the control socket: packets in with their descriptors, packets out through a queue. */
#ifndef WEIR_MAIN_PEER_H
#define WEIR_MAIN_PEER_H

#include <stdbool.h>
#include <stddef.h>

#include "api/message.h"

#define PEER_QUEUE 64 /* messages that wait for the peer to read */

struct peer {
	int fd; /* non-blocking; -1 = no connection */
	void *queue[PEER_QUEUE];
	size_t length[PEER_QUEUE];
	unsigned head, count;
};

struct peer_packet {
	uint8_t bytes[MSG_LENGTH_MAX + 1] __attribute__((aligned(8)));
	size_t length;
	int fd;		      /* first descriptor, or -1; the receiver closes it */
	unsigned descriptors; /* how many came; all but the first have been closed */
};

void peer_init(struct peer *p);
/* Takes fd as the connection, closing the former one and forgetting its queue. */
void peer_attach(struct peer *p, int fd);
void peer_detach(struct peer *p);

/* 1: one packet in *out; 0: nothing there; -errno: the connection has ended. */
int peer_receive(struct peer *p, struct peer_packet *out);

/* Sends or queues; fd (or -1) travels only with a message that can be sent at once. 0, -ENOBUFS if the
 * queue is full, else -errno: the connection has ended. */
int peer_send(struct peer *p, const void *message, size_t length, int fd);

/* Sends what waits. 0, or -errno: the connection has ended. */
int peer_flush(struct peer *p);

static inline bool peer_waiting(const struct peer *p)
{
	return p->count > 0;
}

#endif
