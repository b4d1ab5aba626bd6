/* SPDX-License-Identifier: BSD-3-Clause */
/* Types of fields that are more than a number. */
#ifndef WEIR_MODEL_TYPES_H
#define WEIR_MODEL_TYPES_H

#include <stdint.h>

#include "base/ipaddr.h"

#define MODEL_MASK_HOST 255 /* of a mask: all bits of the address */

struct model_prefix {
	struct ip_addr addr;
	uint8_t len; /* 0-32, 0-128 */
};

/* addr: id of the virtual address; port in host order, 0 = any. */
struct model_endpoint {
	uint32_t addr;
	uint16_t port;
};

enum { MODEL_LIST_MAX = 64 };

enum model_list_mode { LIST_ENTRIES, LIST_ALL, LIST_DEFAULT };

/* Entries are unique; ids of references, or packed services (model_service()). */
struct model_list {
	uint16_t count;
	uint8_t mode; /* LIST_ENTRIES; services also LIST_ALL and LIST_DEFAULT (the default set, then entries) */
	uint8_t reserved;
	uint32_t entry[MODEL_LIST_MAX];
};

enum { MODEL_RULE_MAX = 16 }; /* monitors of a rule */

enum monitor_rule_mode {
	RULE_NONE,
	RULE_DEFAULT, /* what the owner says: the pool of a member, ltm default-node-monitor of a node */
	RULE_ALL,
	RULE_MIN, /* at least min of them */
};

/* Ids of monitors, each once; unused entries are 0. */
struct model_monitor_rule {
	uint8_t mode; /* enum monitor_rule_mode */
	uint8_t min;
	uint16_t count;
	uint32_t monitor[MODEL_RULE_MAX];
};

/* Where a monitor's probe goes; addr :: and port 0 stand for those of what is checked. */
struct model_destination {
	struct ip_addr addr;
	uint16_t port;
};

#endif
