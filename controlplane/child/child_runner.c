/* SPDX-License-Identifier: BSD-3-Clause */
#include "child/child_runner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "child/child_program.h"

#define GRACE_NS 1000000000ull
#define NS_IN_S 1000000000ull

enum { DESCRIPTORS_MAX = 3 };
enum { RUNNER_START, RUNNER_STOP, RUNNER_STOP_GENTLY };

struct request {
	uint64_t id;
	uint32_t op, seconds;
	uint32_t argc, envc;
	bool report;	  /* tell how it ended */
	bool in, program; /* which descriptors come behind that of the output */
};

/* How a program has ended. */
struct report {
	uint64_t id;
	int status;
};

struct child_runner {
	int fd;
	pid_t pid;
};

/* --- the runner's own process ------------------------------------------------------------------- */

struct script {
	uint64_t id, deadline_ns;
	pid_t pid; /* 0: free */
	bool report;
};

struct runner {
	int fd;
	const char *name;
	struct child_limits limits;
	struct script scripts[RUNNER_SCRIPTS_MAX];
};

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
	struct runner *r, const struct request *q, char *text, size_t length, const int *fds)
{
	struct child_descriptors fd = {.out = fds[0],
		.in = q->in ? fds[1] : -1,
		.program = q->program ? fds[1 + q->in] : -1};
	struct child_limits limits = r->limits;
	char *argv[256], *envp[256];
	struct script *free_one = NULL;

	for (unsigned i = 0; i < RUNNER_SCRIPTS_MAX && !free_one; i++)
		if (!r->scripts[i].pid)
			free_one = &r->scripts[i];
	if (!free_one) {
		child_refuse(fd.out, "too many scripts run");
		return;
	}
	if (!q->argc || q->argc > 255 || q->envc > 255)
		return;
	size_t taken = strings_cut(text, length, q->argc, argv);
	if (taken > length ||
		strings_cut(text + taken, length - taken, q->envc, envp) > length - taken)
		return;
	limits.seconds = q->seconds;
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC,
		NULL, NULL, NULL, NULL);
	if (pid == 0)
		child_exec(&limits, &fd, argv, envp);
	if (pid < 0) {
		log_error("%s: %s: cannot be started: %s", r->name, argv[0], strerror(errno));
		child_refuse(fd.out, strerror(errno));
		return;
	}
	*free_one = (struct script){q->id, clock_ns() + q->seconds * NS_IN_S, pid, q->report};
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

/* Descriptors of a message, as many as there are; the others -1. */
static void descriptors_take(struct msghdr *message, int fds[DESCRIPTORS_MAX])
{
	struct cmsghdr *c = CMSG_FIRSTHDR(message);

	for (int i = 0; i < DESCRIPTORS_MAX; i++)
		fds[i] = -1;
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
}

/* False: who asks is gone. */
static bool request_take(struct runner *r)
{
	static char buffer[sizeof(struct request) + RUNNER_MESSAGE_MAX];
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
	} control;
	struct iovec part = {buffer, sizeof(buffer)};
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	struct request q;
	int fds[DESCRIPTORS_MAX];

	ssize_t n = recvmsg(r->fd, &message, MSG_CMSG_CLOEXEC);
	if (n <= 0)
		return n < 0 && errno == EINTR;
	descriptors_take(&message, fds);
	if ((size_t)n >= sizeof(q)) {
		memcpy(&q, buffer, sizeof(q));
		if (q.op != RUNNER_START)
			script_stop(r, &q);
		else if (fds[q.in + q.program] >= 0)
			script_start(r, &q, buffer + sizeof(q), (size_t)n - sizeof(q), fds);
	}
	for (int i = 0; i < DESCRIPTORS_MAX; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	explicit_bzero(buffer, (size_t)n); /* variables may be passwords */
	return true;
}

/* If it is not told, who waits finds out by his own time. */
static void report_send(const struct runner *r, const struct script *s, int status)
{
	struct report report = {.id = s->id, .status = status};

	if (s->report && send(r->fd, &report, sizeof(report), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		log_warning("%s: report: %s", r->name, strerror(errno));
}

static void scripts_reap(struct runner *r)
{
	pid_t pid;
	int status;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (unsigned i = 0; i < RUNNER_SCRIPTS_MAX; i++)
			if (r->scripts[i].pid == pid) {
				report_send(r, &r->scripts[i], status);
				r->scripts[i].pid = 0;
			}
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

	prctl(PR_SET_NAME, r->name);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGTERM, SIG_IGN); /* who started us tells us */
	signal(SIGINT, SIG_IGN);
	sigaction(SIGCHLD, &child, NULL);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGCHLD);
	sigprocmask(SIG_BLOCK, &blocked, &open);
	if (runner_privileges())
		log_warning("%s: privileges: %s", r->name, strerror(errno));
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

/* --- the side of who asks ------------------------------------------------------------------------ */

struct child_runner *child_runner_new(const char *name, uid_t uid, gid_t gid, const char *hide)
{
	struct child_runner *r = calloc(1, sizeof(*r));
	int pair[2], error;

	if (!r || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		free(r);
		return NULL;
	}
	r->pid = fork();
	if (r->pid == 0) {
		static struct runner own;

		close(pair[0]);
		own = (struct runner){.fd = pair[1],
			.name = name,
			.limits = {.uid = uid, .gid = gid, .hide = hide}};
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

void child_runner_free(struct child_runner *r)
{
	if (!r)
		return;
	close(r->fd);
	waitpid(r->pid, NULL, 0);
	free(r);
}

int child_runner_start(struct child_runner *r, uint64_t id, const struct child_program *p)
{
	bool in = p->in >= 0, program = p->program >= 0;
	struct request q = {id, RUNNER_START, p->seconds, p->argc, p->envc, p->report, in, program};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
	} control = {0};
	size_t bytes = (1u + in + program) * sizeof(int);
	int fds[DESCRIPTORS_MAX] = {p->out, in ? p->in : p->program, p->program};
	struct iovec parts[2] = {{&q, sizeof(q)}, {(char *)p->strings, p->length}};
	struct msghdr message = {.msg_iov = parts,
		.msg_iovlen = 2,
		.msg_control = &control,
		.msg_controllen = CMSG_SPACE(bytes)};

	if (p->length > RUNNER_MESSAGE_MAX)
		return -E2BIG;
	control.header = (struct cmsghdr){CMSG_LEN(bytes), SOL_SOCKET, SCM_RIGHTS};
	memcpy(CMSG_DATA(&control.header), fds, bytes);
	return sendmsg(r->fd, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int child_runner_fd(const struct child_runner *r)
{
	return r->fd;
}

int child_runner_ended(struct child_runner *r, uint64_t *id, int *status)
{
	struct report report;
	ssize_t n = recv(r->fd, &report, sizeof(report), MSG_DONTWAIT);

	if (n != sizeof(report))
		return n < 0 ? -errno : -EPIPE;
	*id = report.id;
	*status = report.status;
	return 0;
}

void child_runner_stop(struct child_runner *r, uint64_t id, bool gently)
{
	struct request q = {.id = id, .op = gently ? RUNNER_STOP_GENTLY : RUNNER_STOP};

	/* If this is lost the script's own time ends it. */
	if (send(r->fd, &q, sizeof(q), MSG_NOSIGNAL) < 0)
		log_debug("child: stop: %s", strerror(errno));
}
