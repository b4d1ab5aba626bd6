/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds and fields by the words people and clients use. */
#include "model/model_internal.h"

/* Whether text begins with the kind's words; *used words. */
static bool words_match(const char *text, const char *const *words, unsigned count, unsigned *used)
{
	unsigned n = 0;

	while (*text) {
		size_t len = strcspn(text, " ");
		if (n == count || strlen(words[n]) != len || strncmp(words[n], text, len))
			return false;
		text += len + (text[len] == ' ');
		n++;
	}
	*used = n;
	return true;
}

int model_kind_find(const char *const *words, unsigned count, unsigned *used)
{
	unsigned taken;
	int found = -1;

	/* The longest: "sys snmp communities" begins with a kind too. */
	for (unsigned i = 0; i < MODEL_KINDS; i++)
		if (model_kinds[i].owner < 0 &&
			words_match(model_kinds[i].words, words, count, &taken) &&
			(found < 0 || taken > *used)) {
			found = (int)i;
			*used = taken;
		}
	if (found >= 0)
		return found;
	for (const struct kind_alias *a = model_kind_aliases; a->words; a++)
		if (words_match(a->words, words, count, &taken)) {
			*used = taken;
			return (int)a->kind;
		}
	return -1;
}

/* "ltm/pool" against "ltm pool". */
static bool rest_match(const char *words, const char *path)
{
	for (; *words && *path; words++, path++)
		if (*words != *path && !(*words == ' ' && *path == '/'))
			return false;
	return *words == *path;
}

int model_kind_rest(const char *path)
{
	for (unsigned i = 0; i < MODEL_KINDS; i++)
		if (model_kinds[i].owner < 0 && !strcmp(model_kinds[i].rest, path))
			return (int)i;
	for (const struct kind_alias *a = model_kind_aliases; a->words; a++)
		if (rest_match(a->words, path))
			return (int)a->kind;
	return -1;
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

const struct field *model_field_find(enum model_kind kind, const char *group, const char *name)
{
	const struct kind *k = &model_kinds[kind];

	for (unsigned i = 0; i < k->field_count; i++) {
		const struct field *f = &k->fields[i];
		if (same(f->group, group) && (!strcmp(f->name, name) || same(f->opposite, name)))
			return f;
	}
	return NULL;
}

const struct field *model_field_rest(enum model_kind kind, const char *group, const char *name)
{
	const struct kind *k = &model_kinds[kind];

	for (unsigned i = 0; i < k->field_count; i++) {
		const struct field *f = &k->fields[i];
		if (same(f->rest_group, group) &&
			(!strcmp(f->rest, name) || same(f->rest_opposite, name)))
			return f;
	}
	return NULL;
}
