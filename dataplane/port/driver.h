/* SPDX-License-Identifier: BSD-3-Clause */
/* What each DPDK driver really delivers. Measured, see docs/architecture.md, section 5 "Ports". */
#ifndef WEIR_PORT_DRIVER_H
#define WEIR_PORT_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/snapshot.h"

#define PORT_DEVICE_MAX 256

struct port_driver {
	const char *name;    /* "net_af_xdp"; "pci" for all devices with a PCI address */
	bool interface;	     /* needs iface=: sits on a kernel interface */
	bool multi_segs;     /* sends chained mbufs right */
	bool tag_in_data;    /* a received tag stays in the data, whatever the mbuf says */
	bool set_mtu;	     /* the device, not a kernel interface, has an MTU to set */
	uint16_t queues_max; /* of each direction */
	uint16_t mtu_max;    /* bytes of an IP packet */
	uint16_t room_lost;  /* bytes of a buffer behind the headroom that the driver cannot fill */
	uint16_t room_max;   /* most bytes of a buffer behind the headroom; 0 = any */
	uint16_t descriptors; /* of each queue */
	const char *queues;   /* device argument that sets the number of queues, or NULL */
	const char *quiet; /* device argument that is 0 unless somebody says otherwise, or NULL */
};

/* A --port argument, taken apart. */
struct port_config {
	char name[SNAP_NAME_MAX]; /* "1.1" */
	const struct port_driver *driver;
	char interface[16];	      /* kernel interface, or "" */
	char device[PORT_DEVICE_MAX]; /* for DPDK: "net_af_xdp0,iface=eth1" or "0000:00:04.0" */
};

/* By name; the row of PCI devices for "pci". NULL if unknown. */
const struct port_driver *port_driver_find(const char *name);

/*
 * Parses NAME=DRIVER[,args] (NAME=PCI-ADDRESS[,args]). index makes device names unique, workers is how
 * many queues are of use. 0, or -EINVAL with a sentence in reason.
 */
int port_config_parse(const char *text, unsigned index, unsigned workers, struct port_config *out,
	char *reason, size_t reason_size);

#endif
