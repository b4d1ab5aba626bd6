/* SPDX-License-Identifier: BSD-3-Clause */
#include "rest/rest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rest/rest_cm.h"
#include "rest/rest_command.h"
#include "rest/rest_download.h"
#include "rest/rest_facts.h"
#include "rest/rest_login.h"
#include "rest/rest_machine.h"
#include "rest/rest_refuse.h"
#include "rest/rest_transaction.h"
#include "rest/rest_files.h"
#include "rest/rest_ucs.h"
#include "rest/rest_unsupported.h"
#include "rest/rest_upload.h"

#define VALUES_MAX 131072u /* of a body: about; ten thousand pool members have fewer */
#define UPLOADS "/mgmt/shared/file-transfer/uploads" /* bodies are files */

bool rest_version_ok(const char *version)
{
	unsigned a, b, c;
	char rest;

	return strlen(version) < 16 && sscanf(version, "%u.%u.%u%c", &a, &b, &c, &rest) == 3 &&
	       strspn(version, "0123456789.") == strlen(version);
}

struct rest *rest_new(const struct rest_settings *settings)
{
	struct rest *rest = calloc(1, sizeof(*rest));

	if (!rest)
		return NULL;
	snprintf(rest->version, sizeof(rest->version), "%s",
		settings->version ? settings->version : REST_VERSION_DEFAULT);
	rest->check_generation = settings->check_generation;
	rest->transactions = rest_transactions_new();
	rest->tasks = rest_tasks_new();
	if (rest->transactions && rest->tasks && rest_files_init(rest, settings->upload_dir) == 0)
		return rest;
	rest_free(rest);
	return NULL;
}

void rest_free(struct rest *rest)
{
	if (!rest)
		return;
	rest_transactions_free(rest->transactions);
	rest_tasks_free(rest->tasks);
	rest_files_fini(rest);
	free(rest);
}

/* For what weir-cp is not asked about. False: answered. */
static bool is_known(struct rest_call *call)
{
	json_t *who = rest_whoami(call);

	json_decref(who);
	return who != NULL;
}

/*
 * What is served and what not is told to users alone. Some clients take a 404 to a change for success: what LTM
 * has and Weir has not is refused as a wrong value.
 */
static void not_registered(struct rest_call *call)
{
	static const char tm[] = "/mgmt/tm/";
	const char *path = call->http->path;
	const char *below = strncmp(path, tm, sizeof(tm) - 1) ? "" : path + sizeof(tm) - 1;
	const char *reason = rest_unsupported(below);

	if (!is_known(call))
		return;
	if (reason && call->http->method != HTTP_GET)
		rest_refuse_unsupported(call, below, reason);
	else
		rest_refuse_with(call, 404, REST_ERROR_FRAMEWORK,
			"Public URI path not registered: %s%s%s",
			strncmp(path, "/mgmt/", 6) ? path : path + 5, reason ? ": " : "",
			reason ? reason : "");
}

/* ---- below /mgmt/tm ---- */

/* What is answered from tables of ours. */
static void handle_known(struct rest_call *call)
{
	if (!is_known(call))
		return;
	if (call->target.what == REST_ORGANISING)
		rest_organise(call);
	else
		rest_read(call);
}

static void handle_fact(struct rest_call *call, const struct rest_fact *fact, const char *item)
{
	if (is_known(call))
		rest_fact_read(call, fact, item);
}

/* A path that is none of the model's own. */
static void handle_other(struct rest_call *call)
{
	const char *const *segments = call->http->segments + 2;
	unsigned count = call->http->segment_count - 2;
	const char *item;
	const struct rest_fact *fact = rest_fact_find(segments, count, &item);

	if (fact) {
		handle_fact(call, fact, item);
	} else if (call->target.what == REST_ORGANISING || rest_fact_below(segments, count)) {
		call->target.what = REST_ORGANISING;
		handle_known(call);
	} else {
		not_registered(call);
	}
}

static bool is_cluster_command(const struct rest_call *call)
{
	return !strcmp(call->http->path, "/mgmt/tm/cm") && call->http->method == HTTP_POST;
}

static bool is_device_command(const struct rest_call *call)
{
	return call->target.kind == KIND_DEVICE && call->target.what == REST_COLLECTION &&
	       call->http->method == HTTP_POST && json_object_get(call->body, "command");
}

static void handle_tm(struct rest_call *call)
{
	const char *coordination = http_header(call->http, REST_COORDINATION);
	const struct rest_target *t = &call->target;
	bool get = call->http->method == HTTP_GET;

	rest_target_find(call->http->segments + 2, call->http->segment_count - 2, &call->target);
	if (coordination && (is_cluster_command(call) || is_device_command(call)))
		rest_cm_queue(call);
	else if (is_cluster_command(call))
		rest_config_sync(call);
	else if (is_device_command(call))
		rest_device_move(call);
	else if (t->what == REST_NOTHING || t->what == REST_ORGANISING)
		handle_other(call);
	else if (!get && coordination)
		rest_transaction_queue(call, coordination);
	else if (!get)
		rest_change(call);
	else if (t->example)
		handle_known(call);
	else if (t->stats)
		rest_stats(call);
	else
		rest_read(call);
}

#define LOGIN "/mgmt/shared/authn/login" /* nothing is below it */

static bool is_below(const struct http_request *r, const char *path)
{
	size_t n = strlen(path);

	return !strncmp(r->path, path, n) && (r->path[n] == '/' || !r->path[n]);
}

static void handle_branch(struct rest_call *call)
{
	static const struct {
		const char *path;
		void (*handle)(struct rest_call *call);
	} branches[] = {
		{"/mgmt/tm/transaction", rest_transaction},
		{"/mgmt/tm/util", rest_util},
		{"/mgmt/tm/sys/ucs", rest_ucs},
		{"/mgmt/tm/task/sys/ucs", rest_ucs_task},
		{"/mgmt/tm/sys/config", rest_config},
		{"/mgmt/tm/sys/crypto/cert", rest_crypto},
		{"/mgmt/tm/sys/crypto/key", rest_crypto},
		{"/mgmt/tm/sys/memory", rest_sys_memory},
		{"/mgmt/tm/sys/cpu", rest_sys_cpu},
		{"/mgmt/tm/sys/host-info", rest_host_info},
		{"/mgmt/tm/sys/hostInfo", rest_host_info},
		{"/mgmt/tm/net/arp", rest_net_arp},
		{"/mgmt/tm/net/ndp", rest_net_arp},
		{"/info/system", rest_info_system},
		{"/mgmt/tm", handle_tm},
		{"/mgmt/shared/authz/tokens", rest_tokens},
		{"/mgmt/shared/authz/users", rest_users},
		{"/mgmt/shared/identified-devices/config/device-info", rest_device_info},
		{UPLOADS, rest_upload},
		{"/mgmt/shared/file-transfer/ucs-downloads", rest_ucs_download},
		{"/mgmt/shared/iapp/package-management-tasks", rest_packages},
		{"/mgmt/shared/file-transfer/downloads", rest_download},
		{"/mgmt/shared/file-transfer/madm", rest_download},
	};

	if (!strcmp(call->http->path, LOGIN)) {
		rest_login(call);
		return;
	}
	for (size_t i = 0; i < sizeof(branches) / sizeof(*branches); i++) {
		if (!is_below(call->http, branches[i].path))
			continue;
		branches[i].handle(call);
		return;
	}
	not_registered(call);
}

/* ---- what a request brings ---- */

static bool has_tag(const struct http_request *r)
{
	if (strpbrk(r->path, "<>"))
		return true;
	for (unsigned i = 0; i < r->query_count; i++)
		if (strpbrk(r->query[i].name, "<>") || strpbrk(r->query[i].value, "<>"))
			return true;
	return false;
}

/* A million bytes of "{}," would take a hundred times as many in memory. */
static bool has_too_many_values(const struct http_request *r)
{
	unsigned marks = 0;
	bool quoted = false;

	if (is_below(r, UPLOADS))
		return false;
	for (size_t i = 0; i < r->body_length; i++) {
		char c = r->body[i];

		if (quoted && c == '\\')
			i++;
		else if (c == '"')
			quoted = !quoted;
		else if (!quoted)
			marks += c == '{' || c == '[' || c == ',';
	}
	return marks > VALUES_MAX;
}

/* False: the body is no JSON object, or one with a name twice. */
static bool take_body(struct rest_call *call)
{
	const struct http_request *r = call->http;

	if (r->method == HTTP_GET || r->method == HTTP_DELETE || r->body_length == 0 ||
		is_below(r, UPLOADS))
		return true;
	call->body = json_loadb(r->body, r->body_length, JSON_REJECT_DUPLICATES, NULL);
	return json_is_object(call->body);
}

static bool take_request(struct rest_call *call)
{
	const char *why;

	if (has_tag(call->http)) {
		rest_refuse_with(call, 400, REST_ERROR_VALUE,
			"HTML Tag-like Content in the Request URL/Body");
	} else if (has_too_many_values(call->http)) {
		rest_refuse_with(call, 413, REST_ERROR_VALUE, "The body has more than %u values.",
			VALUES_MAX);
	} else if (!take_body(call)) {
		rest_refuse_with(
			call, 400, REST_ERROR_VALUE, "Found invalid JSON body in the request.");
	} else if ((why = rest_query_parse(call->http, &call->query))) {
		rest_refuse_with(call, 400, REST_ERROR_VALUE, "invalid query: %s", why);
	} else {
		return true;
	}
	return false;
}

static struct rest_call *call_new(
	struct http_request *r, struct rest *rest, const struct rest_backend *backend)
{
	struct rest_call *call = calloc(1, sizeof(*call));

	if (!call) {
		http_reply_busy(r);
		return NULL;
	}
	call->http = r;
	call->rest = rest;
	call->backend = backend;
	return call;
}

static void call_free(struct rest_call *call)
{
	json_decref(call->body);
	json_decref(call->error);
	json_decref(call->more);
	free(call);
}

bool rest_admit(struct http_request *r, struct rest *rest, const struct rest_backend *backend)
{
	struct rest_call *call = call_new(r, rest, backend);

	if (!call)
		return false;
	json_t *who = rest_whoami(call);
	bool known = who != NULL;
	json_decref(who);
	call_free(call);
	return known;
}

void rest_handle(struct http_request *r, struct rest *rest, const struct rest_backend *backend)
{
	struct rest_call *call = call_new(r, rest, backend);

	if (!call)
		return;
	if (take_request(call))
		handle_branch(call);
	call_free(call);
	rest_files_keep(rest, backend);
}
