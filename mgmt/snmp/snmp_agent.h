/* SPDX-License-Identifier: BSD-3-Clause */
/* The AgentX side: answers snmpd until it is told to stop. */
#ifndef WEIR_SNMP_AGENT_H
#define WEIR_SNMP_AGENT_H

/* socket: snmpd's for AgentX. Returns after SIGTERM or SIGINT. 0 or -errno. */
int snmp_agent_run(const char *socket);

#endif
