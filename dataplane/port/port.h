/* SPDX-License-Identifier: BSD-3-Clause */
/* The DPDK ports: what each driver can do is known here and hidden from everybody above. */
#ifndef WEIR_PORT_PORT_H
#define WEIR_PORT_PORT_H

#include "core/worker.h"

#define PORTS_MAX 16
#define PORT_NONE 0xff

/* Fixed after start. */
struct port {
	char name[SNAP_NAME_MAX]; /* "1.1" */
	uint16_t dpdk;		  /* DPDK port id */
	uint8_t mac[6];
	uint16_t rx_queues, tx_queues;
	uint16_t mtu_max; /* largest IP packet the device takes */
	bool multi_segs;  /* takes chained mbufs; else they are joined before sending */
	char driver[24];
};

unsigned port_count(void);
const struct port *port_at(unsigned index);
/* Index of the port called name, or PORT_NONE. */
uint8_t port_by_name(const char *name);

/* Receives from the worker's queues: fills pkt->port, puts the 802.1Q tag that the driver took out back
 * into the data. Returns how many packets (at most PKT_BURST). */
unsigned port_receive(struct worker *w, struct rte_mbuf **out);

/* Takes a finished frame for the port. Collected, sent by port_flush; frames for a queue that another
 * worker owns go there by ring. m may be chained. */
void port_send(struct worker *w, struct rte_mbuf *m, uint8_t port);

void port_flush(struct worker *w);

#endif
