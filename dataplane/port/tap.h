/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel taps, one per VLAN, for the appliance's own traffic. The control thread reads and writes
 * them; workers exchange packets with it by rings. Packets carry an Ethernet header whose addresses mean
 * nothing: the dataplane resolves and routes (the tap is NOARP).
 */
#ifndef WEIR_PORT_TAP_H
#define WEIR_PORT_TAP_H

#include "core/worker.h"

/* Gives an IP packet (l3 offset in pkt) to the kernel through the tap of VLAN row `vlan` of the view. */
void tap_send(struct worker *w, struct rte_mbuf *m, uint16_t vlan);

/* Takes up to max packets that the kernel sent; pkt->vlan is the tap's VLAN row, pkt->wire is parsed. */
unsigned tap_receive(struct worker *w, struct rte_mbuf **out, unsigned max);

#endif
