/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is told over SNMP, as one picture of weir-cp's states and counters. A picture is made by one thread, then
 * never changed.
 */
#ifndef WEIR_SNMP_DATA_H
#define WEIR_SNMP_DATA_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum snmp_class {
	SNMP_NODE,
	SNMP_POOL,
	SNMP_MEMBER,
	SNMP_VIRTUAL,
	SNMP_ADDRESS,
	SNMP_SHOWN, /* those above are rows of weir-cp's "show" */
	SNMP_RULE = SNMP_SHOWN,
	SNMP_CPU,
	SNMP_TRAFFIC_GROUP,
	SNMP_SYSTEM, /* one row: all scalars */
	SNMP_CLASSES
};

enum snmp_text {
	TEXT_NAME,
	TEXT_POOL,
	TEXT_NODE,
	TEXT_RULE,
	TEXT_REASON,
	TEXT_ADDRESS_NAME,
	TEXTS
};

/* Of an object. */
enum snmp_number {
	NUMBER_PACKETS_IN,
	NUMBER_BYTES_IN,
	NUMBER_PACKETS_OUT,
	NUMBER_BYTES_OUT,
	NUMBER_MAX,
	NUMBER_TOTAL,
	NUMBER_CURRENT,
	NUMBER_COUNTED, /* those above: absent while no dataplane is connected */
	NUMBER_AVAILABLE = NUMBER_COUNTED,
	NUMBER_ENABLED,
	NUMBER_IS_ENABLED, /* 0, 1 */
	NUMBER_MONITOR_STATE,
	NUMBER_MONITOR_STATUS,
	NUMBER_NEW_SESSION,
	NUMBER_SESSION,
	NUMBER_RATIO,
	NUMBER_DYNAMIC_RATIO,
	NUMBER_LIMIT,
	NUMBER_PRIORITY,
	NUMBER_PORT,
	NUMBER_PROTOCOL,
	NUMBER_MODE,
	NUMBER_ACTION,
	NUMBER_MIN_UP,
	NUMBER_MEMBERS,
	NUMBER_ACTIVE,
	NUMBERS
};

#define SNMP_ABSENT UINT64_MAX /* there is no such value */

/* Of the row of a CPU. */
enum snmp_cpu_number { CPU_ID, CPU_NOW, CPU_5S, CPU_1M, CPU_5M, CPU_NUMBERS };

/* Of the one row of scalars. */
enum snmp_system_number {
	SYSTEM_CLIENT_PACKETS_IN,
	SYSTEM_CLIENT_BYTES_IN,
	SYSTEM_CLIENT_PACKETS_OUT,
	SYSTEM_CLIENT_BYTES_OUT,
	SYSTEM_CLIENT_TOTAL,
	SYSTEM_CLIENT_CURRENT,
	SYSTEM_SERVER_PACKETS_IN,
	SYSTEM_SERVER_BYTES_IN,
	SYSTEM_SERVER_PACKETS_OUT,
	SYSTEM_SERVER_BYTES_OUT,
	SYSTEM_SERVER_TOTAL,
	SYSTEM_SERVER_CURRENT,
	SYSTEM_NON_SYN_DENY,
	SYSTEM_NO_HANDLER_DENY,
	SYSTEM_MEMORY_ERRORS,
	SYSTEM_CPUS,
	SYSTEM_DROPPED,
	SYSTEM_MEMORY_TOTAL,
	SYSTEM_MEMORY_USED,
	SYSTEM_MEMORY_TOTAL_KB,
	SYSTEM_MEMORY_USED_KB,
	SYSTEM_CPU_USER,
	SYSTEM_CPU_NICE,
	SYSTEM_CPU_SYSTEM,
	SYSTEM_CPU_IDLE,
	SYSTEM_CPU_IRQ,
	SYSTEM_CPU_SOFTIRQ,
	SYSTEM_CPU_IOWAIT,
	SYSTEM_CPU_NOW,
	SYSTEM_CPU_5S,
	SYSTEM_CPU_1M,
	SYSTEM_CPU_5M,
	SYSTEM_UPTIME_TICKS,
	SYSTEM_UPTIME,
	SYSTEM_SYNC_STANDALONE,
	SYSTEM_FAILOVER_ACTIVE,
	SYSTEM_COUNT, /* and as many more as there are classes: rows of each */
	SYSTEM_NUMBERS = SYSTEM_COUNT + SNMP_CLASSES
};

enum snmp_system_text {
	SYSTEM_PRODUCT,
	SYSTEM_VERSION,
	SYSTEM_OS,
	SYSTEM_HOST,
	SYSTEM_RELEASE,
	SYSTEM_STANDALONE,
	SYSTEM_ACTIVE,
	SYSTEM_TEXTS
};

struct snmp_row {
	char **text; /* [TEXTS], or of the class; NULL: absent */
	uint64_t *number;
	uint8_t address
		[20]; /* as InetAddress: 4 or 16 bytes, then 4 of the route domain if it has one */
	uint8_t address_length, address_type;
};

struct snmp_rows {
	struct snmp_row *row; /* sorted by index */
	size_t count, size;
};

struct snmp_data {
	struct snmp_rows of[SNMP_CLASSES];
};

struct snmp_data *snmp_data_new(void);
void snmp_data_free(struct snmp_data *d); /* NULL is accepted */

/* "show" of a class, as weir-cp names it. */
extern const char *const snmp_show_of[SNMP_SHOWN];

/* Takes a row of "show". 0 or -ENOMEM; a row that makes no sense is left out. */
int snmp_data_take(struct snmp_data *d, enum snmp_class class, const json_t *row);

/* Adds a row with nothing in it; NULL: no memory. */
struct snmp_row *snmp_data_add(struct snmp_data *d, enum snmp_class class);

/* A copy of text in the row. 0 or -ENOMEM. */
int snmp_row_text(struct snmp_row *row, unsigned which, const char *text);

/* Sorts, and counts what scalars count. Every class has its rows by then. */
void snmp_data_finish(struct snmp_data *d);

/* Negative, 0, positive: order of rows of a class by their index. */
int snmp_row_compare(enum snmp_class class, const struct snmp_row *a, const struct snmp_row *b);

#endif
