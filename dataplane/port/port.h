/* SPDX-License-Identifier: BSD-3-Clause */
/* The DPDK ports: what each driver can do is known here and hidden from everybody above. */
#ifndef WEIR_PORT_PORT_H
#define WEIR_PORT_PORT_H

#include "core/worker.h"
#include "port/driver.h"

#define PORTS_MAX 16
#define PORT_NONE 0xff
#define PORT_FRAME_EXTRA 18 /* Ethernet header and one 802.1Q tag around an IP packet */
#define PORT_MTU_DEFAULT 1500

/* Fixed after start, but for up. */
struct port {
	char name[SNAP_NAME_MAX]; /* "1.1" */
	uint16_t dpdk;		  /* DPDK port id */
	uint8_t mac[6];
	uint16_t rx_queues, tx_queues;
	uint16_t mtu_max; /* largest IP packet the device takes */
	bool multi_segs;  /* takes chained mbufs; else they are joined before sending */
	bool tag_in_data; /* received tags are never in the mbuf alone */
	bool up;	  /* has a link; the control thread stores, workers load */
	char driver[24];
	char interface[16]; /* kernel interface, or "" */
};

/* --- set-up and control thread ---------------------------------------------------------------------- */

struct port_setup {
	struct rte_mempool *pool;
	unsigned workers;
	uint16_t mtu; /* of devices whose MTU can be set */
};

/* Bytes that a buffer of the pool must hold, so that all ports can receive IP packets of mtu bytes; less
 * if a driver does not take such buffers. */
unsigned port_frame_max(const struct port_config *config, unsigned count, uint16_t mtu);

/* Opens and starts all ports. 0, or -errno with a sentence in reason and nothing left open. */
int port_open(const struct port_config *config, unsigned count, const struct port_setup *setup,
	char *reason, size_t reason_size);
/* Stops and closes all ports. No worker may run. */
void port_close(void);

/* Asks the devices for their link state. True if one has changed. */
bool port_link_refresh(void);

/* Which queues are w's. 0 or -ENOMEM. */
int port_worker_init(struct worker *w);
void port_worker_fini(struct worker *w);

/* --- workers ---------------------------------------------------------------------------------------- */

unsigned port_count(void);
const struct port *port_at(unsigned index);
/* Index of the port called name, or PORT_NONE. */
uint8_t port_by_name(const char *name);

/* Receives from the worker's queues: fills pkt->port, puts the 802.1Q tag that the driver took out back
 * into the data. Returns how many packets (at most PKT_BURST). */
unsigned port_receive(struct worker *w, struct rte_mbuf **out);

/* Takes a finished frame for the port. Collected, sent by port_flush; frames for a queue that another
 * worker owns go there by ring, and come back in here on that worker (PKT_TRANSMIT). m may be chained. */
void port_send(struct worker *w, struct rte_mbuf *m, uint8_t port);

void port_flush(struct worker *w);

#endif
