/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port on a veth interface gets what its peer sends before any card would have finished it: segments
 * longer than the MTU, checksums not computed, tags beside the frame. The settings that avoid this are the
 * peer's, in whatever network namespace it is.
 */
#ifndef WEIR_PORT_OFFLOAD_H
#define WEIR_PORT_OFFLOAD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Looks for the veth peer of interface, in our namespace and in those that have a name (/run/netns). True
 * if it is found and sends unfinished frames: command then says how to change that. Takes privileges;
 * without them, or if the peer is hidden, false.
 */
bool offload_of_peer(const char *interface, char *command, size_t size);

#endif
