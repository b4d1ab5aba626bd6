/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that clients fetch, whole or piece by piece: archives, and what they sent themselves. */
#include "rest/rest_download.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rest/rest_files.h"
#include "rest/rest_refuse.h"
#include "rest/rest_ucs.h"

/* Takes over fd. Clients learn the size from Content-Range, also of a reply that refuses the first range they try. */
static void send_piece(struct rest_call *call, int fd, uint64_t size)
{
	const char *text = http_header(call->http, "Content-Range");
	struct files_range range = {0, size - 1, size};
	bool fits = !text || files_range_parse(text, &range);
	char said[80];

	fits = fits && range.start <= range.end && range.end < size;
	snprintf(said, sizeof(said), "%" PRIu64 "-%" PRIu64 "/%" PRIu64, fits ? range.start : 0,
		fits ? range.end : size - 1, size);
	if (fits) {
		http_reply_file(call->http, 200, "application/octet-stream", fd, range.start,
			(size_t)(range.end - range.start + 1));
	} else {
		close(fd);
		http_reply_error(
			call->http, 400, "Content-Range must lie within the file: %s", said);
	}
	http_reply_header(call->http, "Content-Range", said);
}

static void send_file(struct rest_call *call, const struct rest_file *file)
{
	const struct http_request *r = call->http;
	char why[FILES_REASON_MAX];
	uint64_t size = 0;
	int fd = -1;

	if (r->method != HTTP_GET) {
		http_reply_error(call->http, 405, "Files are fetched by GET.");
		return;
	}
	if (file->files)
		fd = files_open(file->files, file->area, file->name, &size, why);
	if (fd >= 0 && size > 0) {
		send_piece(call, fd, size);
		return;
	}
	if (fd >= 0)
		close(fd);
	http_reply_error(call->http, 404, "There is no such file: %s", r->path);
}

/* What stands behind the branch, a plain name. */
static const char *name_of(const struct http_request *r)
{
	return r->segment_count == 5 ? r->segments[4] : "";
}

void rest_ucs_download(struct rest_call *call)
{
	json_t *who = rest_ucs_administrator(call);
	char why[FILES_REASON_MAX];
	struct rest_file file;

	if (!who)
		return;
	if (!rest_archive_find(call->rest, name_of(call->http), &file, why))
		file.files = NULL;
	send_file(call, &file);
	json_decref(who);
}

void rest_download(struct rest_call *call)
{
	json_t *who = rest_whoami(call);
	struct rest_file file = {
		call->rest->uploads, rest_word(who, "identity"), name_of(call->http)};

	if (who)
		send_file(call, &file);
	json_decref(who);
}
