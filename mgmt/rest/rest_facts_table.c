/* SPDX-License-Identifier: BSD-3-Clause */
#include "rest/rest_facts.h"

#define EMPTY(path)                                                                                \
	{                                                                                          \
		path, FACT_LIST, "[]"                                                              \
	}
#define MODULE(name, level)                                                                        \
	"{\"name\":\"" name "\",\"level\":\"" level                                                \
	"\",\"cpuRatio\":0,\"diskRatio\":0,\"memoryRatio\":0}"
#define PRODUCT                                                                                    \
	"\"Build\":{\"description\":\"$weir$\"},\"Date\":{\"description\":\"$date$\"},"            \
	"\"Edition\":{\"description\":\"Weir $weir$\"},\"Product\":{\"description\":\"BIG-IP\"},"  \
	"\"Title\":{\"description\":\"Main Package\"},\"Version\":{\"description\":\"$version$\"}"

const struct rest_fact rest_facts[] = {
	/* ---- who this is ---- */
	{"sys/version", FACT_STATS, "{\"/0\":{" PRODUCT "}}"},
	{"cli/version", FACT_STATS,
		"{\"/0\":{\"active\":{\"description\":\"$version$\"},"
		"\"latest\":{\"description\":\"$version$\"},"
		"\"supported\":{\"description\":\"$version$\"}}}"},
	{"sys/ready", FACT_STATS,
		"{\"/0\":{\"configReady\":{\"description\":\"yes\"},"
		"\"licenseReady\":{\"description\":\"yes\"},"
		"\"provisionReady\":{\"description\":\"$in-force$\"}}}"},
	{"sys/available", FACT_ITEM, "{}"},
	{"sys/mcp-state", FACT_STATS,
		"{\"/0\":{\"phase\":{\"description\":\"running\"},"
		"\"lastLoad\":{\"description\":\"full-config-load-succeed\"},"
		"\"endPlatformIdReceived\":{\"description\":\"true\"}}}"},
	{"sys/clock", FACT_STATS, "{\"/0\":{\"fullDate\":{\"description\":\"$date$\"}}}"},
	{"sys/license", FACT_STATS,
		"{\"/0\":{\"licensedVersion\":{\"description\":\"$version$\"},"
		"\"licensedOnDate\":{\"description\":\"1970/01/01\"},"
		"\"registrationKey\":{\"description\":\"none\"},"
		"\"platformId\":{\"description\":\"Weir\"}}}"},
	{"sys/hardware", FACT_STATS,
		"{\"/platform\":{\"/0\":{\"baseMac\":{\"description\":\"$mac$\"},"
		"\"biosRev\":{\"description\":\"none\"},"
		"\"marketingName\":{\"description\":\"Weir\"},"
		"\"pvaVersion\":{\"description\":\"none\"}}},"
		"\"/hardware-version\":{\"/platform\":{\"model\":{\"description\":\"Weir\"},"
		"\"tmName\":{\"description\":\"platform\"}}},"
		"\"/system-info\":{\"/0\":{\"bigipChassisSerialNum\":{\"description\":\"none\"},"
		"\"hostBoardPartRevNum\":{\"description\":\"none\"},"
		"\"hostBoardSerialNum\":{\"description\":\"none\"},"
		"\"platform\":{\"description\":\"Weir\"},"
		"\"switchBoardPartRevNum\":{\"description\":\"none\"},"
		"\"switchBoardSerialNum\":{\"description\":\"none\"}}}}"},
	{"sys/provision", FACT_LIST,
		"[" MODULE("ltm", "nominal") "," MODULE("afm", "none") "," MODULE(
			"am", "none") "," MODULE("apm", "none") "," MODULE("asm",
			"none") "," MODULE("avr", "none") "," MODULE("gtm",
			"none") "," MODULE("ilx", "none") "," MODULE("lc", "none") "," MODULE("pem",
			"none") "," MODULE("swg", "none") "," MODULE("urldb", "none") "]"},
	{"sys/performance/all-stats", FACT_STATS, "{}"},
	{"auth/source", FACT_ITEM, "{\"fallback\":\"false\",\"type\":\"local\"}"},
	{"sys/software/volume", FACT_LIST,
		"[{\"name\":\"HD1.1\",\"active\":true,\"basebuild\":\"$weir$\",\"build\":\"$weir$"
		"\","
		"\"product\":\"BIG-IP\",\"status\":\"complete\",\"version\":\"$version$\"}]"},
	/* ---- one machine alone ---- */
	{"cm/failover-status", FACT_STATS,
		"{\"/0\":{\"color\":{\"description\":\"green\"},"
		"\"status\":{\"description\":\"ACTIVE\"},"
		"\"summary\":{\"description\":\"1/1 active\"}}}"},
	{"cm/sync-status", FACT_STATS,
		"{\"/0\":{\"color\":{\"description\":\"green\"},"
		"\"mode\":{\"description\":\"standalone\"},"
		"\"status\":{\"description\":\"Standalone\"},"
		"\"summary\":{\"description\":\" \"}}}"},
	{"sys/failover", FACT_ITEM,
		"{\"apiRawValues\":{\"apiAnonymous\":\"Failover active for $uptime$ "
		"seconds\\n\"}}"},
	EMPTY("cm/device-group"), EMPTY("cm/trust-domain"),
	/* ---- types that Weir has not: clients look through the lists ---- */
	EMPTY("ltm/monitor/diameter"), EMPTY("ltm/monitor/firepass"),
	EMPTY("ltm/monitor/module-score"), EMPTY("ltm/monitor/mqtt"), EMPTY("ltm/monitor/mssql"),
	EMPTY("ltm/monitor/none"), EMPTY("ltm/monitor/oracle"),
	EMPTY("ltm/monitor/radius-accounting"), EMPTY("ltm/monitor/real-server"),
	EMPTY("ltm/monitor/rpc"), EMPTY("ltm/monitor/sasp"), EMPTY("ltm/monitor/scripted"),
	EMPTY("ltm/monitor/smb"), EMPTY("ltm/monitor/snmp-dca-base"), EMPTY("ltm/monitor/soap"),
	EMPTY("ltm/monitor/virtual-location"), EMPTY("ltm/monitor/wap"), EMPTY("ltm/monitor/wmi"),
	EMPTY("ltm/message-routing/sip/profile/router"),
	EMPTY("ltm/message-routing/diameter/profile/session"),
	EMPTY("ltm/message-routing/diameter/profile/router"),
	EMPTY("ltm/message-routing/generic/protocol"), EMPTY("ltm/message-routing/generic/router"),
	EMPTY("ltm/profile/certificate-authority"), EMPTY("ltm/profile/classification"),
	EMPTY("ltm/profile/client-ldap"), EMPTY("ltm/profile/connector"),
	EMPTY("ltm/profile/dns-logging"), EMPTY("ltm/profile/fix"), EMPTY("ltm/profile/gtp"),
	EMPTY("ltm/profile/html"), EMPTY("ltm/profile/icap"), EMPTY("ltm/profile/iiop"),
	EMPTY("ltm/profile/ipother"), EMPTY("ltm/profile/ipsecalg"), EMPTY("ltm/profile/mblb"),
	EMPTY("ltm/profile/mqtt"), EMPTY("ltm/profile/mssql"), EMPTY("ltm/profile/netflow"),
	EMPTY("ltm/profile/ntlm"), EMPTY("ltm/profile/ocsp-stapling-params"),
	EMPTY("ltm/profile/pptp"), EMPTY("ltm/profile/qoe"), EMPTY("ltm/profile/radius"),
	EMPTY("ltm/profile/request-adapt"), EMPTY("ltm/profile/request-log"),
	EMPTY("ltm/profile/response-adapt"), EMPTY("ltm/profile/rewrite"),
	EMPTY("ltm/profile/rtsp"), EMPTY("ltm/profile/sctp"), EMPTY("ltm/profile/server-ldap"),
	EMPTY("ltm/profile/smtp"), EMPTY("ltm/profile/smtps"), EMPTY("ltm/profile/socks"),
	EMPTY("ltm/profile/spdy"), EMPTY("ltm/profile/statistics"), EMPTY("ltm/profile/tftp"),
	EMPTY("ltm/profile/web-security"), EMPTY("ltm/profile/websocket"), EMPTY("ltm/profile/xml"),
	EMPTY("ltm/auth/profile"), EMPTY("ltm/cipher/group"), EMPTY("ltm/cipher/rule"),
	EMPTY("ltm/eviction-policy"), EMPTY("ltm/lsn-pool"), EMPTY("ltm/traffic-class"),
	/* ---- network ---- */
	EMPTY("net/address-list"), EMPTY("net/dns-resolver"), EMPTY("net/port-list"),
	EMPTY("net/timer-policy"), EMPTY("net/trunk"), EMPTY("net/tunnels/fec"),
	EMPTY("net/tunnels/geneve"), EMPTY("net/tunnels/gre"), EMPTY("net/tunnels/ipip"),
	EMPTY("net/tunnels/tunnel"), EMPTY("net/tunnels/vxlan"), EMPTY("net/vlan-group"),
	/* ---- system ---- */
	EMPTY("sys/cluster"), EMPTY("sys/application/service"), EMPTY("sys/application/template"),
	EMPTY("sys/file/ssl-crl"), EMPTY("sys/management-ip"), EMPTY("sys/management-route"),
	EMPTY("sys/snmp/communities"), EMPTY("sys/snmp/traps"), EMPTY("sys/snmp/users"),
	EMPTY("sys/software/hotfix"), EMPTY("sys/software/image"), EMPTY("sys/software/update"),
	/* ---- modules that Weir has not ---- */
	EMPTY("gtm/datacenter"), EMPTY("gtm/rule"), EMPTY("gtm/server"),
	EMPTY("security/firewall/policy"), EMPTY("security/log/profile"), {0}};
