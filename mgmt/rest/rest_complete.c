/* SPDX-License-Identifier: BSD-3-Clause */
#include "rest/rest_complete.h"

#include <string.h>

#include "rest/rest_call.h"

/* Policies of a virtual server: there are none yet, and clients look into the reference unasked. */
static void complete_virtual(json_t *object)
{
	const char *link = json_string_value(json_object_get(object, "selfLink"));

	if (link && !json_object_get(object, "policiesReference"))
		json_object_set_new(object, "policiesReference",
			json_pack("{s:o, s:b}", "link", json_sprintf("%s/policies", link),
				"isSubcollection", 1));
}

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
	if (!strcmp(kind, "tm:ltm:virtual:virtualstate"))
		complete_virtual(object);
	else if (!strcmp(kind, "tm:auth:user:userstate"))
		complete_user(object);
	else if (!strcmp(kind, "tm:sys:folder:folderstate"))
		complete_folder(object);
}
