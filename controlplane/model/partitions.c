/* SPDX-License-Identifier: BSD-3-Clause */
/* Partitions: what is in one names objects of its own and of Common, and keeps it from being deleted. */
#include "model/model_internal.h"

#include <stdio.h>

/* Of a child, its owner's. "" of objects that are in none. */
static void place_of(const struct model *m, const struct item *it, char place[MODEL_PATH_MAX + 1])
{
	const char *path = item_root(m, it)->o.path;
	size_t len = path_partition(path);

	memcpy(place, path + (len > 0), len);
	place[len] = '\0';
}

static int check_near(struct model *m, struct item *it, const char *place, const struct field *f,
	const char *path, struct model_error *err)
{
	size_t len = path_partition(path);

	if (!len || (len == strlen(place) && !strncmp(path + 1, place, len)) ||
		!strncmp(path, FOLDER_COMMON "/", sizeof(FOLDER_COMMON)))
		return 0;
	return fail(m, err, -EINVAL, it, f ? f->name : NULL,
		"%s is in another partition: only those of %s%s may be named", path, place,
		strcmp(place, "Common") ? " and Common" : "");
}

static int check_named(struct model *m, struct item *it, const char *place, const struct field *f,
	struct model_error *err)
{
	const void *p = field_in(f, it->data);
	const struct model_list *list = p;
	const struct model_monitor_rule *rule = p;
	const uint32_t *id = p; /* an endpoint begins with its id */
	unsigned count = 1;
	int rc = 0;

	if (f->type == TYPE_REFS) {
		id = list->entry;
		count = list->count;
	} else if (f->type == TYPE_MONITOR_RULE) {
		id = rule->monitor;
		count = rule->count;
	}
	for (unsigned i = 0; !rc && i < count; i++) {
		const struct item *to = item_of(m, id[i]);
		if (to)
			rc = check_near(m, it, place, f, to->o.path, err);
	}
	return rc;
}

static int check_exists(
	struct model *m, struct item *it, const char *place, struct model_error *err)
{
	if (!*place || item_find(m, KIND_PARTITION, ID_NONE, place))
		return 0;
	return fail(m, err, -EINVAL, it, NULL, "folder \"/%s\" does not exist", place);
}

/* The folder that a path is in, unless it is the partition's own. */
static int check_folder(struct model *m, struct item *it, const char *path, struct model_error *err)
{
	char folder[MODEL_PATH_MAX + 1];
	const char *end = strrchr(path, '/');

	if (!path_partition(path) || end == path + path_partition(path) + 1)
		return 0;
	snprintf(folder, sizeof(folder), "%.*s", (int)(end - path), path);
	if (item_find(m, KIND_FOLDER, ID_NONE, folder))
		return 0;
	return fail(m, err, -EINVAL, it, NULL, "folder \"%s\" does not exist", folder);
}

int check_place(struct model *m, struct item *it, struct model_error *err)
{
	const struct kind *k = kind_of(it);
	char place[MODEL_PATH_MAX + 1], path[MODEL_PATH_MAX + 1];
	int rc;

	if (it->o.kind == KIND_PARTITION && !name_is_partition(it->o.path))
		return fail(m, err, -EINVAL, it, NULL,
			"is no name of a partition, which has at most %u bytes",
			MODEL_PARTITION_MAX);
	if (it->o.kind == KIND_FOLDER && !path_partition(it->o.path))
		return check_exists(m, it, it->o.path + 1, err);
	place_of(m, it, place);
	rc = check_exists(m, it, place, err);
	if (!rc && it->o.kind == KIND_POLICY) {
		policy_published_path(it, path);
		rc = check_folder(m, it, path, err);
	} else if (!rc && !item_of(m, it->o.owner)) {
		rc = check_folder(m, it, it->o.path, err);
	}
	if (!rc && *place && item_of(m, it->o.owner))
		rc = check_near(m, it, place, NULL, it->o.path, err);
	for (unsigned i = 0; !rc && *place && i < k->field_count; i++)
		if (k->fields[i].ref_count)
			rc = check_named(m, it, place, &k->fields[i], err);
	return rc;
}

int check_folder_deleted(struct model *m, struct item *it, struct model_error *err)
{
	size_t len = strlen(it->o.path);

	for (uint32_t i = 1; i < m->slots; i++) {
		const struct item *other = m->slot[i];
		if (!other || other->deleted || strncmp(other->o.path, it->o.path, len) ||
			other->o.path[len] != '/')
			continue;
		return fail(m, err, -EBUSY, it, NULL, "is not empty: %s %s is in it",
			kind_of(other)->full, other->o.path);
	}
	return 0;
}

int check_partition_deleted(struct model *m, struct item *it, struct model_error *err)
{
	size_t len = strlen(it->o.path);

	for (uint32_t i = 1; i < m->slots; i++) {
		const struct item *other = m->slot[i];
		if (!other || other->deleted || path_partition(other->o.path) != len ||
			strncmp(other->o.path + 1, it->o.path, len))
			continue;
		return fail(m, err, -EBUSY, it, NULL, "is not empty: %s %s is in it",
			kind_of(other)->full, other->o.path);
	}
	return 0;
}
