/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <getopt.h>
#include <linux/capability.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/calls.h"
#include "base/log.h"
#include "base/rights.h"
#include "child/child_runner.h"
#include "monitor/mon.h"

#define DESCRIPTORS_WANTED 200000u
#define DESCRIPTORS_SPARE 64u /* for everything but probes */

static const char usage[] = "weir-mon --run-dir DIR [options]\n"
			    "  --run-dir DIR  where weir-cp's mon.sock is looked for\n"
			    "  --user NAME    becomes this user\n"
			    "  --debug        more messages\n";

struct options {
	const char *run_dir, *user, *script_user;
	bool debug;
};

static bool options_parse(int argc, char **argv, struct options *o)
{
	enum { RUN_DIR, USER, SCRIPT_USER, DEBUG, HELP };
	static const struct option known[] = {{"run-dir", 1, NULL, RUN_DIR},
		{"user", 1, NULL, USER}, {"script-user", 1, NULL, SCRIPT_USER},
		{"debug", 0, NULL, DEBUG}, {"help", 0, NULL, HELP}, {0}};
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) >= 0) {
		if (c == RUN_DIR)
			o->run_dir = optarg;
		else if (c == USER)
			o->user = optarg;
		else if (c == SCRIPT_USER)
			o->script_user = optarg;
		else if (c == DEBUG)
			o->debug = true;
		else
			return false;
	}
	return optind == argc && o->run_dir;
}

static void on_signal(evutil_socket_t number, short what, void *ctx)
{
	struct mon *mon = ctx;

	log_notice("signal %d: stop", (int)number);
	event_base_loopbreak(mon->base);
}

/* How many probes may be in flight at once. */
static unsigned descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 512;
	struct rlimit raised = {.rlim_cur = DESCRIPTORS_WANTED, .rlim_max = DESCRIPTORS_WANTED};
	if (limit.rlim_max >= DESCRIPTORS_WANTED)
		raised.rlim_max = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &raised)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur > 2 * DESCRIPTORS_SPARE ? (unsigned)limit.rlim_cur - DESCRIPTORS_SPARE
						      : DESCRIPTORS_SPARE;
}

static int mon_init(struct mon *mon, struct event *signals[2])
{
	static const int numbers[] = {SIGTERM, SIGINT};
	struct event_config *config = event_config_new();

	if (config)
		event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
	mon->base = config ? event_base_new_with_config(config) : NULL;
	if (config)
		event_config_free(config);
	if (!mon->base || event_base_priority_init(mon->base, 2))
		return -ENOMEM;
	signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < 2; i++) {
		signals[i] = evsignal_new(mon->base, numbers[i], on_signal, mon);
		if (!signals[i] || event_add(signals[i], NULL))
			return -ENOMEM;
	}
	mon->io = mon_io_new(mon->base);
	mon->icmp = mon_icmp_new();
	mon->flight_max = descriptors();
	if (!mon->io || !mon->icmp)
		return -ENOMEM;
	int rc = mon_icmp_listen(mon->icmp, mon->base);
	return rc ? rc : mon_stall_watch(mon);
}

static void mon_fini(struct mon *mon, struct event *signals[2])
{
	mon_link_free(mon->link);
	mon_clear(mon);
	child_runner_free(mon->runner);
	mon_io_free(mon->io);
	mon_icmp_free(mon->icmp);
	mon_stall_unwatch(mon);
	for (int i = 0; i < 2; i++)
		if (signals[i])
			event_free(signals[i]);
	if (mon->base)
		event_base_free(mon->base);
	libevent_global_shutdown();
}

/* Only root can put scripts under another user; else there are no external monitors. */
static int runner_init(struct mon *mon, const struct options *o)
{
	const char *user = o->script_user;
	struct identity id;

	if (geteuid() != 0) {
		log_warning("external: needs to be started as root");
		return 0;
	}
	if (!user)
		user = getpwnam("weir-mon-ext") ? "weir-mon-ext" : "nobody";
	int rc = rights_identity("--script-user", user, &id);
	if (rc)
		return rc;
	mon->runner = child_runner_new("weir-mon-run", id.uid, id.gid, o->run_dir);
	return mon->runner ? 0 : -errno;
}

static int run(struct mon *mon, const struct options *o)
{
	uid_t started_as = geteuid();
	struct identity id;
	char path[4096];
	int rc = rights_identity("--user", o->user, &id);

	if (rc == 0)
		rc = runner_init(mon, o);
	if (rc == 0)
		rc = rights_drop(&id, CAP_NET_RAW); /* SO_MARK of transparent monitors */
	if (rc == 0)
		rc = calls_refuse(CALLS_OWN);
	if (rc)
		return rc;
	snprintf(path, sizeof(path), "%s/%s", o->run_dir, MON_SOCKET_NAME);
	if (!mon_link_new(mon, path, started_as)) {
		log_error("%s: not a path for a socket", path);
		return -EINVAL;
	}
	return event_base_dispatch(mon->base) < 0 ? -EIO : 0;
}

int main(int argc, char **argv)
{
	struct mon mon = {0};
	struct event *signals[2] = {NULL, NULL};
	struct options o = {0};

	if (!options_parse(argc, argv, &o)) {
		fputs(usage, stderr);
		return 2;
	}
	log_init("weir-mon", o.debug ? LOG_LEVEL_DEBUG : LOG_LEVEL_NOTICE);
	int rc = mon_init(&mon, signals);
	if (rc == 0)
		rc = run(&mon, &o);
	mon_fini(&mon, signals);
	return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}
