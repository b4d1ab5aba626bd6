/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/mon_snmp.h"

#include "base/check.h"

static const struct snmp_weights usual = {.coefficient = {1.5, 1, 2}, .threshold = {80, 70, 90}};

static void ratio(void)
{
	double value[SNMP_VALUES] = {100, 1000, 600, 100, 300, 0};

	CHECK_INT(snmp_ratio(&usual, value), 100);
	value[SNMP_CPU_IDLE] = 60; /* half of what is allowed: 1 + 99 x (1.5 x 0.5 + 1 + 2) / 4.5 */
	CHECK_INT(snmp_ratio(&usual, value), 84);
	value[SNMP_MEMORY_FREE] = 250; /* 35 % used */
	CHECK_INT(snmp_ratio(&usual, value), 73);
	value[SNMP_DISK_USED] = 45;
	CHECK_INT(snmp_ratio(&usual, value), 51);
	value[SNMP_DISK_USED] = 90;
	CHECK_INT(snmp_ratio(&usual, value), 1);
	value[SNMP_DISK_USED] = 45;
	value[SNMP_CPU_IDLE] = 0;
	CHECK_INT(snmp_ratio(&usual, value), 1);
}

/* What the agent does not have, or has no coefficient, does not count. */
static void unknown(void)
{
	struct snmp_weights w = usual;
	double value[SNMP_VALUES] = {60, -1, -1, -1, -1, -1};

	CHECK_INT(snmp_ratio(&w, value), 51);
	value[SNMP_DISK_USED] = 99;
	CHECK_INT(snmp_ratio(&w, value), 1);
	w.coefficient[SNMP_DISK] = 0;
	CHECK_INT(snmp_ratio(&w, value), 51);
	value[SNMP_CPU_IDLE] = -1;
	CHECK_INT(snmp_ratio(&w, value), 0);
	/* Nonsense of an agent stays within bounds. */
	value[SNMP_CPU_IDLE] = 1e9;
	CHECK_INT(snmp_ratio(&w, value), 100);
	value[SNMP_MEMORY] = 1;
	value[SNMP_MEMORY_FREE] = 1e18;
	CHECK_INT(snmp_ratio(&w, value), 100);
}

static void noise(void)
{
	CHECK(snmp_differs(0, 1));
	CHECK(snmp_differs(0, 2));
	CHECK(!snmp_differs(50, 50));
	CHECK(!snmp_differs(50, 52));
	CHECK(snmp_differs(50, 53));
	CHECK(snmp_differs(50, 47));
	CHECK(snmp_differs(2, 1));
	CHECK(snmp_differs(99, 100));
	CHECK(!snmp_differs(1, 1));
}

int main(void)
{
	noise();
	ratio();
	unknown();
	return 0;
}
