/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's side of the VLANs: a persistent tap per VLAN with its self IPs, and the static routes, so
 * that the appliance's own sockets work. The dataplane opens the taps without privileges
 * (docs/architecture.md, section 5). Needs CAP_NET_ADMIN, nothing else.
 */
#ifndef WEIR_KERNEL_KERNEL_H
#define WEIR_KERNEL_KERNEL_H

#include <sys/types.h>

#include "model/model.h"

struct kernel;

/* owner: the user that weir-dp runs as; it may open the taps. 0, or -errno. */
int kernel_new(uid_t owner, struct kernel **out);
void kernel_free(struct kernel *k); /* taps, addresses and routes stay */

/*
 * Makes taps, addresses and routes what the model says; whatever is right already is not touched. Taps of
 * former VLANs stay until kernel_tidy, since the dataplane may have them open. 0, or -errno with the first
 * fault as a sentence; the rest is done nevertheless.
 */
int kernel_apply(struct kernel *k, const struct model *m, char *fault, size_t size);

/* Removes the taps of VLANs that are gone. Costs nothing if the last kernel_apply met none. */
void kernel_tidy(struct kernel *k);

/*
 * Transparent monitors: packets with the mark of a server go through it, wherever they go. Counted: as many puts as
 * gets. -ENETUNREACH: it lies in no network of a self IP (kernel_apply tries again, and until then such packets are
 * refused); -EAFNOSUPPORT: IPv6.
 */
int kernel_mark_get(struct kernel *k, const struct ip_addr *via);
void kernel_mark_put(struct kernel *k, const struct ip_addr *via);

/* Always the same for a server, over restarts too; 0: it can have none. */
uint32_t kernel_mark_of(const struct ip_addr *via);

/* Takes away what another process of ours left behind. Call it when all that is needed has been got. */
void kernel_mark_tidy(struct kernel *k);

/*
 * Keeps the kernel's own connections off the ports that automap uses on the self IPs: ephemeral ports are
 * 49152-65535. Only within a network namespace of our own; the host's is the business of its image.
 * 1: set, 0: left alone, or -errno.
 */
int kernel_ports_reserve(void);

#endif
