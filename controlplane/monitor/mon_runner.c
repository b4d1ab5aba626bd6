/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/mon_runner.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

#define GRACE_NS 1000000000ull
#define NICENESS 10
#define NS_IN_S 1000000000ull

enum { RUNNER_START, RUNNER_STOP, RUNNER_STOP_GENTLY };

struct request {
	uint64_t id;
	uint32_t op, seconds;
	uint32_t argc, envc;
};

struct mon_runner {
	int fd;
	pid_t pid;
};

/* --- the runner's own process ------------------------------------------------------------------- */

struct script {
	uint64_t id, deadline_ns;
	pid_t pid; /* 0: free */
};

struct runner {
	int fd;
	uid_t uid;
	gid_t gid;
	const char *hide;
	struct script scripts[RUNNER_SCRIPTS_MAX];
};

static void limit(int what, rlim_t value)
{
	setrlimit(what, &(struct rlimit){value, value});
}

/* Tells weir-mon, in the script's place. */
static void refuse(int out, const char *reason)
{
	char text[sizeof(RUNNER_REFUSAL) + 128];
	size_t length = sizeof(RUNNER_REFUSAL) + strnlen(reason, 128);

	memcpy(text, RUNNER_REFUSAL, sizeof(RUNNER_REFUSAL));
	memcpy(text + sizeof(RUNNER_REFUSAL), reason, length - sizeof(RUNNER_REFUSAL));
	if (write(out, text, length) < 0)
		log_debug("external: %s", reason);
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

static bool script_isolate(const struct runner *r, const char *script)
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
		log_warning("external: oom_score_adj: %s", strerror(errno));
	close(fd);
	setpriority(PRIO_PROCESS, 0, NICENESS);
}

/* The end of its parent is the script's: said after the last change of user, which unsays it. */
static bool script_become(const struct runner *r)
{
	return chdir("/") == 0 && setgroups(0, NULL) == 0 &&
	       setresgid(r->gid, r->gid, r->gid) == 0 && setresuid(r->uid, r->uid, r->uid) == 0 &&
	       prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
}

/* In the script's process; never returns. */
static void script_exec(
	const struct runner *r, const struct request *q, char **argv, char **envp, int out)
{
	int none = open("/dev/null", O_RDWR);

	script_humble();
	int fault = script_isolate(r, argv[0]) ? 0 : errno;
	dup2(none, 0);
	dup2(out, 1);
	dup2(none, 2);
	close_range(3, ~0u, 0);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_CPU, q->seconds + 1);
	limit(RLIMIT_FSIZE, 1 << 20);
	limit(RLIMIT_NOFILE, 64);
	limit(RLIMIT_NPROC, 4 * RUNNER_SCRIPTS_MAX);
	limit(RLIMIT_AS, RUNNER_MEMORY_MAX);
	umask(077);
	if (!fault && !script_become(r))
		fault = errno;
	if (fault) {
		refuse(1, strerror(fault));
		_exit(126);
	}
	sigset_t none_blocked;
	sigemptyset(&none_blocked);
	sigprocmask(SIG_SETMASK, &none_blocked, NULL);
	signal(SIGPIPE, SIG_DFL);
	execve(argv[0], argv, envp);
	fault = errno;
	refuse(1, is_below(argv[0], r->hide)
			  ? "it lies in the run directory, which scripts do not see"
			  : strerror(fault));
	_exit(127);
}

/* Cuts text[length] into count strings; the array ends with NULL. Returns how many bytes they took. */
static size_t strings_cut(char *text, size_t length, unsigned count, char **out)
{
	size_t at = 0;

	for (unsigned i = 0; i < count; i++) {
		char *end = at < length ? memchr(text + at, 0, length - at) : NULL;

		if (!end) {
			out[i] = NULL;
			return length + 1;
		}
		out[i] = text + at;
		at = (size_t)(end - text) + 1;
	}
	out[count] = NULL;
	return at;
}

static void script_start(
	struct runner *r, const struct request *q, char *text, size_t length, int out)
{
	char *argv[256], *envp[256];
	struct script *free_one = NULL;

	for (unsigned i = 0; i < RUNNER_SCRIPTS_MAX && !free_one; i++)
		if (!r->scripts[i].pid)
			free_one = &r->scripts[i];
	if (!free_one) {
		refuse(out, "too many scripts run");
		return;
	}
	if (!q->argc || q->argc > 255 || q->envc > 255)
		return;
	size_t taken = strings_cut(text, length, q->argc, argv);
	if (taken > length ||
		strings_cut(text + taken, length - taken, q->envc, envp) > length - taken)
		return;
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC,
		NULL, NULL, NULL, NULL);
	if (pid == 0)
		script_exec(r, q, argv, envp, out);
	if (pid < 0) {
		log_error("external: %s: cannot be started: %s", argv[0], strerror(errno));
		refuse(out, strerror(errno));
		return;
	}
	*free_one = (struct script){q->id, clock_ns() + q->seconds * NS_IN_S, pid};
}

static void script_stop(struct runner *r, const struct request *q)
{
	for (unsigned i = 0; i < RUNNER_SCRIPTS_MAX; i++) {
		struct script *s = &r->scripts[i];

		if (!s->pid || s->id != q->id)
			continue;
		if (q->op == RUNNER_STOP)
			kill(s->pid, SIGKILL);
		else
			s->deadline_ns = clock_ns() + GRACE_NS;
	}
}

/* False: weir-mon is gone. */
static bool request_take(struct runner *r)
{
	static char buffer[sizeof(struct request) + RUNNER_MESSAGE_MAX];
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = {buffer, sizeof(buffer)};
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	struct request q;
	int out = -1;

	ssize_t n = recvmsg(r->fd, &message, MSG_CMSG_CLOEXEC);
	if (n <= 0)
		return n < 0 && errno == EINTR;
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(&out, CMSG_DATA(c), sizeof(out));
	if ((size_t)n >= sizeof(q)) {
		memcpy(&q, buffer, sizeof(q));
		if (q.op != RUNNER_START)
			script_stop(r, &q);
		else if (out >= 0)
			script_start(r, &q, buffer + sizeof(q), (size_t)n - sizeof(q), out);
	}
	if (out >= 0)
		close(out);
	explicit_bzero(buffer, (size_t)n); /* variables may be passwords */
	return true;
}

static void scripts_reap(struct runner *r)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		for (unsigned i = 0; i < RUNNER_SCRIPTS_MAX; i++)
			if (r->scripts[i].pid == pid)
				r->scripts[i].pid = 0;
}

/* Kills what is over its time; how many ms until the next may be. */
static int scripts_expire(struct runner *r)
{
	uint64_t now = clock_ns(), next = UINT64_MAX;

	for (unsigned i = 0; i < RUNNER_SCRIPTS_MAX; i++) {
		struct script *s = &r->scripts[i];

		if (!s->pid)
			continue;
		if (s->deadline_ns <= now) {
			kill(s->pid, SIGKILL);
			s->deadline_ns = now + GRACE_NS;
		}
		if (s->deadline_ns < next)
			next = s->deadline_ns;
	}
	return next == UINT64_MAX ? -1 : (int)((next - now) / 1000000) + 1;
}

static void on_child(int number) {}

/* Keeps what it needs to put scripts into namespaces and under their user. */
static int runner_privileges(void)
{
	static const cap_value_t keep[] = {CAP_SYS_ADMIN, CAP_SETUID, CAP_SETGID, CAP_KILL};
	cap_t caps = cap_init();
	int rc = -ENOMEM;

	if (caps) {
		cap_set_flag(caps, CAP_PERMITTED, 4, keep, CAP_SET);
		cap_set_flag(caps, CAP_EFFECTIVE, 4, keep, CAP_SET);
		rc = cap_set_proc(caps) ? -errno : 0;
	}
	cap_free(caps);
	return rc;
}

static void runner_main(struct runner *r)
{
	struct sigaction child = {.sa_handler = on_child};
	struct pollfd readable = {.fd = r->fd, .events = POLLIN};
	sigset_t blocked, open;
	bool alive = true;

	prctl(PR_SET_NAME, "weir-mon-run");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGTERM, SIG_IGN); /* weir-mon tells us */
	signal(SIGINT, SIG_IGN);
	sigaction(SIGCHLD, &child, NULL);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGCHLD);
	sigprocmask(SIG_BLOCK, &blocked, &open);
	if (runner_privileges())
		log_warning("external: privileges: %s", strerror(errno));
	while (alive) {
		int wait = scripts_expire(r);
		struct timespec ts = {wait / 1000, wait % 1000 * 1000000l};
		int n = ppoll(&readable, 1, wait < 0 ? NULL : &ts, &open);

		if (n > 0)
			alive = request_take(r);
		scripts_reap(r);
	}
	for (unsigned i = 0; i < RUNNER_SCRIPTS_MAX; i++)
		if (r->scripts[i].pid)
			kill(r->scripts[i].pid, SIGKILL);
	_exit(0);
}

/* --- weir-mon's side ---------------------------------------------------------------------------- */

struct mon_runner *mon_runner_new(uid_t uid, gid_t gid, const char *hide)
{
	struct mon_runner *r = calloc(1, sizeof(*r));
	int pair[2], error;

	if (!r || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		free(r);
		return NULL;
	}
	r->pid = fork();
	if (r->pid == 0) {
		static struct runner own;

		close(pair[0]);
		own = (struct runner){.fd = pair[1], .uid = uid, .gid = gid, .hide = hide};
		runner_main(&own);
	}
	error = errno;
	close(pair[1]);
	r->fd = pair[0];
	if (r->pid > 0 && fcntl(r->fd, F_SETFL, O_NONBLOCK) == 0)
		return r;
	close(r->fd);
	free(r);
	errno = error;
	return NULL;
}

void mon_runner_free(struct mon_runner *r)
{
	if (!r)
		return;
	close(r->fd);
	waitpid(r->pid, NULL, 0);
	free(r);
}

int mon_runner_start(struct mon_runner *r, uint64_t id, const char *strings, uint32_t length,
	unsigned argc, unsigned envc, unsigned seconds, int out)
{
	struct request q = {id, RUNNER_START, seconds, argc, envc};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct iovec parts[2] = {{&q, sizeof(q)}, {(char *)strings, length}};
	struct msghdr message = {.msg_iov = parts,
		.msg_iovlen = 2,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};

	if (length > RUNNER_MESSAGE_MAX)
		return -E2BIG;
	memcpy(CMSG_DATA(&control.header), &out, sizeof(out));
	return sendmsg(r->fd, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

void mon_runner_stop(struct mon_runner *r, uint64_t id, bool gently)
{
	struct request q = {.id = id, .op = gently ? RUNNER_STOP_GENTLY : RUNNER_STOP};

	/* If this is lost the script's own time ends it. */
	if (send(r->fd, &q, sizeof(q), MSG_NOSIGNAL) < 0)
		log_debug("external: stop: %s", strerror(errno));
}
