/* SPDX-License-Identifier: BSD-3-Clause */
#include "rest/rest_target.h"

#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 6u /* segments of a kind's path */

bool rest_path_begins(const char *path, const char *const *segments, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		size_t n = strlen(segments[i]);

		if (strncmp(path, segments[i], n) || (path[n] != '/' && path[n]))
			return false;
		path += n + (path[n] == '/');
	}
	return true;
}

static int kind_at(const char *const *segments, unsigned count, unsigned *used)
{
	char path[REST_NAME_MAX] = "";
	int found = -1;
	size_t length = 0;

	for (unsigned n = 0; n < count && n < DEPTH_MAX; n++) {
		length += (size_t)snprintf(
			path + length, sizeof(path) - length, "%s%s", n ? "/" : "", segments[n]);
		if (length >= sizeof(path))
			break;
		int kind = model_kind_rest(path);
		if (kind >= 0) {
			found = kind;
			*used = n + 1;
		}
	}
	return found;
}

static int child_at(int owner, const char *segment)
{
	for (int k = 0; k < MODEL_KINDS; k++)
		if (model_kinds[k].owner == owner && !strcmp(model_kinds[k].rest, segment))
			return k;
	return -1;
}

static bool form_is_plain(int kind)
{
	return model_kinds[kind].name_form == NAME_PLAIN ||
	       model_kinds[kind].name_form == NAME_INTERFACE;
}

/* "~Common~web" to "/Common/web". False: longer than any name. */
static bool name_take(int kind, const char *segment, char *out)
{
	bool bare = model_kinds[kind].name_form == NAME_FOLDER && *segment != '~';
	int n = snprintf(out, REST_NAME_MAX, "%s%s", bare ? "/" : "", segment);

	if (n >= (int)REST_NAME_MAX)
		return false;
	for (char *p = out; *p && !form_is_plain(kind); p++)
		if (*p == '~')
			*p = '/';
	return true;
}

/* What stands behind an item: nothing, "stats", or a collection of its children. */
static void behind_item(const char *const *segments, unsigned count, struct rest_target *out);

/* What stands behind a collection: nothing, "stats", "example", an item, "members/stats" of all pools. */
static void behind_collection(const char *const *segments, unsigned count, struct rest_target *out)
{
	int child = count == 2 && !strcmp(segments[1], "stats") && !*out->owner
			    ? child_at(out->kind, segments[0])
			    : -1;

	out->what = REST_COLLECTION;
	if (child >= 0)
		out->kind = child;
	out->stats = child >= 0 || (count == 1 && !strcmp(segments[0], "stats"));
	out->example = count == 1 && !strcmp(segments[0], "example");
	if (count == 0 || out->stats || out->example)
		return;
	out->what = REST_ITEM;
	if (!name_take(out->kind, segments[0], out->name))
		out->what = REST_NOTHING;
	else
		behind_item(segments + 1, count - 1, out);
}

/* The item becomes the owner of what stands behind it, with its own owner before it. */
static bool owner_take(struct rest_target *out)
{
	char path[REST_NAME_MAX];
	int n = snprintf(
		path, sizeof(path), "%s%s%s", out->owner, *out->owner ? " " : "", out->name);

	strcpy(out->owner, n < (int)sizeof(path) ? path : "");
	out->name[0] = '\0';
	return n < (int)sizeof(path);
}

static void behind_item(const char *const *segments, unsigned count, struct rest_target *out)
{
	int child = count ? child_at(out->kind, segments[0]) : -1;

	out->what = REST_ITEM;
	out->stats = count == 1 && !strcmp(segments[0], "stats");
	if (count == 0 || out->stats)
		return;
	out->what = REST_NOTHING;
	if (child < 0)
		return;
	if (!owner_take(out)) {
		out->what = REST_NOTHING;
		return;
	}
	out->kind = child;
	behind_collection(segments + 1, count - 1, out);
}

static bool is_organising(const char *const *segments, unsigned count)
{
	if (count == 0)
		return true;
	for (int k = 0; k < MODEL_KINDS; k++)
		if (model_kinds[k].owner < 0 &&
			rest_path_begins(model_kinds[k].rest, segments, count))
			return true;
	return false;
}

void rest_target_find(const char *const *segments, unsigned count, struct rest_target *out)
{
	unsigned used = 0;
	int kind = kind_at(segments, count, &used);

	memset(out, 0, sizeof(*out));
	if (kind < 0) {
		out->what = is_organising(segments, count) ? REST_ORGANISING : REST_NOTHING;
		return;
	}
	out->kind = kind;
	if (model_kinds[kind].name_form == NAME_SINGLE)
		behind_item(segments + used, count - used, out);
	else
		behind_collection(segments + used, count - used, out);
}

void rest_name_full(enum model_kind kind, const char *name, char *out, size_t size)
{
	bool bare = *name != '/' && *name && !form_is_plain(kind) &&
		    model_kinds[kind].name_form != NAME_SINGLE;

	snprintf(out, size, "%s%s", bare ? "/Common/" : "", name);
}

const char *rest_kind_words(enum model_kind kind)
{
	return model_kinds[kind].full;
}
