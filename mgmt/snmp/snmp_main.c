/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weir-snmp: two processes. The keeper starts snmpd; the sub-agent asks weir-cp and answers snmpd. Neither faces a
 * network: snmpd alone does.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "snmp/snmp_agent.h"
#include "snmp/snmp_conf.h"
#include "snmp/snmp_fetch.h"
#include "snmp/snmp_keeper.h"
#include "snmp/snmp_rights.h"

static const char usage[] =
	"weir-snmp --run-dir DIR [options]\n"
	"  --run-dir DIR       where weir-cp's snmp.sock is; snmp/ is made there\n"
	"  --user NAME         the sub-agent becomes this user\n"
	"  --snmpd-user NAME   snmpd becomes this user\n"
	"  --snmpd PROGRAM     default /usr/sbin/snmpd\n"
	"  --listen ADDRESSES  where snmpd listens while sys snmp agent-addresses has its\n"
	"                      default, as snmpd writes them (default " SNMP_LISTEN_DEFAULT ")\n"
	"  --debug             more messages\n";

struct options {
	const char *run_dir, *user, *snmpd_user, *snmpd, *listen;
	bool debug;
};

static bool options_parse(int argc, char **argv, struct options *o)
{
	enum { RUN_DIR, USER, SNMPD_USER, SNMPD, LISTEN, DEBUG_MORE, HELP };
	static const struct option known[] = {{"run-dir", 1, NULL, RUN_DIR},
		{"user", 1, NULL, USER}, {"snmpd-user", 1, NULL, SNMPD_USER},
		{"snmpd", 1, NULL, SNMPD}, {"listen", 1, NULL, LISTEN},
		{"debug", 0, NULL, DEBUG_MORE}, {"help", 0, NULL, HELP}, {0}};
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) >= 0) {
		if (c == RUN_DIR)
			o->run_dir = optarg;
		else if (c == USER)
			o->user = optarg;
		else if (c == SNMPD_USER)
			o->snmpd_user = optarg;
		else if (c == SNMPD)
			o->snmpd = optarg;
		else if (c == LISTEN)
			o->listen = optarg;
		else if (c == DEBUG_MORE)
			o->debug = true;
		else
			return false;
	}
	return optind == argc && o->run_dir;
}

static int agent(const struct options *o, const struct snmp_keeper *k, int link)
{
	struct snmp_fetch_options fetch = {
		.run_dir = o->run_dir, .addresses = o->listen, .agentx = k->agentx, .keeper = link};
	int rc = snmp_rights_agent(&k->agent);

	if (rc == 0)
		rc = snmp_fetch_start(&fetch);
	if (rc == 0)
		rc = snmp_agent_run(k->agentx);
	snmp_fetch_stop();
	return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int start(const struct options *o, struct snmp_keeper *k)
{
	int link[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link)) {
		log_error("processes: %s", strerror(errno));
		return EXIT_FAILURE;
	}
	k->worker = fork();
	if (k->worker == 0) {
		close(link[0]);
		return agent(o, k, link[1]);
	}
	close(link[1]);
	k->link = link[0];
	if (k->worker < 0) {
		log_error("processes: %s", strerror(errno));
		return EXIT_FAILURE;
	}
	return snmp_rights_keeper() ? EXIT_FAILURE : snmp_keeper_run(k);
}

int main(int argc, char **argv)
{
	static struct snmp_keeper keeper;
	struct options o = {.snmpd = "/usr/sbin/snmpd", .listen = SNMP_LISTEN_DEFAULT};

	if (!options_parse(argc, argv, &o)) {
		fputs(usage, stderr);
		return 2;
	}
	log_init("weir-snmp", o.debug ? LOG_LEVEL_DEBUG : LOG_LEVEL_NOTICE);
	keeper.program = o.snmpd;
	if (rights_identity("--user", o.user, &keeper.agent) ||
		rights_identity("--snmpd-user", o.snmpd_user, &keeper.snmpd) ||
		snmp_keeper_init(&keeper, o.run_dir))
		return EXIT_FAILURE;
	umask(0077);
	return start(&o, &keeper);
}
