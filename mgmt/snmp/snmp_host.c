/* SPDX-License-Identifier: BSD-3-Clause */
#include "snmp/snmp_host.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, KINDS };

#define CPUS_MAX 256u
#define KEPT 301u /* seconds, for a mean over 300 */

struct use {
	uint64_t total, busy;
};

/* The first is all together. */
static struct use kept[KEPT][CPUS_MAX + 1];
static uint64_t samples;
static unsigned cpus;
static uint64_t ticks[KINDS]; /* of all together */

static bool line_take(const char *line, struct use *to)
{
	unsigned long long v[KINDS];
	unsigned number = 0;
	const char *numbers = strchr(line, ' ');
	bool one = line[3] != ' ' && sscanf(line, "cpu%u", &number) == 1;

	if (strncmp(line, "cpu", 3) || !numbers || number >= CPUS_MAX)
		return false;
	if (sscanf(numbers, "%llu %llu %llu %llu %llu %llu %llu", &v[USER], &v[NICE], &v[SYSTEM],
		    &v[IDLE], &v[IOWAIT], &v[IRQ], &v[SOFTIRQ]) != KINDS)
		return false;
	struct use *use = &to[one ? number + 1 : 0];
	*use = (struct use){0};
	for (int i = 0; i < KINDS; i++) {
		use->total += v[i];
		if (i != IDLE && i != IOWAIT)
			use->busy += v[i];
		if (!one)
			ticks[i] = v[i];
	}
	if (one && number >= cpus)
		cpus = number + 1;
	return true;
}

void snmp_host_sample(void)
{
	FILE *f = fopen("/proc/stat", "re");
	char line[512];

	if (!f)
		return;
	while (fgets(line, sizeof(line), f) && line_take(line, kept[samples % KEPT]))
		continue;
	fclose(f);
	samples++;
}

/* Per cent over the last seconds, or as far back as there is something. */
static uint64_t busy(unsigned cpu, unsigned seconds)
{
	uint64_t back = samples - 1 < seconds ? samples - 1 : seconds;
	const struct use *now = &kept[(samples - 1) % KEPT][cpu];
	const struct use *then = &kept[(samples - 1 - back) % KEPT][cpu];

	return now->total > then->total
		       ? 100 * (now->busy - then->busy) / (now->total - then->total)
		       : 0;
}

static void memory_take(uint64_t *to)
{
	FILE *f = fopen("/proc/meminfo", "re");
	unsigned long long total = 0, available = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "MemTotal: %llu", &total);
		sscanf(line, "MemAvailable: %llu", &available);
	}
	if (f)
		fclose(f);
	if (!total)
		return;
	to[SYSTEM_MEMORY_TOTAL_KB] = total;
	to[SYSTEM_MEMORY_USED_KB] = total - available;
	to[SYSTEM_MEMORY_TOTAL] = total * 1024;
	to[SYSTEM_MEMORY_USED] = (total - available) * 1024;
}

static void ratios_take(unsigned cpu, uint64_t *now)
{
	now[0] = busy(cpu, 1);
	now[1] = busy(cpu, 5);
	now[2] = busy(cpu, 60);
	now[3] = busy(cpu, 300);
}

int snmp_host_take(struct snmp_data *d)
{
	uint64_t *to = d->of[SNMP_SYSTEM].row->number;

	memory_take(to);
	if (samples == 0)
		return 0;
	to[SYSTEM_CPUS] = cpus;
	to[SYSTEM_CPU_USER] = ticks[USER];
	to[SYSTEM_CPU_NICE] = ticks[NICE];
	to[SYSTEM_CPU_SYSTEM] = ticks[SYSTEM];
	to[SYSTEM_CPU_IDLE] = ticks[IDLE];
	to[SYSTEM_CPU_IRQ] = ticks[IRQ];
	to[SYSTEM_CPU_SOFTIRQ] = ticks[SOFTIRQ];
	to[SYSTEM_CPU_IOWAIT] = ticks[IOWAIT];
	ratios_take(0, &to[SYSTEM_CPU_NOW]);
	for (unsigned i = 0; i < cpus; i++) {
		struct snmp_row *row = snmp_data_add(d, SNMP_CPU);
		if (!row)
			return -ENOMEM;
		row->number[CPU_ID] = i;
		ratios_take(i + 1, &row->number[CPU_NOW]);
	}
	return 0;
}
