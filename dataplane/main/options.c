/* SPDX-License-Identifier: BSD-3-Clause */
#include "main/options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"

#define FLOWS_DEFAULT 65536u
#define FLOWS_MAX (1u << 28)

static const char usage[] =
	"weir-dp --run-dir DIR --port NAME=DEVICE[,arguments] ... [options]\n"
	"  --run-dir DIR       control socket dp.sock is made here\n"
	"  --port NAME=DEVICE  a port: 1.1=net_af_xdp,iface=eth1 or 1.1=0000:00:04.0\n"
	"  --workers N         worker threads, pinned to cores in order (1)\n"
	"  --idle POLICY       poll, or backoff: sleep when idle (backoff)\n"
	"  --flows N           most IPv4 flows per worker (65536)\n"
	"  --flows6 N          most IPv6 flows per worker (--flows, above 65536 a quarter)\n"
	"  --user NAME         run as this user once ports and memory are set up\n"
	"  --mtu N             largest IP packet of devices whose MTU can be set (1500)\n"
	"  --mbufs N           packet buffers (by ports and workers)\n"
	"  --memory MB         heap (by flows and buffers)\n"
	"  --huge              take the heap from hugepages\n"
	"  --verbose           log details\n";

enum {
	OPT_RUN_DIR = 1,
	OPT_PORT,
	OPT_WORKERS,
	OPT_IDLE,
	OPT_FLOWS,
	OPT_FLOWS6,
	OPT_USER,
	OPT_MTU,
	OPT_MBUFS,
	OPT_MEMORY,
	OPT_HUGE,
	OPT_VERBOSE,
	OPT_HELP
};

static const struct option long_options[] = {
	{"run-dir", required_argument, NULL, OPT_RUN_DIR},
	{"port", required_argument, NULL, OPT_PORT},
	{"workers", required_argument, NULL, OPT_WORKERS},
	{"idle", required_argument, NULL, OPT_IDLE},
	{"flows", required_argument, NULL, OPT_FLOWS},
	{"flows6", required_argument, NULL, OPT_FLOWS6},
	{"user", required_argument, NULL, OPT_USER},
	{"mtu", required_argument, NULL, OPT_MTU},
	{"mbufs", required_argument, NULL, OPT_MBUFS},
	{"memory", required_argument, NULL, OPT_MEMORY},
	{"huge", no_argument, NULL, OPT_HUGE},
	{"verbose", no_argument, NULL, OPT_VERBOSE},
	{"help", no_argument, NULL, OPT_HELP},
	{0},
};

static bool number(
	const char *name, const char *text, unsigned long min, unsigned long max, unsigned *out)
{
	char *end;

	errno = 0;
	unsigned long n = strtoul(text, &end, 10);
	if (errno || end == text || *end || text[0] == '-' || n < min || n > max) {
		log_error("--%s: \"%s\": must be a number from %lu to %lu", name, text, min, max);
		return false;
	}
	*out = (unsigned)n;
	return true;
}

static bool take_idle(const char *text, enum worker_idle *out)
{
	if (strcmp(text, "poll") == 0)
		*out = WORKER_POLL;
	else if (strcmp(text, "backoff") == 0)
		*out = WORKER_BACKOFF;
	else {
		log_error("--idle: \"%s\": must be poll or backoff", text);
		return false;
	}
	return true;
}

static bool take_option(int which, const char *arg, struct options *o)
{
	unsigned n = 0;

	switch (which) {
	case OPT_RUN_DIR:
		o->run_dir = arg;
		return true;
	case OPT_USER:
		o->user = arg;
		return true;
	case OPT_HUGE:
		o->huge = true;
		return true;
	case OPT_VERBOSE:
		o->verbose = true;
		return true;
	case OPT_IDLE:
		return take_idle(arg, &o->idle);
	case OPT_WORKERS:
		return number("workers", arg, 1, WORKERS_MAX, &o->workers);
	case OPT_FLOWS:
		return number("flows", arg, 1, FLOWS_MAX, &o->flows);
	case OPT_FLOWS6:
		return number("flows6", arg, 1, FLOWS_MAX, &o->flows6);
	case OPT_MBUFS:
		return number("mbufs", arg, 1024, INT_MAX, &o->mbufs);
	case OPT_MEMORY:
		return number("memory", arg, 32, INT_MAX, &o->memory);
	case OPT_MTU:
		if (!number("mtu", arg, 576, 9198, &n))
			return false;
		o->mtu = (uint16_t)n;
		return true;
	}
	return false;
}

/* Ports are read last: how many queues they want depends on --workers. */
static bool take_ports(char *const *texts, unsigned count, struct options *o)
{
	char reason[PORT_DEVICE_MAX + 128];

	for (unsigned i = 0; i < count; i++) {
		if (port_config_parse(
			    texts[i], i, o->workers, &o->port[i], reason, sizeof(reason)) < 0) {
			log_error("--port: %s", reason);
			return false;
		}
	}
	o->ports = count;
	return true;
}

enum options_verdict options_parse(int argc, char **argv, struct options *out)
{
	struct options o = {
		.idle = WORKER_BACKOFF,
		.workers = 1,
		.flows = FLOWS_DEFAULT,
		.mtu = PORT_MTU_DEFAULT,
	};
	char *ports[PORTS_MAX];
	unsigned count = 0;
	int which;

	while ((which = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (which == OPT_HELP) {
			fputs(usage, stdout);
			return OPTIONS_HELP;
		}
		if (which == OPT_PORT && count < PORTS_MAX)
			ports[count++] = optarg;
		else if (!take_option(which, optarg, &o))
			return OPTIONS_BAD;
	}
	if (optind < argc) {
		log_error("arguments: \"%s\": unknown", argv[optind]);
		return OPTIONS_BAD;
	}
	if (!o.run_dir) {
		log_error("arguments: --run-dir is missing");
		return OPTIONS_BAD;
	}
	if (!o.flows6)
		o.flows6 = o.flows <= FLOWS_DEFAULT ? o.flows : RTE_MAX(o.flows / 4, FLOWS_DEFAULT);
	if (!take_ports(ports, count, &o))
		return OPTIONS_BAD;
	*out = o;
	return OPTIONS_RUN;
}
