/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of fields, each kept once and counted, so that the structs of objects hold no pointers. */
#include "model/model_internal.h"

struct string {
	char *text; /* NULL: unused */
	uint32_t len, hash, uses, next;
};

static uint32_t string_hash(const char *text, size_t len)
{
	return (uint32_t)hash_bytes(0, text, len);
}

int strings_init(struct strings *s)
{
	*s = (struct strings){.buckets = 64, .count = 1};
	s->bucket = calloc(s->buckets, sizeof(*s->bucket));
	return s->bucket ? 0 : -ENOMEM;
}

void strings_fini(struct strings *s)
{
	for (uint32_t i = 1; i < s->count; i++)
		free(s->row[i].text);
	free(s->row);
	free(s->bucket);
	*s = (struct strings){0};
}

static void strings_grow_buckets(struct strings *s)
{
	uint32_t buckets = s->buckets * 2;
	uint32_t *bucket = calloc(buckets, sizeof(*bucket));

	if (!bucket)
		return; /* longer chains, no harm */
	for (uint32_t i = 1; i < s->count; i++) {
		struct string *row = &s->row[i];
		if (!row->text)
			continue;
		row->next = bucket[row->hash & (buckets - 1)];
		bucket[row->hash & (buckets - 1)] = i;
	}
	free(s->bucket);
	s->bucket = bucket;
	s->buckets = buckets;
}

static uint32_t strings_row(struct strings *s)
{
	if (s->free) {
		uint32_t i = s->free;
		s->free = s->row[i].next;
		return i;
	}
	if (s->count >= s->cap) {
		uint32_t cap = s->cap ? s->cap * 2 : 64;
		struct string *row = realloc(s->row, cap * sizeof(*row));
		if (!row)
			return 0;
		s->row = row;
		s->cap = cap;
	}
	s->row[s->count] = (struct string){0};
	return s->count++;
}

uint32_t strings_get(struct strings *s, const char *text, size_t len)
{
	uint32_t hash = string_hash(text, len);

	if (len == 0)
		return 0;
	for (uint32_t i = s->bucket[hash & (s->buckets - 1)]; i; i = s->row[i].next) {
		struct string *row = &s->row[i];
		if (row->hash == hash && row->len == len && !memcmp(row->text, text, len)) {
			row->uses++;
			return i;
		}
	}
	char *copy = malloc(len + 1);
	uint32_t i = copy ? strings_row(s) : 0;
	if (!i) {
		free(copy);
		return UINT32_MAX;
	}
	memcpy(copy, text, len);
	copy[len] = '\0';
	if (++s->used > s->buckets)
		strings_grow_buckets(s);
	uint32_t *bucket = &s->bucket[hash & (s->buckets - 1)];
	s->row[i] = (struct string){
		.text = copy, .len = (uint32_t)len, .hash = hash, .uses = 1, .next = *bucket};
	*bucket = i;
	return i;
}

static void strings_drop(struct strings *s, uint32_t handle)
{
	struct string *row = &s->row[handle];
	uint32_t *link = &s->bucket[row->hash & (s->buckets - 1)];

	while (*link != handle)
		link = &s->row[*link].next;
	*link = row->next;
	free(row->text);
	*row = (struct string){.next = s->free};
	s->free = handle;
	s->used--;
}

void strings_count(struct strings *s, uint32_t handle, int by)
{
	if (!handle)
		return;
	s->row[handle].uses += (uint32_t)by;
	if (s->row[handle].uses == 0)
		strings_drop(s, handle);
}

const char *strings_text(const struct strings *s, uint32_t handle)
{
	return handle && handle < s->count && s->row[handle].text ? s->row[handle].text : "";
}
