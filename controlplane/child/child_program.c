/* SPDX-License-Identifier: BSD-3-Clause */
/* Between clone and execve: what a started program may not do. */
#include "child/child_program.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "child/child_runner.h"

#define NICENESS 10

static void limit(int what, rlim_t value)
{
	setrlimit(what, &(struct rlimit){value, value});
}

/* Tells who asked for the program, in its place. */
void child_refuse(int out, const char *reason)
{
	char text[sizeof(RUNNER_REFUSAL) + 128];
	size_t length = sizeof(RUNNER_REFUSAL) + strnlen(reason, 128);

	memcpy(text, RUNNER_REFUSAL, sizeof(RUNNER_REFUSAL));
	memcpy(text + sizeof(RUNNER_REFUSAL), reason, length - sizeof(RUNNER_REFUSAL));
	if (write(out, text, length) < 0)
		log_debug("child: %s", reason);
}

static bool is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return !strncmp(path, folder, n) && path[n] == '/';
}

/* A small /tmp of its own, which goes with it; a script that lies in /tmp has none. */
static bool script_tmp(const char *script)
{
	return is_below(script, "/tmp") ||
	       mount("none", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV,
		       "mode=1777,nr_inodes=1000,size=" RUNNER_TMP) == 0;
}

static bool script_isolate(const struct child_limits *r, const char *script)
{
	struct mount_attr read_only = {.attr_set = MOUNT_ATTR_RDONLY};

	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0 &&
	       mount("none", r->hide, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV, "mode=000") == 0 &&
	       mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &read_only, sizeof(read_only)) == 0 &&
	       script_tmp(script);
}

/* Whatever it takes, everybody else comes first, and it is the first to go when memory is short. */
static void script_humble(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "1000", 4) != 4)
		log_warning("child: oom_score_adj: %s", strerror(errno));
	close(fd);
	setpriority(PRIO_PROCESS, 0, NICENESS);
}

/* The end of its parent is the script's: said after the last change of user, which unsays it. */
static bool script_become(const struct child_limits *r)
{
	return chdir("/") == 0 && setgroups(0, NULL) == 0 &&
	       setresgid(r->gid, r->gid, r->gid) == 0 && setresuid(r->uid, r->uid, r->uid) == 0 &&
	       prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
}

/* Descriptors 0 to 2, and 3 if the program is one. */
static void script_descriptors(const struct child_descriptors *fd)
{
	int none = open("/dev/null", O_RDWR);

	dup2(fd->in >= 0 ? fd->in : none, 0);
	dup2(fd->out, 1);
	dup2(fd->program >= 0 ? fd->out : none, 2); /* an external monitor's output means up */
	if (fd->program >= 0)
		dup2(fd->program, CHILD_PROGRAM_FD);
	close_range(fd->program >= 0 ? CHILD_PROGRAM_FD + 1 : CHILD_PROGRAM_FD, ~0u, 0);
}

static void script_limit(unsigned seconds)
{
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_CPU, seconds + 1);
	limit(RLIMIT_FSIZE, 1 << 20);
	limit(RLIMIT_NOFILE, 64);
	limit(RLIMIT_NPROC, 4 * RUNNER_SCRIPTS_MAX);
	limit(RLIMIT_AS, RUNNER_MEMORY_MAX);
	umask(077);
}

void child_exec(
	const struct child_limits *r, const struct child_descriptors *fd, char **argv, char **envp)
{
	sigset_t none_blocked;

	script_humble();
	int fault = script_isolate(r, argv[0]) ? 0 : errno;
	script_descriptors(fd);
	script_limit(r->seconds);
	if (!fault && !script_become(r))
		fault = errno;
	if (fault) {
		child_refuse(1, strerror(fault));
		_exit(126);
	}
	sigemptyset(&none_blocked);
	sigprocmask(SIG_SETMASK, &none_blocked, NULL);
	signal(SIGPIPE, SIG_DFL);
	execve(fd->program >= 0 ? CHILD_PROGRAM_PATH : argv[0], argv, envp);
	fault = errno;
	child_refuse(1, is_below(argv[0], r->hide)
				? "it lies in the run directory, which scripts do not see"
				: strerror(fault));
	_exit(127);
}
