/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of many objects an answer has. */
#include <string.h>

#include "main/cp.h"

static bool in_partition(const char *path, const char *partition)
{
	size_t n = strlen(partition);

	return *path == '/' && !strncmp(path + 1, partition, n) && path[n + 1] == '/';
}

static void keep_partition(struct cp_ids *ids, const struct model *m, const char *partition)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < ids->count; i++) {
		const struct object *o = model_get(m, ids->id[i]);

		if (o && in_partition(o->path, partition))
			ids->id[kept++] = o->id;
	}
	ids->count = kept;
}

bool cp_ids_page(struct cp_ids *ids, struct ipc_request *r, const struct model *m)
{
	const json_t *body = ipc_request_body(r), *partition = json_object_get(body, "partition");
	json_int_t skip = 0, top = ids->count;
	json_t *value;

	cp_ids_readable(ids, r, m);
	if (partition && !json_is_string(partition)) {
		cp_refuse(r, 400, "partition", "must be text");
		return false;
	}
	if (partition)
		keep_partition(ids, m, json_string_value(partition));
	ids->total = ids->count;
	if ((value = json_object_get(body, "skip")))
		skip = json_integer_value(value);
	if ((value = json_object_get(body, "top")))
		top = json_integer_value(value);
	if (skip < 0 || top < 0) {
		cp_refuse(r, 400, skip < 0 ? "skip" : "top", "is below 0");
		return false;
	}
	ids->next = skip < ids->count ? (unsigned)skip : ids->count;
	if (top < ids->count - ids->next)
		ids->count = ids->next + (unsigned)top;
	return true;
}
