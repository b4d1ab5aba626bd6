/* SPDX-License-Identifier: BSD-3-Clause */
#include "main/eal.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>

#include "base/log.h"
#include "core/heap.h"

#define EAL_ARGS_MAX 24
#define EAL_PREFIX "weir-dp"
#define MBUF_BYTES 256u /* of headers around a buffer's room */

/* Heap per flow, both directions' keys included, rounded up: tables grow in powers of two. Pages that
 * are never touched cost nothing. */
#define FLOW_BYTES 600u
#define FLOW6_BYTES 900u
#define HEAP_BASE_MB 64u

unsigned eal_mbufs(const struct options *o)
{
	unsigned n = 8192 + o->workers * 2048;

	if (o->mbufs)
		return o->mbufs;
	/* A queue may hold all its descriptors full in both directions. */
	for (unsigned i = 0; i < o->ports; i++) {
		const struct port_driver *d = o->port[i].driver;
		n += 2u * d->descriptors * RTE_MIN(d->queues_max, o->workers);
	}
	return n;
}

unsigned eal_memory(const struct options *o)
{
	uint64_t room = port_frame_max(o->port, o->ports, o->mtu);

	if (o->memory)
		return o->memory;
	room = RTE_MAX(room, 2048u) + RTE_PKTMBUF_HEADROOM + MBUF_BYTES;
	uint64_t bytes = eal_mbufs(o) * room;
	bytes += (uint64_t)o->workers * o->flows * FLOW_BYTES;
	bytes += (uint64_t)o->workers * o->flows6 * FLOW6_BYTES;
	return HEAP_BASE_MB + o->workers * 8 + (unsigned)(bytes >> 20);
}

unsigned eal_lcore(unsigned worker)
{
	return worker + 1;
}

/* "0@(0,1),1@0,2@1": the control thread floats over all cores, workers get one each, in order; more
 * workers than cores share. */
static int lcores_text(const struct options *o, char *out, size_t size)
{
	unsigned cpu[CPU_SETSIZE], cpus = 0;
	cpu_set_t set;
	size_t n = 0;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return -errno;
	n += (size_t)snprintf(out, size, "0@(");
	for (unsigned i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &set))
			continue;
		cpu[cpus] = i;
		n += (size_t)snprintf(out + n, size - n, "%s%u", cpus ? "," : "", i);
		cpus++;
		if (n >= size)
			return -E2BIG;
	}
	n += (size_t)snprintf(out + n, size - n, ")");
	for (unsigned i = 0; i < o->workers && n < size; i++)
		n += (size_t)snprintf(out + n, size - n, ",%u@%u", eal_lcore(i), cpu[i % cpus]);
	if (o->workers > cpus && o->idle == WORKER_POLL)
		log_warning("workers: %u poll on %u cores: they take time from each other",
			o->workers, cpus);
	return n < size ? 0 : -E2BIG;
}

static bool has_pci_port(const struct options *o)
{
	for (unsigned i = 0; i < o->ports; i++) {
		if (strcmp(o->port[i].driver->name, "pci") == 0)
			return true;
	}
	return false;
}

static void add(char **argv, int *argc, const char *word)
{
	argv[(*argc)++] = (char *)(uintptr_t)word;
}

int eal_start(const struct options *o)
{
	char lcores[8192], memory[16];
	char *argv[EAL_ARGS_MAX] = {0};
	int argc = 0;

	int err = lcores_text(o, lcores, sizeof(lcores));
	if (err) {
		log_error("DPDK: list of cores: %s", strerror(-err));
		return err;
	}
	snprintf(memory, sizeof(memory), "%u", eal_memory(o));
	/* DPDK keeps its run-time files below this directory. */
	setenv("RUNTIME_DIRECTORY", o->run_dir, 1);
	add(argv, &argc, "weir-dp");
	add(argv, &argc, "--lcores");
	add(argv, &argc, lcores);
	add(argv, &argc, "--main-lcore=0");
	add(argv, &argc, "-m");
	add(argv, &argc, memory);
	add(argv, &argc, "--file-prefix=" EAL_PREFIX);
	add(argv, &argc, "--no-telemetry");
	add(argv, &argc, "--no-shconf");
	add(argv, &argc, o->huge ? "--huge-unlink" : "--no-huge");
	if (!has_pci_port(o))
		add(argv, &argc, "--no-pci");
	if (!o->verbose)
		add(argv, &argc, "--log-level=*:warning");
	if (rte_eal_init(argc, argv) < 0) {
		log_error("DPDK: start with %s MB of memory: %s", memory, rte_strerror(rte_errno));
		return -rte_errno;
	}
	if (!o->huge && heap_use_huge_pages() == 0)
		log_notice("memory: no transparent huge pages: large flow tables are slower");
	return 0;
}

void eal_stop(const struct options *o)
{
	char path[PATH_MAX];

	rte_eal_cleanup();
	snprintf(path, sizeof(path), "%s/dpdk/" EAL_PREFIX, o->run_dir);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/dpdk", o->run_dir);
	rmdir(path);
}
