/* SPDX-License-Identifier: BSD-3-Clause */
#include "rest/rest_complete.h"

#include <stdio.h>
#include <string.h>

#include "rest/rest_call.h"

static void complete_user(json_t *object)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(object, "partitionAccess"), i, row)
	{
		const char *name = json_string_value(json_object_get(row, "name"));

		if (name && !json_object_get(row, "nameReference"))
			json_object_set_new(row, "nameReference",
				json_pack("{s:o}", "link",
					json_sprintf(
						REST_LINK "/mgmt/tm/auth/partition/%s", name)));
	}
}

/* Variables of an external monitor, as LTM gives them: Weir's own userDefined has them as lines of NAME=VALUE. */
static void complete_external(json_t *object)
{
	const char *line = json_string_value(json_object_get(object, "userDefined"));
	json_t *raw = json_object();
	char key[REST_NAME_MAX];

	while (line && *line) {
		size_t length = strcspn(line, "\n"), name = strcspn(line, "=");

		if (name < length) {
			snprintf(key, sizeof(key), "userDefined %.*s", (int)name, line);
			json_object_set_new(
				raw, key, json_stringn(line + name + 1, length - name - 1));
		}
		line += length + (line[length] == '\n');
	}
	if (json_object_size(raw))
		json_object_set(object, "apiRawValues", raw);
	json_decref(raw);
}

/* userDefined counts where both are given. */
static void take_external(json_t *body)
{
	static const char word[] = "userDefined ";
	struct text lines = {0};
	const char *key;
	json_t *value;

	json_object_foreach(json_object_get(body, "apiRawValues"), key, value)
	{
		const char *text = json_string_value(value);

		if (!strncmp(key, word, sizeof(word) - 1) && text)
			text_printf(&lines, "%s%s=%s", lines.len ? "\n" : "",
				key + sizeof(word) - 1, text);
	}
	if (lines.len && !lines.failed && !json_object_get(body, "userDefined"))
		json_object_set_new(body, "userDefined", json_stringn(lines.data, lines.len));
	json_object_del(body, "apiRawValues");
	text_fini(&lines);
}

void rest_complete_taken(const char *kind, json_t *body)
{
	if (body && !strcmp(kind, "ltm monitor external"))
		take_external(body);
}

/* A folder's name is the last part of its path. */
static void complete_folder(json_t *object)
{
	const char *path = json_string_value(json_object_get(object, "fullPath"));

	if (path && strrchr(path, '/') && strrchr(path, '/')[1])
		json_object_set_new(object, "name", json_string(strrchr(path, '/') + 1));
}

void rest_complete(json_t *object)
{
	const char *kind = json_string_value(json_object_get(object, "kind"));

	if (!kind)
		return;
	if (!strcmp(kind, "tm:auth:user:userstate"))
		complete_user(object);
	else if (!strcmp(kind, "tm:sys:folder:folderstate"))
		complete_folder(object);
	else if (!strcmp(kind, "tm:ltm:monitor:external:externalstate"))
		complete_external(object);
}
