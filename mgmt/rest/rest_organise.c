/* SPDX-License-Identifier: BSD-3-Clause */
/* Collections that only say what is below them: "ltm", "ltm/monitor". */
#include <stdio.h>
#include <string.h>

#include "rest/rest_facts.h"
#include "rest/rest_refuse.h"

/* The segments as one path: "ltm/monitor". */
static void path_join(const struct http_request *r, char *out, size_t size)
{
	size_t length = 0;

	*out = '\0';
	for (unsigned i = 2; i < r->segment_count && length < size; i++)
		length += (size_t)snprintf(
			out + length, size - length, "%s%s", i > 2 ? "/" : "", r->segments[i]);
}

/* Adds what stands below prefix on the way to path, once. */
static void put_below(
	const struct rest *rest, const char *prefix, const char *path, json_t *seen, json_t *items)
{
	size_t n = strlen(prefix);
	char below[REST_NAME_MAX];

	if (n && (strncmp(path, prefix, n) || path[n] != '/'))
		return;
	n += n > 0;
	snprintf(below, sizeof(below), "%.*s", (int)(n + strcspn(path + n, "/")), path);
	if (json_object_get(seen, below))
		return;
	json_object_set_new(seen, below, json_true());
	json_array_append_new(items,
		json_pack("{s:{s:o}}", "reference", "link", rest_link(rest, "/mgmt/tm/%s", below)));
}

void rest_organise(struct rest_call *call)
{
	json_t *items = json_array(), *seen = json_object();
	char prefix[REST_NAME_MAX];

	path_join(call->http, prefix, sizeof(prefix));
	if (call->http->method != HTTP_GET) {
		http_reply_error(call->http, 405, "This path is only read: %s", call->http->path);
		json_decref(items);
	} else {
		for (int k = 0; k < MODEL_KINDS; k++)
			if (model_kinds[k].owner < 0)
				put_below(call->rest, prefix, model_kinds[k].rest, seen, items);
		for (const struct rest_fact *f = rest_facts; f->path; f++)
			put_below(call->rest, prefix, f->path, seen, items);
		http_reply_json(call->http, 200,
			json_pack("{s:o, s:o, s:o}", "kind",
				rest_kind_of_path(prefix, "collectionstate"), "selfLink",
				rest_link(call->rest, "%s", call->http->path), "items", items));
	}
	json_decref(seen);
}
