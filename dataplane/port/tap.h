/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel taps, one per VLAN, for the appliance's own traffic. The control thread reads and writes
 * them; workers exchange packets with it by rings. Packets carry an Ethernet header whose addresses mean
 * nothing: the dataplane resolves and routes (the tap is NOARP). weir-cp makes the taps (persistent, in
 * our network namespace); here they are opened without privileges, and may appear and go at any time.
 */
#ifndef WEIR_PORT_TAP_H
#define WEIR_PORT_TAP_H

#include "core/worker.h"

#define TAP_RING 1024u /* packets that wait in each direction, per worker */

/* --- workers ---------------------------------------------------------------------------------------- */

/* Gives an IP packet (l3 offset in pkt) to the kernel through the tap of VLAN row `vlan` of the view. */
void tap_send(struct worker *w, struct rte_mbuf *m, uint16_t vlan);

/* Takes up to max packets that the kernel sent; pkt->vlan is the tap's VLAN row, pkt->wire is parsed. */
unsigned tap_receive(struct worker *w, struct rte_mbuf **out, unsigned max);

/* --- control thread --------------------------------------------------------------------------------- */

/* Makes the rings. 0 or -errno. */
int tap_init(struct worker *const *workers, unsigned count);
/* Closes all taps, frees what waits. No worker may run. */
void tap_fini(void);

/* Readable when a tap is: then call tap_service. */
int tap_poll_fd(void);

/* A snapshot is in force: opens the taps it names, closes the others. -ENOMEM: some stay closed. */
int tap_update(const struct snap_header *snap);

/* Tries again to open taps that are missing. Call a few times a second. */
void tap_retry(void);

/* Moves packets both ways, a bounded number. True if there is more to move. */
bool tap_service(void);

#endif
