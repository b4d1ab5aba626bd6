/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of weir-dp. */
#ifndef WEIR_MAIN_OPTIONS_H
#define WEIR_MAIN_OPTIONS_H

#include "core/worker.h"
#include "port/port.h"

struct options {
	const char *run_dir;
	const char *user; /* NULL = stay */
	enum worker_idle idle;
	unsigned workers;
	uint32_t flows, flows6; /* most flows per worker, IPv4 and IPv6 */
	uint16_t mtu;
	unsigned mbufs;	 /* packet buffers; 0 = by ports and workers */
	unsigned memory; /* MB of DPDK heap; 0 = by flows and buffers */
	bool huge;	 /* hugepages */
	bool verbose;
	unsigned ports;
	struct port_config port[PORTS_MAX];
};

enum options_verdict { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_BAD };

/* Fills *out. OPTIONS_HELP: the usage has been printed; OPTIONS_BAD: the fault has been logged. */
enum options_verdict options_parse(int argc, char **argv, struct options *out);

#endif
