/* SPDX-License-Identifier: BSD-3-Clause */
/* snmpd's configuration, from the settings of weir-cp. */
#ifndef WEIR_SNMP_CONF_H
#define WEIR_SNMP_CONF_H

#include <jansson.h>
#include <stdbool.h>

/* Where snmpd listens unless agent-addresses says something else: LTM's default there would be the whole world. */
#define SNMP_LISTEN_DEFAULT "udp:127.0.0.1:161,tcp:127.0.0.1:161"

/*
 * Text of the file, to be freed; NULL: no memory. settings: as in docs/local-api.md. addresses: where to listen while
 * agent-addresses has its default. What snmpd must not be told is left out, with a line in the log.
 */
char *snmp_conf(const json_t *settings, const char *socket, const char *addresses);

#endif
