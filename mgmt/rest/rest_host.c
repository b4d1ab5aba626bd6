/* SPDX-License-Identifier: BSD-3-Clause */
#include "rest/rest_host.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define SAMPLES 61u /* one in five seconds: five minutes of them */
#define SAMPLE_NS 4900000000ull

enum cpu_part {
	CPU_USER,
	CPU_NICED,
	CPU_SYSTEM,
	CPU_IDLE,
	CPU_IOWAIT,
	CPU_IRQ,
	CPU_SOFTIRQ,
	CPU_STOLEN,
	CPU_PARTS
};

struct sample {
	unsigned cpus;
	uint64_t ticks[REST_CPUS_MAX][CPU_PARTS];
};

static struct {
	pthread_mutex_t lock; /* of all below */
	uint64_t taken_ns;
	unsigned count; /* since start; the newest is (count - 1) % SAMPLES */
	struct sample ring[SAMPLES];
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER};

void rest_memory_read(struct rest_memory *m)
{
	unsigned long long kb, total = 0, available = 0, swap = 0, swap_free = 0;
	FILE *file = fopen("/proc/meminfo", "re");
	char line[128];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "MemTotal: %llu", &kb) == 1)
			total = kb;
		else if (sscanf(line, "MemAvailable: %llu", &kb) == 1)
			available = kb;
		else if (sscanf(line, "SwapTotal: %llu", &kb) == 1)
			swap = kb;
		else if (sscanf(line, "SwapFree: %llu", &kb) == 1)
			swap_free = kb;
	}
	if (file)
		fclose(file);
	*m = (struct rest_memory){
		1024 * total, 1024 * (total - available), 1024 * swap, 1024 * (swap - swap_free)};
}

static void sample_read(struct sample *s)
{
	FILE *file = fopen("/proc/stat", "re");
	char line[512];

	s->cpus = 0;
	while (file && s->cpus < REST_CPUS_MAX && fgets(line, sizeof(line), file)) {
		unsigned long long t[CPU_PARTS] = {0};
		unsigned number;

		if (sscanf(line, "cpu%u %llu %llu %llu %llu %llu %llu %llu %llu", &number, &t[0],
			    &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) < 5)
			continue;
		for (unsigned i = 0; i < CPU_PARTS; i++)
			s->ticks[s->cpus][i] = t[i];
		s->cpus++;
	}
	if (file)
		fclose(file);
}

void rest_cpu_sample(void)
{
	uint64_t now = clock_ns();

	pthread_mutex_lock(&seen.lock);
	if (!seen.count || now - seen.taken_ns >= SAMPLE_NS) {
		sample_read(&seen.ring[seen.count++ % SAMPLES]);
		seen.taken_ns = now;
	}
	pthread_mutex_unlock(&seen.lock);
}

/* Percent of each part since so many samples, or since start. Locked. */
static void put_average(json_t *entries, const char *over, unsigned back, unsigned cpu)
{
	static const char *const names[CPU_PARTS] = {
		"User", "Niced", "System", "Idle", "Iowait", "Irq", "Softirq", "Stolen"};
	unsigned kept = seen.count < SAMPLES ? seen.count : SAMPLES;
	unsigned ago = back < kept ? back : kept - 1;
	const uint64_t *now = seen.ring[(seen.count - 1) % SAMPLES].ticks[cpu];
	const uint64_t *before = seen.ring[(seen.count - 1 - ago) % SAMPLES].ticks[cpu];
	uint64_t parts[CPU_PARTS], sum = 0;
	char name[40];

	for (unsigned i = 0; i < CPU_PARTS; i++) {
		/* the kernel may take back ticks of waiting */
		parts[i] = !ago ? now[i] : now[i] > before[i] ? now[i] - before[i] : 0;
		sum += parts[i];
	}
	for (unsigned i = 0; i < CPU_PARTS; i++) {
		snprintf(name, sizeof(name), "%sAvg%s", over, names[i]);
		json_object_set_new(entries, name,
			json_pack("{s:I}", "value",
				(json_int_t)(sum ? (100 * parts[i] + sum / 2) / sum : 0)));
	}
}

json_t *rest_cpu_entries(void)
{
	json_t *all = json_object();
	char key[16];

	rest_cpu_sample();
	pthread_mutex_lock(&seen.lock);
	for (unsigned cpu = 0; cpu < seen.ring[(seen.count - 1) % SAMPLES].cpus; cpu++) {
		json_t *entries = json_pack("{s:{s:i}}", "cpuId", "value", (int)cpu);

		put_average(entries, "fiveSec", 1, cpu);
		put_average(entries, "oneMin", 12, cpu);
		put_average(entries, "fiveMin", 60, cpu);
		snprintf(key, sizeof(key), "/%u", cpu);
		json_object_set_new(all, key, entries);
	}
	pthread_mutex_unlock(&seen.lock);
	return all;
}

unsigned rest_cpu_count(void)
{
	pthread_mutex_lock(&seen.lock);
	unsigned n = seen.count ? seen.ring[(seen.count - 1) % SAMPLES].cpus : 0;
	pthread_mutex_unlock(&seen.lock);
	return n;
}
