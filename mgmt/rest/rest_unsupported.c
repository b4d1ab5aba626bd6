/* SPDX-License-Identifier: BSD-3-Clause */
#include "rest/rest_unsupported.h"

#include <string.h>

#include "rest/rest_refuse.h"

#define ALONE "an appliance stands alone: groups of devices are not carried out yet"
#define REMOTE "users of other servers are not carried out yet: Weir's own are auth user"
#define MESSAGES "message routing (SIP, Diameter, generic) is not supported"
#define DNS "Weir has no name server: the DNS module and DNS services are not supported"
#define LOGS "log publishers are not carried out yet"
#define MANAGEMENT "the management network is set up by the machine's own system"
#define FIREWALL "the firewall, DoS and policy enforcement modules are not supported"
#define ACCESS "the access module is not supported"
#define TCL "Tcl and what runs it are not supported"

static const struct {
	const char *path, *reason;
} unsupported[] = {
	/* ---- modules ---- */
	{"gtm", DNS},
	{"security", FIREWALL},
	{"pem", FIREWALL},
	{"apm", ACCESS},
	{"asm", "the application security module is not supported"},
	{"wom", "the acceleration module is not supported"},
	{"ilx", "programs in JavaScript (iRules LX) are not supported"},
	{"vcmp", "Weir runs no guests"},
	/* ---- users and words ---- */
	{"auth/ldap", REMOTE},
	{"auth/radius", REMOTE},
	{"auth/radius-server", REMOTE},
	{"auth/tacacs", REMOTE},
	{"auth/cert-ldap", REMOTE},
	{"auth/remote-role", REMOTE},
	{"auth/remote-user", REMOTE},
	{"auth/source", REMOTE},
	{"cli/alias", "weirsh has no aliases"},
	{"cli/script", TCL},
	{"task/cli/script", TCL},
	/* ---- other devices ---- */
	{"cm/add-to-trust", ALONE},
	{"cm/device-group", ALONE},
	{"cm/remove-from-trust", ALONE},
	{"cm/trust-domain", ALONE},
	{"sys/cluster", ALONE},
	{"sys/failover", ALONE},
	{"sys/ha-group", ALONE},
	/* ---- traffic ---- */
	{"ltm/auth", ACCESS},
	{"ltm/cipher", "cipher groups are not carried out: name ciphers"},
	{"ltm/classification", "classification of traffic is not supported"},
	{"ltm/dns", DNS},
	{"ltm/eviction-policy", "eviction policies are not carried out yet"},
	{"ltm/lsn-log-profile", "large-scale NAT is not supported"},
	{"ltm/lsn-pool", "large-scale NAT is not supported"},
	{"ltm/message-routing", MESSAGES},
	{"ltm/monitor", "Weir has no monitor of this type"},
	{"ltm/persistence", "Weir has no persistence of this type"},
	{"ltm/profile", "Weir has no profile of this type"},
	{"ltm/traffic-class", "traffic classes are not carried out yet"},
	{"ltm/traffic-matching-criteria", "traffic matching criteria are not carried out yet"},
	/* ---- network ---- */
	{"net/address-list", "address lists are not carried out yet"},
	{"net/bwc", "bandwidth control is not carried out yet"},
	{"net/dag-globals", "connections are spread over workers in one way only"},
	{"net/dns-resolver", "names are resolved by the name servers of sys dns alone"},
	{"net/ipsec", "IPsec is not supported"},
	{"net/packet-filter", FIREWALL},
	{"net/lldp-globals", "LLDP is not supported"},
	{"net/port-list", "port lists are not carried out yet"},
	{"net/rate-shaping", "rate classes are not carried out yet"},
	{"net/service-policy", "service policies are not carried out yet"},
	{"net/stp", "ports are not bridged: there is no spanning tree"},
	{"net/stp-globals", "ports are not bridged: there is no spanning tree"},
	{"net/timer-policy", "timer policies are not carried out yet: profiles have idle timeouts"},
	{"net/trunk", "trunks are not carried out yet"},
	{"net/tunnels", "tunnels are not carried out yet"},
	{"net/vlan-group", "VLAN groups are not supported: ports are not bridged"},
	/* ---- system ---- */
	{"sys/application", "iApps are not supported"},
	{"sys/crypto/cert-validator", "certificates are not checked with OCSP yet"},
	{"sys/crypto/csr", "requests for certificates are made where the key is made"},
	{"sys/daemon-log-settings", "LTM's daemons are not there: Weir's journal holds all levels"},
	{"sys/file/ssl-crl", "lists of revoked certificates are not carried out yet"},
	{"sys/icall", TCL},
	{"sys/license", "Weir needs no license"},
	{"sys/log-config", LOGS},
	{"sys/management-ip", MANAGEMENT},
	{"sys/management-route", MANAGEMENT},
	{"sys/management-dhcp", MANAGEMENT},
	{"sys/provision", "Weir has LTM alone, and always: other modules cannot be provisioned"},
	{"sys/sflow", "sFlow is not supported"},
	{"sys/software", "programs are updated by the machine's own packages"},
};

const char *rest_unsupported(const char *path)
{
	const char *reason = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < sizeof(unsupported) / sizeof(*unsupported); i++) {
		size_t n = strlen(unsupported[i].path);

		if (n < longest || strncmp(path, unsupported[i].path, n) ||
			(path[n] && path[n] != '/'))
			continue;
		longest = n;
		reason = unsupported[i].reason;
	}
	return reason;
}

void rest_refuse_unsupported(struct rest_call *call, const char *path, const char *reason)
{
	rest_refuse_with(call, 400, REST_ERROR_CONFIG,
		"01070734:3: Configuration error: %s is not supported: %s", path, reason);
}
