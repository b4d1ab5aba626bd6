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

const char *rest_upload_why(int error)
{
	switch (error) {
	case -EOPNOTSUPP:
		return "files are not taken here";
	case -EDQUOT:
		return "the quota of the user's files is full";
	case -EFBIG:
		return "the file is too large";
	case -ERANGE:
		return "pieces of a file come in order, from 0 to its size";
	case -ENOENT:
		return "No such file or directory";
	default:
		return strerror(-error);
	}
}

/* "START-END/SIZE", with or without "bytes". */
static bool range_parse(const char *text, uint64_t *start, uint64_t *end, uint64_t *size)
{
	char rest;

	if (!text)
		return false;
	if (!strncmp(text, "bytes ", 6))
		text += 6;
	if (strspn(text, "0123456789-/") != strlen(text))
		return false;
	return sscanf(text, "%" SCNu64 "-%" SCNu64 "/%" SCNu64 "%c", start, end, size, &rest) ==
		       3 &&
	       *start <= *end && *end < *size;
}

static bool range_fits(const struct http_request *r, uint64_t start, uint64_t end)
{
	return end - start + 1 == r->body_length;
}

static void take_piece(struct rest_call *call, const char *user, const char *name)
{
	const struct http_request *r = call->http;
	uint64_t start = 0, end = 0, size = 0;
	char chunk[24];
	int rc;

	if (!range_parse(http_header(r, "Content-Range"), &start, &end, &size) ||
		!range_fits(r, start, end)) {
		http_reply_error(call->http, 400,
			"Content-Range must be START-END/SIZE, and as long as the body");
		return;
	}
	rc = rest_file_write(
		call->rest->upload_dir, user, name, start, size, r->body, r->body_length);
	if (rc) {
		http_reply_error(call->http, rc == -EOPNOTSUPP ? 501 : 400, "%s: %s", name,
			rest_upload_why(rc));
		return;
	}
	snprintf(chunk, sizeof(chunk), "%" PRIu64, start);
	http_reply_json(call->http, 200,
		json_pack("{s:I, s:{s:I}, s:I, s:o, s:o, s:i, s:i}", "remainingByteCount",
			(json_int_t)(size - end - 1), "usedChunks", chunk,
			(json_int_t)r->body_length, "totalByteCount", (json_int_t)size,
			"localFilePath", json_sprintf(REST_FILES_PATH "%s", name),
			"temporaryFilePath", json_sprintf(REST_FILES_PATH "tmp/%s", name),
			"generation", 0, "lastUpdateMicros", 0));
}

void rest_upload(struct rest_call *call)
{
	const struct http_request *r = call->http;
	const char *name = r->segment_count == 5 ? rest_file_name(r->segments[4]) : NULL;
	json_t *who;

	if (r->method != HTTP_POST || !name || name != r->segments[4]) {
		http_reply_error(call->http, r->method != HTTP_POST ? 405 : 400,
			"Uploads are POSTed to .../uploads/NAME, a plain name.");
		return;
	}
	who = rest_whoami(call);
	if (who)
		take_piece(call, json_string_value(json_object_get(who, "user")), name);
	json_decref(who);
}

static bool read_content(struct rest_call *call, const char *user, const char *path, json_t *body)
{
	const char *name = rest_file_name(path);
	size_t length = 0;
	char *text = NULL;
	int rc = name ? rest_file_read(
				call->rest->upload_dir, user, name, CONTENT_MAX, &text, &length)
		      : -ENOENT;

	if (rc) {
		rest_refuse_with(call, 400, REST_ERROR_CONFIG,
			"01070734:3: Configuration error: Failed! %s: %s", path,
			rest_upload_why(rc));
		return false;
	}
	json_object_set_new(body, "content", ipc_text_new(text, length));
	free(text);
	return true;
}

bool rest_upload_content(struct rest_call *call, enum model_kind kind, json_t *body)
{
	const char *path = json_string_value(json_object_get(body, "sourcePath"));
	json_t *who;
	bool done;

	if (!path || json_object_get(body, "content") || !model_field_rest(kind, NULL, "content"))
		return true;
	who = rest_whoami(call);
	done = who &&
	       read_content(call, json_string_value(json_object_get(who, "user")), path, body);
	json_decref(who);
	return done;
}
