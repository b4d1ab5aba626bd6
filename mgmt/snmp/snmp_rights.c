/* SPDX-License-Identifier: BSD-3-Clause */
#include "snmp/snmp_rights.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/calls.h"
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

int snmp_rights_agent(const struct identity *id)
{
	int rc = rights_drop(id, -1);

	if (rc == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL))
		rc = faulty(-errno);
	return rc ? rc : calls_refuse(CALLS_OWN | CALLS_PROCESSES | CALLS_REMOTE);
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
	if (rc || !serves)
		return faulty(rc);
	return calls_refuse(CALLS_PROCESSES);
}
