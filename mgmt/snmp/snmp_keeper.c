/* SPDX-License-Identifier: BSD-3-Clause */
#include "snmp/snmp_keeper.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "snmp/snmp_rights.h"

#define TURN_MS 100
#define CONF_MAX (4u << 20) /* bytes */
#define SECOND 1000000000ull
#define BACK_OFF_MAX 60u	/* s */
#define STEADY_NS (30 * SECOND) /* having run for so long, it is well */
#define END_NS (5 * SECOND)	/* snmpd may take to end */

/* What is read only: the system group, the machine's interfaces, and what snmpd itself needs. Nothing that starts
 * programs, passes requests on, or changes something. */
#define MODULES                                                                                    \
	"system_mib,sysORTable,snmp_mib,interface,ifTable,ifXTable,vacm_conf,vacm_vars,usmConf,"   \
	"usmUser,usmStats,snmpEngine,snmpMPDStats,agentx_config,agentx,master"

static volatile sig_atomic_t stopped;

struct run {
	char *conf; /* in force, or NULL */
	pid_t pid;  /* snmpd; 0: it does not run */
	uint64_t started_ns, next_ns;
	unsigned back_off; /* s */
};

static void on_signal(int number)
{
	stopped = 1;
}

int snmp_keeper_init(struct snmp_keeper *k, const char *run_dir)
{
	int n = snprintf(k->directory, sizeof(k->directory), "%s/snmp", run_dir);

	if (n < 0 || n >= SNMP_PATH_MAX) {
		log_error("%s: too long for a socket", run_dir);
		return -ENAMETOOLONG;
	}
	sprintf(k->conf, "%s/snmpd.conf", k->directory);
	sprintf(k->state, "%s/state", k->directory);
	sprintf(k->agentx, "%s/agentx", k->directory);
	/* The set-group-id bit gives snmpd's socket the sub-agent's group. */
	if ((mkdir(k->directory, 0710) && errno != EEXIST) ||
		(geteuid() == 0 && chown(k->directory, k->snmpd.uid, k->agent.gid)) ||
		chmod(k->directory, 02710)) {
		int rc = -errno;
		log_error("%s: cannot be made: %s", k->directory, strerror(-rc));
		return rc;
	}
	return 0;
}

/* --- children that are snmpd's user ----------------------------------------------------------------- */

/* umask is 0077. A link that lies there is not followed. */
static int conf_write(const struct snmp_keeper *k, const char *text)
{
	char path[SNMP_PATH_MAX + 32];
	size_t length = strlen(text);

	snprintf(path, sizeof(path), "%s.new", k->conf);
	unlink(path);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	bool ok = write(fd, text, length) == (ssize_t)length;
	if (close(fd) || !ok || rename(path, k->conf))
		return -EIO;
	return 0;
}

static bool conf_hand_over(const struct snmp_keeper *k, const char *text)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(snmp_rights_snmpd(&k->snmpd, false) || conf_write(k, text) ? 1 : 0);
	if (pid > 0 && waitpid(pid, &status, 0) == pid && status == 0)
		return true;
	log_error("%s: cannot be written", k->conf);
	return false;
}

static void snmpd_become(const struct snmp_keeper *k)
{
	char persistent[SNMP_PATH_MAX + 64], path[SNMP_PATH_MAX + 64];
	char *words[] = {
		(char *)k->program, "-f", "-C", "-c", (char *)k->conf, "-LEw", "-I", MODULES, NULL};
	char *environment[] = {"MIBS=", persistent, path, "PATH=/usr/sbin:/usr/bin", NULL};

	snprintf(persistent, sizeof(persistent), "SNMP_PERSISTENT_DIR=%s", k->state);
	snprintf(path, sizeof(path), "SNMPCONFPATH=%s", k->directory);
	if (snmp_rights_snmpd(&k->snmpd, true) == 0)
		execve(k->program, words, environment);
	log_error("%s: cannot be started: %s", k->program, strerror(errno));
	_exit(127);
}

static void snmpd_start(const struct snmp_keeper *k, struct run *run)
{
	pid_t pid = fork();

	if (pid == 0)
		snmpd_become(k);
	run->started_ns = clock_ns();
	run->pid = pid > 0 ? pid : 0;
	if (pid < 0)
		log_error("snmpd: cannot be started: %s", strerror(errno));
	else
		log_notice("snmpd: started");
}

/* --- its life --------------------------------------------------------------------------------------- */

/* It was not us who ended it: each time in a row it has to wait twice as long. */
static void snmpd_ended(struct run *run, int status)
{
	if (clock_ns() - run->started_ns > STEADY_NS)
		run->back_off = 0;
	run->back_off = run->back_off ? 2 * run->back_off : 1;
	if (run->back_off > BACK_OFF_MAX)
		run->back_off = BACK_OFF_MAX;
	log_warning("snmpd: ended with %s %d: starts again in %u s",
		WIFSIGNALED(status) ? "signal" : "status",
		WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), run->back_off);
	run->pid = 0;
	run->next_ns = clock_ns() + run->back_off * SECOND;
}

static void snmpd_end(struct run *run)
{
	uint64_t end = clock_ns() + END_NS;

	if (!run->pid)
		return;
	kill(run->pid, SIGTERM);
	while (waitpid(run->pid, NULL, WNOHANG) == 0) {
		if (clock_ns() > end)
			kill(run->pid, SIGKILL);
		poll(NULL, 0, 10);
	}
	run->pid = 0;
}

/* What snmpd reads again at SIGHUP; addresses and users it reads once. */
static bool line_reloads(const char *line)
{
	return strncmp(line, "agentaddress ", 13) && strncmp(line, "createUser ", 11) &&
	       strncmp(line, "agentX", 6);
}

/* The lines that need another start, one behind the other, to be freed. */
static char *lines_fixed(const char *text)
{
	char *out = NULL;
	size_t size;
	FILE *f = open_memstream(&out, &size);

	while (f && *text) {
		size_t length = strcspn(text, "\n");
		if (!line_reloads(text))
			fprintf(f, "%.*s\n", (int)length, text);
		text += length + (text[length] == '\n');
	}
	return f && fclose(f) == 0 ? out : NULL;
}

static bool needs_start(const char *before, const char *now)
{
	char *a = before ? lines_fixed(before) : NULL, *b = lines_fixed(now);
	bool differ = !a || !b || strcmp(a, b) != 0;

	free(a);
	free(b);
	return differ;
}

/* Takes over text. */
static void conf_take(const struct snmp_keeper *k, struct run *run, char *text)
{
	bool same = run->conf && !strcmp(run->conf, text);

	if (same || !conf_hand_over(k, text)) {
		free(text);
		return;
	}
	if (run->pid && !needs_start(run->conf, text)) {
		log_notice("snmpd: reads its configuration again");
		kill(run->pid, SIGHUP);
	} else {
		snmpd_end(run);
		run->back_off = 0;
		run->next_ns = 0;
	}
	free(run->conf);
	run->conf = text;
}

/* --- from the sub-agent ------------------------------------------------------------------------------ */

static bool read_all(int fd, void *bytes, size_t length)
{
	return recv(fd, bytes, length, MSG_WAITALL) == (ssize_t)length;
}

/* False: the sub-agent is gone. */
static bool conf_receive(const struct snmp_keeper *k, struct run *run)
{
	uint32_t length;
	char *text;

	if (!read_all(k->link, &length, sizeof(length)))
		return false;
	length = ntohl(length);
	text = length <= CONF_MAX ? malloc(length + 1) : NULL;
	if (!text || !read_all(k->link, text, length)) {
		free(text);
		return false;
	}
	text[length] = '\0';
	conf_take(k, run, text);
	return true;
}

static bool turn(const struct snmp_keeper *k, struct run *run)
{
	struct pollfd p = {.fd = k->link, .events = POLLIN};
	int status;

	if (poll(&p, 1, TURN_MS) > 0 && !conf_receive(k, run))
		return false;
	if (run->pid && waitpid(run->pid, &status, WNOHANG) == run->pid)
		snmpd_ended(run, status);
	if (run->conf && !run->pid && clock_ns() >= run->next_ns)
		snmpd_start(k, run);
	return waitpid(k->worker, &status, WNOHANG) == 0;
}

int snmp_keeper_run(struct snmp_keeper *k)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct run run = {0};
	int status = 0;
	bool there = true;

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	while (there && !stopped)
		there = turn(k, &run);
	snmpd_end(&run);
	if (run.conf)
		explicit_bzero(run.conf, strlen(run.conf));
	free(run.conf);
	if (!there && !stopped) {
		log_error("sub-agent: it ended");
		return EXIT_FAILURE;
	}
	kill(k->worker, SIGTERM);
	return waitpid(k->worker, &status, 0) == k->worker && status == 0 ? EXIT_SUCCESS
									  : EXIT_FAILURE;
}
