/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thread that asks weir-cp, so that no answer waits for it: pictures of its states while somebody polls, and
 * settings when they change.
 */
#ifndef WEIR_SNMP_FETCH_H
#define WEIR_SNMP_FETCH_H

#include "snmp/snmp_data.h"

#define SNMP_SOCKET_NAME "snmp.sock" /* weir-cp's, within the run directory */

struct snmp_fetch_options {
	const char *run_dir;
	const char *addresses; /* while agent-addresses has its default */
	const char *agentx;    /* socket, for snmpd's configuration */
	int keeper; /* where that configuration goes: length in network order, then the text */
};

/* Starts the thread. 0 or -errno. o stays the caller's, and valid. */
int snmp_fetch_start(const struct snmp_fetch_options *o);
void snmp_fetch_stop(void);

/* snmpd has us, or no more: weir-cp is told. */
void snmp_fetch_serving(bool serving);

/* The newest picture, a few seconds old; snmp_fetch_put gives it back. Waits only where there is none. */
const struct snmp_data *snmp_fetch_get(void);
void snmp_fetch_put(const struct snmp_data *d);

#endif
