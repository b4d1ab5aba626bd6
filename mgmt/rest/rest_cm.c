/* SPDX-License-Identifier: BSD-3-Clause */
#include "rest/rest_cm.h"

#include <string.h>

#include "rest/rest_command.h"
#include "rest/rest_list.h"
#include "rest/rest_refuse.h"

#define PACKAGES "/mgmt/shared/iapp/package-management-tasks"
#define QUERY_ID "query" /* all queries have one answer: nothing is kept of them */

/* ---- cm/device ---- */

static const char *leaf_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* False: answered. */
static bool is_this_device(struct rest_call *call, const char *name)
{
	json_t *device = rest_ask_row(call,
		json_pack("{s:s, s:s, s:s}", "op", "list", "form", "rest", "kind", "cm device"));
	bool same = device && !strcmp(leaf_of(name), rest_word(device, "name"));

	if (!device)
		rest_refuse_item(call);
	else if (!same)
		rest_refuse_with(call, 404, REST_ERROR_CONFIG,
			"01020036:3: The requested device (%s) was not found.", name);
	json_decref(device);
	return same;
}

void rest_device_move(struct rest_call *call)
{
	const char *target = leaf_of(rest_word(call->body, "target"));

	if (strcmp(rest_word(call->body, "command"), "mv") || !*target) {
		rest_refuse_with(
			call, 400, REST_ERROR_VALUE, "only mv with name and target is supported");
		return;
	}
	if (!is_this_device(call, rest_word(call->body, "name")))
		return;
	if (rest_ask(call,
		    json_pack("{s:s, s:s, s:{s:s}}", "op", "modify", "kind", "sys global-settings",
			    "body", "hostname", target),
		    NULL, NULL, NULL))
		rest_reply_echo(call, "tm:cm:device:mvstate", NULL);
	else
		rest_refuse_item(call);
}

/* ---- cm ---- */

void rest_config_sync(struct rest_call *call)
{
	const char *arguments = rest_word(call->body, "utilCmdArgs");
	const char *group = strrchr(arguments, ' ');
	json_t *who = rest_whoami(call);

	if (!who)
		return;
	json_decref(who);
	if (strcmp(rest_word(call->body, "command"), "run") ||
		strncmp(arguments, "config-sync ", strlen("config-sync ")) != 0)
		rest_refuse_with(
			call, 400, REST_ERROR_VALUE, "only run with config-sync is known here");
	else
		rest_refuse_with(call, 404, REST_ERROR_CONFIG,
			"01020036:3: The requested device group (/Common/%s) was not found.",
			leaf_of(group + 1));
}

void rest_cm_queue(struct rest_call *call)
{
	json_t *who = rest_whoami(call);

	if (who)
		rest_refuse_with(call, 400, REST_ERROR_TRANSACTION,
			"transaction failed:commands of cm cannot be part of a transaction");
	json_decref(who);
}

/* ---- packages ---- */

static void reply_query(struct rest_call *call)
{
	http_reply_json(call->http, 200,
		json_pack("{s:s, s:s, s:s, s:[], s:s, s:s}", "id", QUERY_ID, "status", "FINISHED",
			"operation", "QUERY", "queryResponse", "kind",
			"shared:iapp:package-management-tasks:iapppackagemanagementtaskstate",
			"selfLink", "https://localhost" PACKAGES "/" QUERY_ID));
}

void rest_packages(struct rest_call *call)
{
	const char *behind = call->http->path + strlen(PACKAGES);
	bool post = call->http->method == HTTP_POST;
	json_t *who = rest_whoami(call);

	if (!who)
		return;
	json_decref(who);
	if (post && strcmp(rest_word(call->body, "operation"), "QUERY") != 0)
		rest_refuse_with(call, 400, REST_ERROR_VALUE,
			"Packages (iApps LX, AS3, DO) are not supported.");
	else if (post ? !*behind : !strcmp(behind, "/" QUERY_ID))
		reply_query(call);
	else
		rest_refuse_with(call, 404, REST_ERROR_FRAMEWORK, "Task not found: %s", behind);
}
