/* SPDX-License-Identifier: BSD-3-Clause */
#include "rest/rest_files.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define KEEP_NS 10000000000ull

static struct files *place_new(const char *dir, const char *name, const struct files_limits *limits)
{
	struct files *files = NULL;
	char *path;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return NULL;
	files = files_new(path, limits);
	free(path);
	return files;
}

int rest_files_init(struct rest *rest, const char *dir)
{
	static const struct files_limits uploads = {
		REST_FILES_QUOTA, REST_FILES_ALL, REST_FILES_EACH};
	static const struct files_limits archives = {
		REST_ARCHIVES_QUOTA, REST_ARCHIVES_QUOTA, REST_FILES_EACH};

	if (!dir)
		return 0;
	rest->uploads = place_new(dir, "uploads", &uploads);
	rest->archives = place_new(dir, "ucs", &archives);
	return rest->uploads && rest->archives ? 0 : -ENOMEM;
}

void rest_files_fini(struct rest *rest)
{
	files_free(rest->uploads);
	files_free(rest->archives);
}

static bool identity_row(void *arg, json_t *row)
{
	json_object_set_new(arg, rest_word(row, "identity"), json_true());
	return true;
}

/* The areas are looked up first: who made one since then is there still. */
void rest_files_keep(struct rest *rest, const struct rest_backend *backend)
{
	uint64_t now = clock_ns(), before = rest->kept_ns;
	json_t *areas, *known, *result = NULL, *error = NULL, *name;
	size_t i;

	if (!rest->uploads || (before && now - before < KEEP_NS) ||
		!atomic_compare_exchange_strong(&rest->kept_ns, &before, now))
		return;
	areas = files_areas(rest->uploads);
	known = json_object();
	if (json_array_size(areas) &&
		backend->ask(backend->ctx, json_pack("{s:s}", "op", "list-identities"),
			identity_row, known, &result, &error) == 0 &&
		result) {
		json_array_foreach(areas, i, name)
		{
			if (!json_object_get(known, json_string_value(name)))
				files_forget(rest->uploads, json_string_value(name));
		}
	}
	json_decref(result);
	json_decref(error);
	json_decref(known);
	json_decref(areas);
}

static const char *without(const char *path, const char *place)
{
	size_t n = strlen(place);

	return strncmp(path, place, n) ? NULL : path + n;
}

static bool found(struct rest_file *file, char why[FILES_REASON_MAX])
{
	if (!file->files)
		snprintf(why, FILES_REASON_MAX, "files are not taken here");
	else if (!files_name_ok(file->name))
		snprintf(why, FILES_REASON_MAX, "No such file or directory");
	else
		return true;
	return false;
}

bool rest_archive_find(const struct rest *rest, const char *path, struct rest_file *file,
	char why[FILES_REASON_MAX])
{
	const char *name = without(path, REST_ARCHIVES_PATH);

	*file = (struct rest_file){rest->archives, REST_ARCHIVES_AREA, name ? name : path};
	return found(file, why);
}

bool rest_file_find(const struct rest *rest, const char *user, const char *path,
	struct rest_file *file, char why[FILES_REASON_MAX])
{
	const char *name;

	if (!strncmp(path, "file:", 5))
		path += 5;
	while (!strncmp(path, "//", 2))
		path++;
	if (without(path, REST_ARCHIVES_PATH))
		return rest_archive_find(rest, path, file, why);
	name = without(path, REST_FILES_PATH);
	if (!name)
		name = without(path, "/tmp/");
	*file = (struct rest_file){rest->uploads, user, name ? name : path};
	return found(file, why);
}

int rest_file_read(const struct rest *rest, const char *user, const char *path, size_t max,
	char **text, size_t *length, char why[FILES_REASON_MAX])
{
	struct rest_file file;

	if (!rest_file_find(rest, user, path, &file, why))
		return -ENOENT;
	if (file.files != rest->uploads) {
		snprintf(why, FILES_REASON_MAX, "Permission denied");
		return -EACCES;
	}
	return files_read(file.files, file.area, file.name, max, text, length, why);
}
