/* SPDX-License-Identifier: BSD-3-Clause */
#include "snmp/snmp_agent.h"

#include <net-snmp/net-snmp-config.h>

#include <net-snmp/net-snmp-includes.h>

#include <net-snmp/agent/net-snmp-agent-includes.h>
#include <net-snmp/agent/agent_callbacks.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "base/log.h"
#include "snmp/snmp_fetch.h"
#include "snmp/snmp_tree.h"

#define PING_SECONDS 1 /* between attempts to reach snmpd, and looks whether it is still there */

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
	stopped = 1;
}

static void answer_one(netsnmp_agent_request_info *info, netsnmp_request_info *r,
	const struct snmp_data *data, bool next)
{
	netsnmp_variable_list *var = r->requestvb;
	struct snmp_place place;

	if (!data || !snmp_tree_find(data, var->name, var->name_length, next, &place)) {
		if (!next)
			netsnmp_set_request_error(info, r, SNMP_NOSUCHINSTANCE);
		return;
	}
	if (next)
		snmp_set_var_objid(var, place.name, place.length);
	if (snmp_tree_value(&place, var))
		netsnmp_set_request_error(info, r, SNMP_ERR_GENERR);
}

static int on_request(netsnmp_mib_handler *handler, netsnmp_handler_registration *registration,
	netsnmp_agent_request_info *info, netsnmp_request_info *requests)
{
	const struct snmp_data *data;

	if (info->mode != MODE_GET && info->mode != MODE_GETNEXT)
		return SNMP_ERR_NOERROR;
	data = snmp_fetch_get();
	for (netsnmp_request_info *r = requests; r; r = r->next)
		if (!r->processed)
			answer_one(info, r, data, info->mode == MODE_GETNEXT);
	snmp_fetch_put(data);
	return SNMP_ERR_NOERROR;
}

static int on_session(int major, int minor, void *server, void *client)
{
	snmp_fetch_serving(minor == SNMPD_CALLBACK_INDEX_START);
	return 0;
}

static int tree_register(const char *name, const oid *place, size_t length)
{
	netsnmp_handler_registration *r = netsnmp_create_handler_registration(
		name, on_request, place, length, HANDLER_CAN_RONLY);

	return r && netsnmp_register_handler(r) == MIB_REGISTERED_OK ? 0 : -ENOMEM;
}

/* Without any file of net-snmp's: all it must know is here. */
static void library_settings(const char *socket)
{
	char address[200];

	snprintf(address, sizeof(address), "unix:%s", socket);
	setenv("MIBS", "", 1);
	netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DONT_READ_CONFIGS, 1);
	netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DONT_PERSIST_STATE, 1);
	netsnmp_ds_set_boolean(NETSNMP_DS_APPLICATION_ID, NETSNMP_DS_AGENT_ROLE, 1);
	netsnmp_ds_set_string(NETSNMP_DS_APPLICATION_ID, NETSNMP_DS_AGENT_X_SOCKET, address);
	snmp_enable_stderrlog();
	netsnmp_ds_set_boolean(
		NETSNMP_DS_APPLICATION_ID, NETSNMP_DS_AGENT_NO_CONNECTION_WARNINGS, 1);
}

int snmp_agent_run(const char *socket)
{
	static const oid system_tree[] = {1, 3, 6, 1, 4, 1, 3375, 2, 1};
	static const oid ltm_tree[] = {1, 3, 6, 1, 4, 1, 3375, 2, 2};
	struct sigaction action = {.sa_handler = on_signal};
	int rc = snmp_tree_init();

	if (rc)
		return rc;
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	library_settings(socket);
	init_agent("weir-snmp");
	/* which has set it to its own */
	netsnmp_ds_set_int(
		NETSNMP_DS_APPLICATION_ID, NETSNMP_DS_AGENT_AGENTX_PING_INTERVAL, PING_SECONDS);
	snmp_register_callback(
		SNMP_CALLBACK_APPLICATION, SNMPD_CALLBACK_INDEX_START, on_session, NULL);
	snmp_register_callback(
		SNMP_CALLBACK_APPLICATION, SNMPD_CALLBACK_INDEX_STOP, on_session, NULL);
	rc = tree_register("weirSystem", system_tree, OID_LENGTH(system_tree));
	if (rc == 0)
		rc = tree_register("weirLtm", ltm_tree, OID_LENGTH(ltm_tree));
	init_snmp("weir-snmp");
	while (rc == 0 && !stopped)
		agent_check_and_process(1);
	snmp_shutdown("weir-snmp");
	shutdown_agent();
	snmp_tree_fini();
	return rc;
}
