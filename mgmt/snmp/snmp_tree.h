/* SPDX-License-Identifier: BSD-3-Clause */
/* Object identifiers of LTM's tables and scalars, and what stands at them in a picture. */
#ifndef WEIR_SNMP_TREE_H
#define WEIR_SNMP_TREE_H

#include <net-snmp/net-snmp-config.h>

#include <net-snmp/net-snmp-includes.h>

#include "snmp/snmp_data.h"

enum snmp_source {
	SOURCE_NUMBER,
	SOURCE_TEXT,
	SOURCE_ZERO,
	SOURCE_ADDRESS,
	SOURCE_ADDRESS_TYPE,
	SOURCE_HOST_ID
};

struct snmp_column {
	uint16_t id;
	uint8_t type; /* ASN_INTEGER, ASN_GAUGE, ASN_COUNTER64, ASN_OCTET_STR, ASN_TIMETICKS */
	uint8_t source;
	uint16_t which; /* number or text */
};

/* Columns under one identifier, with rows of one class. */
struct snmp_table {
	uint16_t place[8]; /* behind 1.3.6.1.4.1.3375.2, ended by 0 */
	enum snmp_class class;
	const struct snmp_column *column;
	unsigned columns;
};

extern const struct snmp_table snmp_tables[];
extern const unsigned snmp_table_count;

/* What stands at an identifier. */
struct snmp_place {
	const struct snmp_column *column;
	const struct snmp_row *row;
	oid name[MAX_OID_LEN];
	size_t length;
};

/* Call once. 0 or -ENOMEM. */
int snmp_tree_init(void);
void snmp_tree_fini(void);

/* What stands at exactly name, or (next) at the first place behind it that has a value. */
bool snmp_tree_find(const struct snmp_data *d, const oid *name, size_t length, bool next,
	struct snmp_place *out);

/* Puts the value into a variable. 0 or -ENOMEM. */
int snmp_tree_value(const struct snmp_place *p, netsnmp_variable_list *to);

#endif
