/* SPDX-License-Identifier: BSD-3-Clause */
/* The modules in mibs/ have a leaf of the same type for each column that is answered, and none besides. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "snmp/snmp_tree.h"

static int type_of(const struct tree *leaf)
{
	switch (leaf->type) {
	case TYPE_INTEGER:
	case TYPE_INTEGER32:
		return ASN_INTEGER;
	case TYPE_GAUGE:
	case TYPE_UNSIGNED32:
		return ASN_GAUGE;
	case TYPE_COUNTER64:
		return ASN_COUNTER64;
	case TYPE_OCTETSTR:
		return ASN_OCTET_STR;
	case TYPE_TIMETICKS:
		return ASN_TIMETICKS;
	default:
		return -1;
	}
}

static const struct tree *leaf_at(const struct snmp_table *t, const struct snmp_column *c)
{
	oid name[MAX_OID_LEN] = {1, 3, 6, 1, 4, 1, 3375, 2};
	size_t length = 8;
	const struct tree *leaf;

	for (unsigned i = 0; t->place[i]; i++)
		name[length++] = t->place[i];
	name[length++] = c->id;
	leaf = get_tree(name, length, get_tree_head());
	return leaf && leaf->subid == c->id && !leaf->child_list ? leaf : NULL;
}

static unsigned columns_have_leaves(void)
{
	unsigned count = 0;

	for (unsigned i = 0; i < snmp_table_count; i++)
		for (unsigned k = 0; k < snmp_tables[i].columns; k++) {
			const struct snmp_column *c = &snmp_tables[i].column[k];
			const struct tree *leaf = leaf_at(&snmp_tables[i], c);

			if (!leaf || type_of(leaf) != c->type)
				fprintf(stderr, "table %u, column %u: %s\n", i, c->id,
					leaf ? leaf->label : "no leaf");
			CHECK(leaf && type_of(leaf) == c->type);
			CHECK_INT(leaf->access, MIB_ACCESS_READONLY);
			count++;
		}
	return count;
}

static unsigned leaves_below(const struct tree *t)
{
	unsigned count = t->access == MIB_ACCESS_READONLY;

	for (const struct tree *child = t->child_list; child; child = child->next_peer)
		count += leaves_below(child);
	return count;
}

static unsigned leaves(void)
{
	oid system[] = {1, 3, 6, 1, 4, 1, 3375, 2, 1}, ltm[] = {1, 3, 6, 1, 4, 1, 3375, 2, 2};
	struct tree *head = get_tree_head();

	return leaves_below(get_tree(system, OID_LENGTH(system), head)) +
	       leaves_below(get_tree(ltm, OID_LENGTH(ltm), head));
}

int main(void)
{
	char directories[4096];

	setenv("MIBS", "", 1);
	snprintf(directories, sizeof(directories), "%s:%s/base", MIB_DIR, MIB_DIR);
	netsnmp_set_mib_directory(directories);
	netsnmp_init_mib();
	CHECK(read_module("WEIR-LTM-MIB") && read_module("WEIR-SYSTEM-MIB"));
	unsigned columns = columns_have_leaves();
	CHECK(columns > 200);
	CHECK_INT(leaves(), columns);
	shutdown_mib();
	return 0;
}
