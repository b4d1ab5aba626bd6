/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of snmp-dca that tests look at. docs/monitor-protocol.md has the formula. */
#ifndef WEIR_MONITOR_MON_SNMP_H
#define WEIR_MONITOR_MON_SNMP_H

#include <stdbool.h>
#include <stddef.h>

enum {
	SNMP_CPU_IDLE,
	SNMP_MEMORY,
	SNMP_MEMORY_FREE,
	SNMP_MEMORY_BUFFER,
	SNMP_MEMORY_CACHED,
	SNMP_DISK_USED,
	SNMP_VALUES
};

enum { SNMP_CPU, SNMP_RAM, SNMP_DISK, SNMP_RESOURCES };

struct snmp_weights {
	double coefficient[SNMP_RESOURCES], threshold[SNMP_RESOURCES]; /* thresholds in percent */
};

/* value: as the agent says, negative: it does not. 1-100, or 0: nothing is known that counts. */
unsigned snmp_ratio(const struct snmp_weights *w, const double value[SNMP_VALUES]);

/* Is it worth telling? The noise of a busy server is not; the ends always are. before 0: none was told. */
bool snmp_differs(long long before, unsigned ratio);

struct snmp_pdu;

/* What is in a packet, for snmp_free_pdu(); NULL: it is damaged. */
struct snmp_pdu *snmp_response(const char *bytes, size_t length);

#endif
