/* SPDX-License-Identifier: BSD-3-Clause */
/* Order of identifiers: what stands at one, and what is next. */
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "snmp/snmp_tree.h"

static struct snmp_data *picture(void)
{
	static const char *const pools[] = {"/Common/web", "/Common/b", "/Common/a-long-name"};
	struct snmp_data *d = snmp_data_new();
	struct snmp_row *row;

	for (size_t i = 0; i < sizeof(pools) / sizeof(*pools); i++) {
		row = snmp_data_add(d, SNMP_POOL);
		CHECK(snmp_row_text(row, TEXT_NAME, pools[i]) == 0);
		row->number[NUMBER_MODE] = i;
	}
	for (unsigned i = 0; i < 3; i++) {
		row = snmp_data_add(d, SNMP_MEMBER);
		CHECK(snmp_row_text(row, TEXT_POOL, "/Common/web") == 0);
		CHECK(snmp_row_text(row, TEXT_NODE, i < 2 ? "/Common/n" : "/Common/m") == 0);
		row->number[NUMBER_PORT] = i ? 80 : 443;
		row->number[NUMBER_TOTAL] = UINT64_MAX - 1 - i;
	}
	row = snmp_data_add(d, SNMP_NODE);
	CHECK(snmp_row_text(row, TEXT_NAME, "/Common/a") == 0);
	snmp_data_add(d, SNMP_SYSTEM);
	snmp_data_finish(d);
	return d;
}

static bool find(const struct snmp_data *d, const char *text, bool next, struct snmp_place *out)
{
	oid name[MAX_OID_LEN];
	size_t length = 0;
	int used;

	for (unsigned long part; sscanf(text, "%lu%n", &part, &used) == 1; text += *text == '.') {
		name[length++] = part;
		text += used;
	}
	return snmp_tree_find(d, name, length, next, out);
}

#define LTM "1.3.6.1.4.1.3375.2.2."
#define POOL LTM "5.1.2.1.1"

static void exact(const struct snmp_data *d)
{
	struct snmp_place place;

	CHECK(find(d, LTM "5.1.1.0", false, &place) && place.column->id == 1);
	CHECK(find(d, POOL ".9.47.67.111.109.109.111.110.47.98", false, &place));
	CHECK_STR(place.row->text[TEXT_NAME], "/Common/b");
	CHECK(!find(d, POOL ".9.47.67.111.109.109.111.110.47.99", false, &place));
	CHECK(!find(d, POOL ".9.47.67.111.109.109.111.110.47", false, &place));
	CHECK(!find(d, POOL ".9.47.67.111.109.109.111.110.47.98.0", false, &place));
	CHECK(!find(d, POOL, false, &place) && !find(d, LTM "5.1.1", false, &place));
	CHECK(!find(d, "1", false, &place) && !find(d, "2.5", false, &place));
}

/* The shorter name first, whatever its bytes. */
static void next(const struct snmp_data *d)
{
	static const char *const order[] = {"/Common/b", "/Common/web", "/Common/a-long-name"};
	struct snmp_place place;

	CHECK(find(d, POOL, true, &place));
	for (unsigned i = 0; i < 3; i++) {
		CHECK(place.column->id == 1);
		CHECK_STR(place.row->text[TEXT_NAME], order[i]);
		CHECK(snmp_tree_find(d, place.name, place.length, true, &place));
	}
	CHECK(place.column->id == 2 && place.row->number[NUMBER_MODE] == 1);
	CHECK(find(d, POOL ".9.47.67.111.109.109.111.110.47.98.0", true, &place));
	CHECK_STR(place.row->text[TEXT_NAME], "/Common/web");
	CHECK(find(d, POOL ".4294967295", true, &place) && place.column->id == 2);
}

/* A walk from the very beginning ends, and each identifier is behind the one before and found as itself. */
static void walk(const struct snmp_data *d)
{
	struct snmp_place place, same;
	oid before[MAX_OID_LEN] = {1};
	size_t length = 1;
	unsigned count = 0;

	while (snmp_tree_find(d, before, length, true, &place)) {
		CHECK(snmp_oid_compare(before, length, place.name, place.length) < 0);
		CHECK(snmp_tree_find(d, place.name, place.length, false, &same));
		CHECK(same.row == place.row && same.column == place.column);
		memcpy(before, place.name, place.length * sizeof(oid));
		length = place.length;
		count++;
	}
	CHECK(count > 100);
}

/* The three members: by node, then by port; what is wider than its type stops at the type's end. */
static void values(const struct snmp_data *d)
{
	netsnmp_variable_list var = {0};
	struct snmp_place place;

	CHECK(find(d, LTM "5.4.3.1.10", true, &place));
	CHECK_STR(place.row->text[TEXT_NODE], "/Common/m");
	CHECK(snmp_tree_value(&place, &var) == 0 && var.type == ASN_COUNTER64);
	CHECK(var.val.counter64->high == UINT32_MAX && var.val.counter64->low == UINT32_MAX - 3);
	CHECK(snmp_tree_find(d, place.name, place.length, true, &place));
	CHECK(place.row->number[NUMBER_PORT] == 80);
	CHECK(snmp_tree_find(d, place.name, place.length, true, &place));
	CHECK(place.row->number[NUMBER_PORT] == 443);
	CHECK(!find(d, LTM "5.4.3.1.11.0", false, &place));
	snmp_free_var_internals(&var);
}

/* No identifier has so many numbers: such a row is passed over. */
static void long_names(void)
{
	struct snmp_data *d = snmp_data_new();
	struct snmp_place place;
	char name[200];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	CHECK(snmp_row_text(snmp_data_add(d, SNMP_POOL), TEXT_NAME, name) == 0);
	CHECK(snmp_row_text(snmp_data_add(d, SNMP_POOL), TEXT_NAME, "/Common/b") == 0);
	snmp_data_finish(d);
	CHECK(find(d, POOL, true, &place));
	CHECK_STR(place.row->text[TEXT_NAME], "/Common/b");
	CHECK(snmp_tree_find(d, place.name, place.length, true, &place) && place.column->id != 1);
	snmp_data_free(d);
}

int main(void)
{
	struct snmp_data *d = picture();

	CHECK(snmp_tree_init() == 0);
	exact(d);
	next(d);
	walk(d);
	values(d);
	long_names();
	snmp_data_free(d);
	snmp_tree_fini();
	return 0;
}
