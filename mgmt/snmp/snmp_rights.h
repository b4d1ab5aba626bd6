/* SPDX-License-Identifier: BSD-3-Clause */
/* What each of the three processes keeps. */
#ifndef WEIR_SNMP_RIGHTS_H
#define WEIR_SNMP_RIGHTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/rights.h"

/* The keeper: may become others, end them, and give low ports away. 0 or -errno, logged. */
int snmp_rights_keeper(void);

/* The sub-agent: nobody special, Unix sockets alone. 0 or -errno, logged. */
int snmp_rights_agent(const struct identity *id);

/* snmpd, before it is started: low ports, no processes. It ends with the keeper. 0 or -errno, logged. */
int snmp_rights_snmpd(const struct identity *id, bool serves);

#endif
