/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who starts snmpd. It reads nothing from any network and no file: snmpd's configuration comes whole from the
 * sub-agent and is written by a child that is snmpd's user already.
 */
#ifndef WEIR_SNMP_KEEPER_H
#define WEIR_SNMP_KEEPER_H

#include <sys/types.h>

#include "base/rights.h"

#define SNMP_PATH_MAX 100 /* bytes: a socket's has little more */

struct snmp_keeper {
	struct identity snmpd, agent;  /* users of the two */
	const char *program;	       /* snmpd */
	char directory[SNMP_PATH_MAX]; /* theirs, within the run directory */
	char conf[SNMP_PATH_MAX + 16], state[SNMP_PATH_MAX + 16], agentx[SNMP_PATH_MAX + 16];
	int link;     /* where configurations come from */
	pid_t worker; /* the sub-agent */
};

/* Names and makes the directory. 0 or -errno, logged. */
int snmp_keeper_init(struct snmp_keeper *k, const char *run_dir);

/* Until SIGTERM or SIGINT, or until the sub-agent ends. The exit status. */
int snmp_keeper_run(struct snmp_keeper *k);

#endif
