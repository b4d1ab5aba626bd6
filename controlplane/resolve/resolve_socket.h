/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sockets of c-ares: ordinary ones that remember with which code a name server answered. c-ares goes on to
 * the next server when one answers SERVFAIL or refuses, and at the end only tells that there was no answer.
 */
#ifndef WEIR_RESOLVE_SOCKET_H
#define WEIR_RESOLVE_SOCKET_H

#include <ares.h>

/* rcode: where the code of each answer by UDP goes; it lives as long as the channel. */
void resolve_sockets(ares_channel channel, int *rcode);

#endif
