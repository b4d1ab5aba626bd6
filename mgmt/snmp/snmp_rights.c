/* SPDX-License-Identifier: BSD-3-Clause */
#include "snmp/snmp_rights.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"

static int faulty(int rc)
{
	if (rc)
		log_error("privileges: cannot be given up: %s", strerror(-rc));
	return rc;
}

static int capabilities(const char *text)
{
	cap_t set = geteuid() == 0 || prctl(PR_GET_KEEPCAPS) ? cap_from_text(text) : NULL;
	int rc;

	if (!set)
		return 0;
	rc = cap_set_proc(set) ? -errno : 0;
	cap_free(set);
	return rc;
}

int snmp_rights_keeper(void)
{
	int rc = capabilities("cap_setuid,cap_setgid,cap_kill,cap_net_bind_service=ep");

	return faulty(rc ? rc : rights_seal());
}

static int refuse(scmp_filter_ctx filter, const int *calls, size_t count)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), calls[i], 0);
	/* Threads, not processes; clone3 hides its flags, libc then takes clone. */
	if (rc == 0)
		rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
			SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
	if (rc == 0)
		rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	return rc;
}

static int agent_filter(void)
{
	static const int refused[] = {RIGHTS_REFUSED_CALLS(SCMP_SYS), SCMP_SYS(bind)};
	scmp_filter_ctx filter = NULL;
	int rc = -ENOMEM;

#ifdef WEIR_SANITIZE
	return 0; /* its end needs some of these */
#endif
	filter = seccomp_init(SCMP_ACT_ALLOW);
	if (filter)
		rc = refuse(filter, refused, sizeof(refused) / sizeof(*refused));
	if (rc == 0)
		rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 1,
			SCMP_A0(SCMP_CMP_NE, AF_UNIX));
	if (rc == 0)
		rc = seccomp_load(filter);
	seccomp_release(filter);
	return rc;
}

int snmp_rights_agent(const struct identity *id)
{
	int rc = rights_become(id);

	if (rc == 0)
		rc = rights_keep(-1);
	if (rc == 0)
		rc = rights_seal();
	if (rc == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL))
		rc = -errno;
	return faulty(rc ? rc : agent_filter());
}

static int snmpd_filter(void)
{
	static const int refused[] = {SCMP_SYS(fork), SCMP_SYS(vfork), SCMP_SYS(ptrace),
		SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(mount),
		SCMP_SYS(umount2), SCMP_SYS(pivot_root), SCMP_SYS(chroot), SCMP_SYS(setns),
		SCMP_SYS(unshare), SCMP_SYS(bpf), SCMP_SYS(perf_event_open), SCMP_SYS(keyctl),
		SCMP_SYS(add_key), SCMP_SYS(request_key), SCMP_SYS(init_module),
		SCMP_SYS(finit_module), SCMP_SYS(kexec_load), SCMP_SYS(userfaultfd),
		SCMP_SYS(io_uring_setup), SCMP_SYS(symlink), SCMP_SYS(symlinkat), SCMP_SYS(link),
		SCMP_SYS(linkat), SCMP_SYS(mknod), SCMP_SYS(mknodat)};
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int rc = -ENOMEM;

	if (filter)
		rc = refuse(filter, refused, sizeof(refused) / sizeof(*refused));
	if (rc == 0)
		rc = seccomp_load(filter);
	seccomp_release(filter);
	return rc;
}

int snmp_rights_snmpd(const struct identity *id, bool serves)
{
	bool root = geteuid() == 0;
	int rc = root && prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) ? -errno : 0;

	if (rc == 0)
		rc = rights_become(id);
	if (rc == 0 && root)
		rc = capabilities(serves ? "cap_net_bind_service=eip" : "=");
	if (rc == 0 && root && serves)
		rc = prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_BIND_SERVICE, 0, 0)
			     ? -errno
			     : 0;
	if (rc == 0)
		rc = rights_seal();
	if (rc == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL))
		rc = -errno;
	if (rc == 0 && serves)
		rc = snmpd_filter();
	return faulty(rc);
}
