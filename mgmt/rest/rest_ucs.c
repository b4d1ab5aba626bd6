/* SPDX-License-Identifier: BSD-3-Clause */
#include "rest/rest_ucs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "files/ucs.h"
#include "ipc/ipc.h"
#include "rest/rest_command.h"
#include "rest/rest_files.h"
#include "rest/rest_refuse.h"

#define END ".ucs"

json_t *rest_ucs_administrator(struct rest_call *call)
{
	json_t *who = rest_whoami(call);

	if (!who || rest_admit_administrator(call, who, "archives are for administrators"))
		return who;
	json_decref(who);
	return NULL;
}

/* The archive of a name, which gets LTM's ending; full has room for it. */
static bool archive_of(struct rest_call *call, const char *name, char full[FILES_NAME_MAX + 1],
	struct rest_file *file, char why[REST_UCS_REASON_MAX])
{
	size_t n = strlen(name), place = strlen(REST_ARCHIVES_PATH), end = strlen(END);

	if (!strncmp(name, REST_ARCHIVES_PATH, place)) {
		name += place;
		n -= place;
	}
	bool ended = n > end && !strcmp(name + n - end, END);
	int length = snprintf(full, FILES_NAME_MAX + 1, "%s%s", name, ended ? "" : END);

	if (!n || length > (int)FILES_NAME_MAX) {
		snprintf(why, REST_UCS_REASON_MAX, "an archive needs a name of %u bytes at most",
			FILES_NAME_MAX);
		return false;
	}
	return rest_archive_find(call->rest, full, file, why);
}

/* What weir-cp says against it, whole. */
static void put_refusal(struct rest_call *call, char why[REST_UCS_REASON_MAX])
{
	const char *text = json_string_value(json_object_get(call->error, "text"));

	if (!text)
		text = json_string_value(json_object_get(call->error, "reason"));
	snprintf(why, REST_UCS_REASON_MAX, "%s",
		text ? text : "The connection to mcpd has been lost, try again.");
}

/* ---- save ---- */

static bool conf_row(void *arg, json_t *row)
{
	struct text *conf = arg;
	size_t length;
	char *text = ipc_text_get(row, &length);

	if (text)
		text_add(conf, text, length);
	else
		conf->failed = true;
	free(text);
	return !conf->failed && conf->len <= UCS_CONF_MAX;
}

struct saving {
	const struct text *conf;
	const struct ucs_facts *facts;
};

static int archive_write(void *ctx, int fd, char reason[FILES_REASON_MAX])
{
	const struct saving *s = ctx;

	return ucs_write(fd, s->conf->data ? s->conf->data : "", s->conf->len, s->facts, reason);
}

static bool save(
	struct rest_call *call, const struct rest_file *file, char why[REST_UCS_REASON_MAX])
{
	char host[256] = "weir";
	struct ucs_facts facts = {.machine = host, .created = time(NULL)};
	struct text conf = {0};
	struct saving saving = {&conf, &facts};
	json_t *status =
		rest_ask_row(call, json_pack("{s:s, s:s}", "op", "show", "what", "sys status"));
	bool done = false;

	gethostname(host, sizeof(host) - 1);
	facts.version = json_string_value(json_object_get(status, "version"));
	facts.generation = (uint64_t)json_integer_value(json_object_get(status, "generation"));
	if (!status || !facts.version ||
		!rest_ask(call, json_pack("{s:s, s:s}", "op", "list", "form", "file"), conf_row,
			&conf, NULL))
		put_refusal(call, why);
	else if (conf.failed)
		snprintf(why, REST_UCS_REASON_MAX, "no memory for the configuration");
	else
		done = files_write(file->files, file->area, file->name, archive_write, &saving,
			       why) == 0;
	text_fini(&conf);
	json_decref(status);
	return done;
}

/* ---- load ---- */

/* Weir-cp names the first secret that it cannot read; people want to know all. */
static void put_secrets(const struct ucs *u, char why[REST_UCS_REASON_MAX])
{
	json_t *secrets = ucs_secrets(u->conf, u->conf_length), *each;
	size_t n = strlen(why), i;

	if (strstr(why, "encrypted by another machine")) {
		json_array_foreach(secrets, i, each)
		{
			if (n < REST_UCS_REASON_MAX)
				n += (size_t)snprintf(why + n, REST_UCS_REASON_MAX - n, "%s%s",
					i ? ", " : "; the secrets in this archive: ",
					json_string_value(each));
		}
	}
	json_decref(secrets);
}

static bool conf_load(struct rest_call *call, const struct ucs *u, const char *name,
	char why[REST_UCS_REASON_MAX])
{
	json_t *request = json_pack("{s:s, s:s, s:o}", "op", "load", "file", name, "text",
		ipc_text_new(u->conf, u->conf_length));

	if (rest_ask(call, request, NULL, NULL, NULL)) {
		if (rest_ask(call, json_pack("{s:s}", "op", "save"), NULL, NULL, NULL))
			return true;
		put_refusal(call, why);
		return false;
	}
	put_refusal(call, why);
	put_secrets(u, why);
	return false;
}

static bool load(
	struct rest_call *call, const struct rest_file *file, char why[REST_UCS_REASON_MAX])
{
	char reason[FILES_REASON_MAX];
	uint64_t size;
	struct ucs u;
	bool done = false;
	int fd = files_open(file->files, file->area, file->name, &size, reason);

	if (fd >= 0 && size <= UCS_ARCHIVE_MAX && ucs_read(fd, &u, reason) == 0) {
		done = conf_load(call, &u, file->name, why);
		ucs_fini(&u);
	} else if (fd >= 0 && size > UCS_ARCHIVE_MAX) {
		snprintf(why, REST_UCS_REASON_MAX, "%s is too large for an archive", file->name);
	} else {
		snprintf(why, REST_UCS_REASON_MAX, "%s: %s", file->name, reason);
	}
	if (fd >= 0)
		close(fd);
	call->rest->load_failed = !done;
	return done;
}

bool rest_ucs_run(struct rest_call *call, const char *command, const char *name,
	char why[REST_UCS_REASON_MAX])
{
	char full[FILES_NAME_MAX + 1];
	struct rest_file file;

	*why = '\0';
	if (!archive_of(call, name, full, &file, why))
		return false;
	if (!strcmp(command, "save"))
		return save(call, &file, why);
	if (!strcmp(command, "load"))
		return load(call, &file, why);
	snprintf(why, REST_UCS_REASON_MAX, "invalid property value \"command\":\"%.64s\"", command);
	return false;
}

static bool archive_delete(struct rest_call *call, const char *name, char why[REST_UCS_REASON_MAX])
{
	char full[FILES_NAME_MAX + 1];
	struct rest_file file;

	return archive_of(call, name, full, &file, why) &&
	       files_remove(file.files, file.area, file.name, why) == 0;
}

/* ---- list ---- */

static json_t *archives(struct rest_call *call)
{
	return call->rest->archives ? files_list(call->rest->archives, REST_ARCHIVES_AREA)
				    : json_array();
}

static json_t *archive_item(struct rest_call *call, const json_t *row)
{
	time_t made = (time_t)json_integer_value(json_object_get(row, "modified"));
	const char *name = json_string_value(json_object_get(row, "name"));
	char date[32] = "";
	struct tm tm;

	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&made, &tm));
	return json_pack("{s:{s:o, s:o, s:s, s:s, s:s, s:s}}", "apiRawValues", "filename",
		json_sprintf(REST_ARCHIVES_PATH "%s", name), "file_size",
		json_sprintf("%lld (in bytes)",
			(long long)json_integer_value(json_object_get(row, "size"))),
		"file_created_date", date, "encrypted", "no", "product", "BIG-IP", "version",
		call->rest->version);
}

static void reply_list(struct rest_call *call)
{
	json_t *rows = archives(call), *items = json_array(), *row, *reply;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		json_array_append_new(items, archive_item(call, row));
	}
	reply = json_pack("{s:s, s:o}", "kind", "tm:sys:ucs:ucscollectionstate", "selfLink",
		rest_link(call->rest, "%s", call->http->path));
	if (json_array_size(items))
		json_object_set(reply, "items", items);
	json_decref(items);
	json_decref(rows);
	http_reply_json(call->http, 200, reply);
}

/* ---- requests ---- */

static void run(struct rest_call *call)
{
	char why[REST_UCS_REASON_MAX];

	if (!rest_takes_post(call))
		return;
	if (json_array_size(json_object_get(call->body, "options")) ||
		*rest_word(call->body, "passphrase"))
		rest_refuse_with(call, 400, REST_ERROR_VALUE,
			"options of archives are not supported: secrets in them are encrypted "
			"under the machine's key");
	else if (rest_ucs_run(call, rest_word(call->body, "command"), rest_word(call->body, "name"),
			 why))
		rest_reply_echo(call,
			!strcmp(rest_word(call->body, "command"), "save") ? "tm:sys:ucs:savestate"
									  : "tm:sys:ucs:loadstate",
			NULL);
	else
		rest_refuse_with(
			call, 400, REST_ERROR_CONFIG, "01070734:3: Configuration error: %s", why);
}

static void remove_one(struct rest_call *call, const char *name)
{
	char why[REST_UCS_REASON_MAX];

	if (archive_delete(call, name, why))
		http_reply(call->http, 200, NULL, NULL, 0);
	else
		rest_refuse_with(call, 404, REST_ERROR_CONFIG,
			"01020036:3: The requested UCS (%s) was not found.", name);
}

void rest_ucs(struct rest_call *call)
{
	const struct http_request *r = call->http;
	json_t *who = rest_ucs_administrator(call);

	if (!who)
		return;
	if (r->segment_count == 5 && r->method == HTTP_DELETE)
		remove_one(call, r->segments[4]);
	else if (r->segment_count != 4)
		rest_refuse_with(call, 404, REST_ERROR_CONFIG,
			"01020036:3: The requested UCS (%s) was not found.",
			r->segments[r->segment_count - 1]);
	else if (r->method == HTTP_GET)
		reply_list(call);
	else
		run(call);
	json_decref(who);
}

/* ---- tmsh ---- */

static void tmsh_list(struct rest_call *call, struct text *out)
{
	json_t *rows = archives(call), *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		text_printf(out, "sys ucs %s {\n    filename " REST_ARCHIVES_PATH "%s\n}\n",
			rest_word(row, "name"), rest_word(row, "name"));
	}
	json_decref(rows);
}

bool rest_ucs_tmsh(struct rest_call *call, const char *command, struct text *out)
{
	char verb[8], name[FILES_NAME_MAX + 32], options[128] = "", why[REST_UCS_REASON_MAX] = "";
	bool done;

	if (!strcmp(command, "list sys ucs")) {
		tmsh_list(call, out);
		return true;
	}
	if (sscanf(command, "%7s sys ucs %159s %127[^\n]", verb, name, options) < 2 ||
		(strcmp(verb, "save") && strcmp(verb, "load") && strcmp(verb, "delete")))
		return false;
	if (strstr(options, "passphrase")) {
		text_printf(out, "Unexpected Error: passphrase is not supported\n");
		return true;
	}
	done = !strcmp(verb, "delete") ? archive_delete(call, name, why)
				       : rest_ucs_run(call, verb, name, why);
	if (!done)
		text_printf(out, "Unexpected Error: %s\n", why);
	else if (!strcmp(verb, "delete"))
		text_printf(out, "%s is deleted\n", name);
	else
		text_printf(out, REST_ARCHIVES_PATH "%s is %s.\n", name,
			!strcmp(verb, "save") ? "saved" : "loaded");
	return true;
}
