/* SPDX-License-Identifier: BSD-3-Clause */
/* Processors and memory of the machine, from /proc. */
#ifndef WEIR_SNMP_HOST_H
#define WEIR_SNMP_HOST_H

#include "snmp/snmp_data.h"

/* Reads the counters of the processors: call each second. */
void snmp_host_sample(void);

/* Puts them, and the memory, into a picture, whose row of scalars is there. 0 or -ENOMEM. */
int snmp_host_take(struct snmp_data *d);

#endif
