/* SPDX-License-Identifier: BSD-3-Clause */
/* What monitoring reads of the machine: memory, processors, neighbours; and log-in providers. */
#ifndef WEIR_REST_REST_MACHINE_H
#define WEIR_REST_REST_MACHINE_H

#include "rest/rest_call.h"

void rest_sys_memory(struct rest_call *call);
void rest_sys_cpu(struct rest_call *call);
void rest_host_info(struct rest_call *call);
void rest_net_arp(struct rest_call *call); /* and net/ndp */

/* /mgmt/info/system and /info/system, which clients read before they log in: where users may be known. */
void rest_info_system(struct rest_call *call);

#endif
