/* SPDX-License-Identifier: BSD-3-Clause */
#include "main/privileges.h"

#include <dirent.h>
#include <errno.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

#define THREADS_WAIT_MS 5000

static int fail(const char *what, int err)
{
	log_error("privileges: %s: %s", what, strerror(-err));
	return err;
}

static unsigned threads_done;

/* Capabilities and their way back belong to a thread, and DPDK's threads run already: each gives up its
 * own, here. */
static void drop_here(int number)
{
	if (rights_keep(-1) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		__atomic_fetch_add(&threads_done, 1, __ATOMIC_RELAXED);
}

/* Sends the signal to every thread. How many there are, or -errno. */
static int signal_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *d;
	int count = 0;

	if (!tasks)
		return -errno;
	while ((d = readdir(tasks))) {
		int thread = atoi(d->d_name);
		if (thread > 0 && syscall(SYS_tgkill, getpid(), thread, SIGUSR1) == 0)
			count++;
	}
	closedir(tasks);
	return count;
}

static int drop_capabilities(void)
{
	const struct sigaction drop = {.sa_handler = drop_here, .sa_flags = SA_RESTART};
	const struct timespec step = {.tv_nsec = 1000000};

	if (sigaction(SIGUSR1, &drop, NULL) < 0)
		return fail("capabilities", -errno);
	int count = signal_threads();
	if (count < 0)
		return fail("capabilities", count);
	for (int i = 0; i < THREADS_WAIT_MS; i++) {
		if (__atomic_load_n(&threads_done, __ATOMIC_RELAXED) == (unsigned)count) {
			signal(SIGUSR1, SIG_IGN);
			return 0;
		}
		nanosleep(&step, NULL);
	}
	return fail("capabilities", -ETIMEDOUT);
}

/* The sanitizers' own calls at the end of the process are not worth a second list. */
#ifdef WEIR_SANITIZE

static int filter_calls(void)
{
	return 0;
}

#else

/*
 * What serving needs: packets (AF_PACKET, AF_XDP: already open), control socket, taps, memory, time,
 * threads, and an orderly end. No new sockets, no programs, no other processes.
 */
static const int calls[] = {
	/* packets, control socket, taps */
	SCMP_SYS(sendto),
	SCMP_SYS(recvfrom),
	SCMP_SYS(sendmsg),
	SCMP_SYS(recvmsg),
	SCMP_SYS(read),
	SCMP_SYS(write),
	SCMP_SYS(readv),
	SCMP_SYS(writev),
	SCMP_SYS(poll),
	SCMP_SYS(ppoll),
	SCMP_SYS(accept4),
	SCMP_SYS(epoll_wait),
	SCMP_SYS(epoll_pwait),
	SCMP_SYS(epoll_ctl),
	SCMP_SYS(ioctl),
	SCMP_SYS(fcntl),
	SCMP_SYS(getsockopt),
	SCMP_SYS(setsockopt),
	SCMP_SYS(openat),
	SCMP_SYS(close),
	SCMP_SYS(fstat),
	SCMP_SYS(newfstatat),
	SCMP_SYS(lseek),
	SCMP_SYS(pread64),
	SCMP_SYS(pwrite64),
	/* memory */
	SCMP_SYS(mmap),
	SCMP_SYS(munmap),
	SCMP_SYS(mprotect),
	SCMP_SYS(mremap),
	SCMP_SYS(madvise),
	SCMP_SYS(brk),
	/* time and threads */
	SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(nanosleep),
	SCMP_SYS(futex),
	SCMP_SYS(sched_yield),
	SCMP_SYS(sched_getaffinity),
	SCMP_SYS(prctl),
	SCMP_SYS(getpid),
	SCMP_SYS(gettid),
	SCMP_SYS(tgkill),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(set_robust_list),
	SCMP_SYS(rseq),
	SCMP_SYS(getrandom),
	/* the end */
	SCMP_SYS(unlink),
	SCMP_SYS(rmdir),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
};

static int filter_calls(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int err = filter ? 0 : -ENOMEM;

	for (size_t i = 0; err == 0 && i < sizeof(calls) / sizeof(calls[0]); i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
	if (err == 0)
		err = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	if (err == 0)
		err = seccomp_load(filter);
	seccomp_release(filter);
	return err ? fail("system call filter", err) : 0;
}

#endif

int privileges_drop(const struct identity *id)
{
	int err = rights_become(id);

	if (err)
		fail("user", err);
	else
		err = drop_capabilities();
	return err ? err : filter_calls();
}
