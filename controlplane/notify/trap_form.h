/* SPDX-License-Identifier: BSD-3-Clause */
/* A record of the journal as a trap of SNMPv2: LTM's where LTM has it, else one below Weir's branch. */
#ifndef WEIR_NOTIFY_TRAP_FORM_H
#define WEIR_NOTIFY_TRAP_FORM_H

#include <jansson.h>
#include <stdbool.h>

struct snmp_pdu;

/* Has the record's message a trap? */
bool trap_has(const json_t *record);

/* Puts in the variables: uptime is in hundredths of a second. False: no memory. */
bool trap_fill(struct snmp_pdu *pdu, const json_t *record, unsigned long uptime);

/* "/Common/a:80" and "/Common/fd00::1.80" as node and port; port "" if there is none. */
void trap_server(const char *object, char *node, size_t size, const char **port);

#endif
