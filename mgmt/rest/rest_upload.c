/* SPDX-License-Identifier: BSD-3-Clause */
#include "rest/rest_upload.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/ipc.h"
#include "rest/rest_files.h"
#include "rest/rest_refuse.h"

#define CONTENT_MAX (4u << 20) /* bytes of a file that becomes part of an object */

static void reply_piece(struct rest_call *call, const char *name, const struct files_range *range)
{
	char chunk[24];

	snprintf(chunk, sizeof(chunk), "%" PRIu64, range->start);
	http_reply_json(call->http, 200,
		json_pack("{s:I, s:{s:I}, s:I, s:o, s:o, s:i, s:i}", "remainingByteCount",
			(json_int_t)(range->total - range->end - 1), "usedChunks", chunk,
			(json_int_t)call->http->body_length, "totalByteCount",
			(json_int_t)range->total, "localFilePath",
			json_sprintf(REST_FILES_PATH "%s", name), "temporaryFilePath",
			json_sprintf(REST_FILES_PATH "tmp/%s", name), "generation", 0,
			"lastUpdateMicros", 0));
}

static void take_piece(struct rest_call *call, const char *user, const char *name)
{
	const struct http_request *r = call->http;
	const char *text = http_header(r, "Content-Range");
	char why[FILES_REASON_MAX];
	struct files_range range;
	bool complete;

	if (!call->rest->uploads)
		http_reply_error(call->http, 501, "%s: files are not taken here", name);
	else if (!text || !files_range_parse(text, &range) || range.start > range.end ||
		 range.end - range.start + 1 != r->body_length)
		http_reply_error(call->http, 400,
			"Content-Range must be START-END/SIZE, and as long as the body");
	else if (files_put(call->rest->uploads, user, name, &range, r->body, &complete, why))
		http_reply_error(call->http, 400, "%s: %s", name, why);
	else
		reply_piece(call, name, &range);
}

void rest_upload(struct rest_call *call)
{
	const struct http_request *r = call->http;
	const char *name = r->segment_count == 5 ? r->segments[4] : "";
	json_t *who;

	if (r->method != HTTP_POST || !files_name_ok(name)) {
		http_reply_error(call->http, r->method != HTTP_POST ? 405 : 400,
			"Uploads are POSTed to .../uploads/NAME, a plain name.");
		return;
	}
	who = rest_whoami(call);
	if (who)
		take_piece(call, rest_word(who, "identity"), name);
	json_decref(who);
}

static bool read_content(struct rest_call *call, const char *user, const char *path, json_t *body)
{
	char why[FILES_REASON_MAX], *text;
	size_t length;

	if (rest_file_read(call->rest, user, path, CONTENT_MAX, &text, &length, why)) {
		rest_refuse_with(call, 400, REST_ERROR_CONFIG,
			"01070734:3: Configuration error: Failed! %s: %s", path, why);
		return false;
	}
	json_object_set_new(body, "content", ipc_text_new(text, length));
	free(text);
	return true;
}

bool rest_upload_content(struct rest_call *call, enum model_kind kind, json_t *body)
{
	json_t *dashed = json_object_get(body, "source-path"), *who;
	const char *path;
	bool done;

	if (dashed && model_field_rest(kind, NULL, "sourcePath")) {
		json_object_set(body, "sourcePath", dashed); /* as tmsh spells it */
		json_object_del(body, "source-path");
	}
	path = json_string_value(json_object_get(body, "sourcePath"));

	if (!path || json_object_get(body, "content") || !model_field_rest(kind, NULL, "content"))
		return true;
	who = rest_whoami(call);
	done = who && read_content(call, rest_word(who, "identity"), path, body);
	json_decref(who);
	return done;
}
