/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/answer.h"

#include <stdlib.h>
#include <string.h>

#include "ipc/ipc.h"

const char *name_short(const char *name)
{
	static const char common[] = "/Common/";
	size_t n = sizeof(common) - 1;

	return strncmp(name, common, n) ? name : name + n;
}

char *answer_text(const json_t *row, const char *key)
{
	const json_t *value = json_object_get(row, key);
	char *text = NULL;

	switch (value ? json_typeof(value) : JSON_NULL) {
	case JSON_STRING:
	case JSON_OBJECT:
		text = ipc_text_get(value, NULL);
		return text ? text : json_dumps(value, JSON_COMPACT);
	case JSON_TRUE:
		return strdup("yes");
	case JSON_FALSE:
		return strdup("no");
	case JSON_NULL:
		return strdup("");
	default:
		return json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	}
}

char *answer_name(const json_t *row, const char *key)
{
	char *text = answer_text(row, key);

	if (text)
		memmove(text, name_short(text), strlen(name_short(text)) + 1);
	return text;
}

char *answer_endpoint(const json_t *row, const char *addr_key, const char *port_key)
{
	char *addr = answer_text(row, addr_key), *port = answer_text(row, port_key), *out = NULL;

	if (addr && port &&
		asprintf(&out, "%s%c%s", addr, strchr(addr, ':') ? '.' : ':',
			!strcmp(port, "0") ? "any" : port) < 0)
		out = NULL;
	free(addr);
	free(port);
	return out;
}

void answer_add(struct table *t, const json_t *row, const char *const *keys)
{
	char *text[TABLE_COLUMNS_MAX];

	for (unsigned i = 0; i < t->columns; i++)
		text[i] = answer_name(row, keys[i]);
	table_add_cells(t, (const char *const *)text);
	for (unsigned i = 0; i < t->columns; i++)
		free(text[i]);
}
