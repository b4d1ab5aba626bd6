/* SPDX-License-Identifier: BSD-3-Clause */
#include "rest/rest_command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/ipc.h"
#include "rest/rest_ciphers.h"
#include "rest/rest_files.h"
#include "rest/rest_refuse.h"
#include "rest/rest_unix.h"
#include "rest/rest_upload.h"

#define COMMAND_MAX 65536u

void rest_reply_echo(struct rest_call *call, const char *kind, const struct text *result)
{
	json_t *reply = json_copy(call->body);

	json_object_set_new(reply, "kind", json_string(kind));
	if (result && result->len)
		json_object_set_new(
			reply, "commandResult", ipc_text_new(result->data, result->len));
	rest_shape(call->rest, reply);
	http_reply_json(call->http, 200, reply);
}

bool rest_takes_post(struct rest_call *call)
{
	if (call->http->method == HTTP_POST && call->body)
		return true;
	http_reply_error(call->http, call->http->method == HTTP_POST ? 400 : 405,
		"This path takes a command by POST: %s", call->http->path);
	return false;
}

static bool is_administrator(const json_t *who)
{
	json_t *role;
	size_t i;

	json_array_foreach(json_object_get(who, "roles"), i, role)
	{
		if (!strcmp(rest_word(role, "role"), "admin") &&
			!strcmp(rest_word(role, "partition"), "all-partitions"))
			return true;
	}
	return false;
}

bool rest_admit_administrator(struct rest_call *call, const json_t *who, const char *why)
{
	if (is_administrator(who))
		return true;
	http_reply_error(call->http, 403, "Authorization failed: user=%s resource=%s: %s",
		rest_word(who, "user"), call->http->path, why);
	return false;
}

/* ---- sys/config ---- */

/* Options are a list of objects, or stand in the body. */
static const json_t *option_of(const json_t *body, const char *name)
{
	const json_t *value = json_object_get(body, name);
	json_t *each;
	size_t i;

	json_array_foreach(json_object_get(body, "options"), i, each)
	{
		if (!value)
			value = json_object_get(each, name);
	}
	return value;
}

/* Asked here, too: large files of others are not even read, nor does weir-cp have to take them. */
static void config_load(struct rest_call *call, const json_t *who)
{
	const char *user = rest_word(who, "identity");
	const json_t *given = option_of(call->body, "file");
	const char *name = rest_word(call->body, "name");
	struct rest_load load = {.file = json_string_value(given),
		.merge = json_is_true(option_of(call->body, "merge")),
		.verify = json_is_true(option_of(call->body, "verify")),
		.as_new =
			!strcmp(name, "default") || json_is_true(option_of(call->body, "default"))};
	char why[FILES_REASON_MAX];

	if (!rest_admit_administrator(call, who, "only administrators load configurations"))
		return;
	if (*name && !load.as_new)
		rest_refuse_with(call, 400, REST_ERROR_VALUE,
			"invalid property value \"name\":\"%s\": only default is a name", name);
	else if (load.as_new && (given || load.merge))
		rest_refuse_with(call, 400, REST_ERROR_VALUE,
			"default goes neither with merge nor with a file");
	else if (given && !load.file) /* it would be the startup configuration instead */
		rest_refuse_with(call, 400, REST_ERROR_VALUE, "\"file\" must be text");
	else if (rest_load(call, user, &load, why))
		rest_reply_echo(call, "tm:sys:config:loadstate", NULL);
	else if (*why)
		rest_refuse_with(call, 400, REST_ERROR_CONFIG,
			"01070734:3: Configuration error: %s: %s", load.file, why);
	else
		rest_refuse(call);
}

static void config_save(struct rest_call *call)
{
	bool force = json_is_true(option_of(call->body, "force"));

	if (rest_ask(call, json_pack("{s:s, s:b}", "op", "save", "force", force), NULL, NULL, NULL))
		rest_reply_echo(call, "tm:sys:config:savestate", NULL);
	else
		rest_refuse(call);
}

void rest_config(struct rest_call *call)
{
	const char *command = rest_word(call->body, "command");
	json_t *who = rest_takes_post(call) ? rest_whoami(call) : NULL;

	if (who && !strcmp(command, "save"))
		config_save(call);
	else if (who && !strcmp(command, "load"))
		config_load(call, who);
	else if (who)
		rest_refuse_with(call, 400, REST_ERROR_VALUE,
			"invalid property value \"command\":\"%s\"", command);
	json_decref(who);
}

/* ---- sys/crypto ---- */

void rest_crypto(struct rest_call *call)
{
	const char *path = rest_word(call->body, "from-local-file");
	bool key = !strcmp(call->http->segments[4], "key");
	json_t *body =
		json_pack("{s:s, s:s}", "name", rest_word(call->body, "name"), "sourcePath", path);

	if (rest_takes_post(call)) {
		if (strcmp(rest_word(call->body, "command"), "install") || !*path)
			rest_refuse_with(call, 400, REST_ERROR_VALUE,
				"only install with from-local-file is supported");
		else if (rest_upload_content(call, key ? KIND_SSL_KEY : KIND_SSL_CERT, body)) {
			if (rest_ask(call,
				    json_pack("{s:s, s:s, s:O}", "op", "create", "kind",
					    key ? "sys file ssl-key" : "sys file ssl-cert", "body",
					    body),
				    NULL, NULL, NULL))
				rest_reply_echo(call, "tm:sys:crypto:installstate", NULL);
			else
				rest_refuse(call);
		}
	}
	json_decref(body);
}

/* ---- util/bash ---- */

/* The command of "-c 'COMMAND'"; 1: it is no such form, -1: quotes do not fit. */
static int bash_command(const char *args, char *out)
{
	size_t n = 0;

	args += strspn(args, " ");
	if (strncmp(args, "-c", 2) || !strchr(" \t", args[2]))
		return 1;
	args += 2;
	args += strspn(args, " \t");
	char quote = *args == '"' || *args == '\'' ? *args++ : 0;
	for (; *args && *args != quote && n < COMMAND_MAX - 1; args++) {
		if (quote == '"' && *args == '\\' && (args[1] == '"' || args[1] == '\\'))
			args++;
		out[n++] = *args;
	}
	out[n] = '\0';
	if (quote && *args != quote)
		return -1;
	args += quote != 0;
	return args[strspn(args, " \t")] ? -1 : 0;
}

static void put_version(struct rest_call *call, struct text *out)
{
	json_t *row =
		rest_ask_row(call, json_pack("{s:s, s:s}", "op", "show", "what", "sys status"));
	const char *weir = rest_word(row, "version");

	text_printf(out,
		"Product: BIG-IP\nVersion: %s\nBuild: %s\nSequence: %s\nBaseBuild: %s\n"
		"Edition: Weir %s\nChangelist: 0\nJobID: 0\n",
		call->rest->version, weir, weir, weir, weir);
	json_decref(row);
}

static void put_uptime(struct rest_call *call, struct text *out)
{
	json_t *row =
		rest_ask_row(call, json_pack("{s:s, s:s}", "op", "show", "what", "sys status"));
	long long seconds = json_integer_value(json_object_get(row, "uptime"));

	text_printf(out, "%lld.00 %lld.00\n", seconds, seconds);
	json_decref(row);
}

/* Who uploads an archive gives it an owner and a mode. */
static bool is_owners(const char *command)
{
	static const char begin[] = "chown root:root " REST_ARCHIVES_PATH;
	char name[FILES_NAME_MAX + 1], again[FILES_NAME_MAX + 1];
	unsigned mode;
	int n = 0;

	return !strncmp(command, begin, sizeof(begin) - 1) &&
	       sscanf(command + sizeof(begin) - 1,
		       "%128[^;];chmod %o " REST_ARCHIVES_PATH "%128[^; ]%n", name, &mode, again,
		       &n) == 3 &&
	       n && !command[sizeof(begin) - 1 + (size_t)n] && !strcmp(name, again);
}

/* All that is known; everything else is no command. */
static void run_bash(struct rest_call *call, const char *user, char *command, struct text *out)
{
	static const struct {
		const char *command, *output;
	} fixed[] = {{"runlevel", "N 3\n"}, {"ps aux | grep '[m]prov'", ""},
		{"ps aux | grep '[v]cmpd'", ""}, {"tmsh -v", ""}, {"true", ""}};

	for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
		if (!strcmp(fixed[i].command, command)) {
			text_printf(out, "%s", fixed[i].output);
			return;
		}
	if (!strcmp(command, "cat /VERSION"))
		put_version(call, out);
	else if (!strcmp(command, "cat /proc/uptime"))
		put_uptime(call, out);
	else if (is_owners(command))
		return; /* files are weir-mgmt's, and stay it */
	else if (!strncmp(command, "tmsh ", 5))
		rest_tmsh(call, user, command + 5, out);
	else
		text_printf(out, "/bin/bash: %.*s: command not found\n",
			(int)strcspn(command, " \t\n;|&<>"), command);
}

/* False: it is answered. */
static bool bash(struct rest_call *call, const char *user, const char *args, struct text *out)
{
	char *command = strlen(args) < COMMAND_MAX ? malloc(COMMAND_MAX) : NULL;
	int rc = command ? bash_command(args, command) : -1;

	if (rc < 0)
		rest_refuse_with(call, 400, REST_ERROR_VALUE,
			"invalid property value \"utilCmdArgs\":\"%s\": quotes are not balanced",
			args);
	else if (rc > 0)
		text_printf(out, "/bin/bash: give the command in the form -c 'COMMAND'\n");
	else
		run_bash(call, user, command, out);
	free(command);
	return rc >= 0;
}

/* ---- util ---- */

/* A backslash takes the meaning from what follows it, but not within ''. */
static bool is_balanced(const char *args)
{
	char quote = 0;

	for (; *args; args++) {
		if (*args == '\\' && quote != '\'' && args[1])
			args++;
		else if (*args == quote)
			quote = 0;
		else if (!quote && (*args == '"' || *args == '\''))
			quote = *args;
	}
	return !quote;
}

static void run_util(struct rest_call *call, const char *user)
{
	const char *name = call->http->segment_count == 4 ? call->http->segments[3] : "";
	const char *args = rest_word(call->body, "utilCmdArgs");
	struct text out = {0};
	char kind[128];
	bool done = true;

	if (strcmp(rest_word(call->body, "command"), "run")) {
		rest_refuse_with(call, 400, REST_ERROR_VALUE,
			"invalid property value \"command\":\"%s\"",
			rest_word(call->body, "command"));
		return;
	}
	if (!is_balanced(args)) {
		rest_refuse_with(call, 400, REST_ERROR_VALUE,
			"invalid property value \"utilCmdArgs\":\"%s\": quotes are not balanced",
			args);
		return;
	}
	if (!strcmp(name, "bash"))
		done = bash(call, user, args, &out);
	else if (!strcmp(name, "clientssl-ciphers") || !strcmp(name, "serverssl-ciphers"))
		rest_ciphers(name, args, &out);
	else if (!rest_unix(call, user, name, args, &out, &done))
		text_printf(&out, "/bin/bash: %s: command not found\n", name);
	snprintf(kind, sizeof(kind), "tm:util:%s:runstate", name);
	if (done)
		rest_reply_echo(call, kind, &out);
	text_fini(&out);
}

void rest_util(struct rest_call *call)
{
	json_t *who = rest_takes_post(call) ? rest_whoami(call) : NULL;

	if (who && rest_admit_administrator(call, who, "only administrators run commands"))
		run_util(call, rest_word(who, "identity"));
	json_decref(who);
}
