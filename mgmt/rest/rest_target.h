/* SPDX-License-Identifier: BSD-3-Clause */
/* What a path below /mgmt/tm names. */
#ifndef WEIR_REST_REST_TARGET_H
#define WEIR_REST_REST_TARGET_H

#include <stdbool.h>

#include "model/model.h"

#define REST_NAME_MAX 512u

enum rest_what {
	REST_NOTHING,	 /* no such path */
	REST_ORGANISING, /* "ltm", "ltm/monitor": only links to what is below */
	REST_COLLECTION,
	REST_ITEM, /* also the only one of its kind */
};

struct rest_target {
	enum rest_what what;
	enum model_kind kind;
	char owner
		[REST_NAME_MAX]; /* of a child kind, as weir-cp takes it, behind its own owner; "" none or all */
	char name[REST_NAME_MAX]; /* of an item; "" of the only one of its kind */
	bool stats, example;
};

/* segments: behind "/mgmt/tm". */
void rest_target_find(const char *const *segments, unsigned count, struct rest_target *out);

/* Whether the segments are the first ones of path ("ltm/monitor/http"). */
bool rest_path_begins(const char *path, const char *const *segments, unsigned count);

/* "/Common/web" of "web", where the kind has partitions. */
void rest_name_full(enum model_kind kind, const char *name, char *out, size_t size);

/* LTM's words of a kind as weir-cp takes them. */
const char *rest_kind_words(enum model_kind kind);

#endif
