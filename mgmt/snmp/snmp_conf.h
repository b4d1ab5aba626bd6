/* SPDX-License-Identifier: BSD-3-Clause */
/* snmpd's configuration, from the settings of weir-cp. */
#ifndef WEIR_SNMP_CONF_H
#define WEIR_SNMP_CONF_H

#include <jansson.h>
#include <stdbool.h>

/*
 * Text of the file, to be freed; NULL: no memory. settings: as in docs/local-api.md. addresses: instead of
 * agent-addresses, if not NULL. What snmpd must not be told is left out, with a line in the log.
 */
char *snmp_conf(const json_t *settings, const char *socket, const char *addresses);

#endif
