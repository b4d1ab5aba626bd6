/* SPDX-License-Identifier: BSD-3-Clause */
/* The way back: of each object that changed since, the oldest state that the history has. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/atomic_file.h"
#include "store/difference.h"
#include "store/store_internal.h"

#define DIFFERENCE_LINES 10000u

struct piece {
	uint32_t kind;
	uint32_t number; /* in the order of the history */
	const char *path, *before;
};

struct pieces {
	struct piece *v;
	unsigned count, size;
	char *data[2]; /* of the two files, which the pieces point into */
};

static void pieces_fini(struct pieces *p)
{
	free(p->data[0]);
	free(p->data[1]);
	free(p->v);
}

static int piece_add(struct pieces *p, int kind, const char *path, const char *before)
{
	if (p->count == p->size) {
		unsigned size = p->size ? 2 * p->size : 256;
		struct piece *more = reallocarray(p->v, size, sizeof(*more));
		if (!more)
			return -ENOMEM;
		p->v = more;
		p->size = size;
	}
	p->v[p->count] = (struct piece){(uint32_t)kind, p->count, path, before};
	p->count++;
	return 0;
}

static int kind_of_words(const char *words)
{
	for (int k = 0; k < MODEL_KINDS; k++)
		if (!strcmp(model_kinds[k].full, words))
			return k;
	return -1;
}

/* The next text of a record; NULL behind the last. */
static const char *text_next(const char **at, const char *end)
{
	const char *text = *at;
	size_t length = strnlen(text, (size_t)(end - text));

	if (text + length >= end)
		return NULL;
	*at = text + length + 1;
	return text;
}

static int record_take(struct pieces *p, const struct record *r)
{
	const char *at = r->text, *end = r->text + r->length, *words, *path, *before;
	int kind = -1, rc = text_next(&at, end) ? 0 : -EBADMSG; /* the difference */
	const char *last = "";

	while (rc == 0 && at < end) {
		words = text_next(&at, end);
		path = words ? text_next(&at, end) : NULL;
		before = path ? text_next(&at, end) : NULL;
		if (!before)
			return -EBADMSG;
		/* Mostly many of one kind. */
		if (strcmp(words, last))
			kind = kind_of_words(words);
		last = words;
		rc = kind < 0 ? -EBADMSG : piece_add(p, kind, path, *before ? before : NULL);
	}
	return rc;
}

static int file_take(struct pieces *p, const struct store *s, const char *path, uint64_t generation,
	bool live, char **data)
{
	struct record r;
	size_t size = 0, offset = 0;
	int rc = file_read(path, data, &size);

	if (rc)
		return rc == -ENOENT ? 0 : rc;
	while (rc == 0 && record_decode(*data, size, &offset, &r) == 0 && r.seq <= s->seq) {
		bool wanted = r.type == RECORD_UNDO ? r.generation > generation
						    : live && r.generation >= generation;
		if (wanted)
			rc = record_take(p, &r);
	}
	return rc;
}

static int by_object(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return strcmp(x->path, y->path);
}

static int by_age(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;
	int order = by_object(a, b);

	return order ? order : x->number < y->number ? -1 : 1;
}

static void keep_oldest(struct pieces *p)
{
	unsigned kept = 0;

	if (p->count)
		qsort(p->v, p->count, sizeof(*p->v), by_age);
	for (unsigned i = 0; i < p->count; i++)
		if (!kept || by_object(&p->v[kept - 1], &p->v[i]))
			p->v[kept++] = p->v[i];
	p->count = kept;
}

/* The children go with it. */
static bool owner_goes(const struct pieces *p, const struct piece *child)
{
	char path[MODEL_NAME_MAX];
	struct piece key = {.kind = (uint32_t)model_kinds[child->kind].owner, .path = path};

	if (model_kinds[child->kind].owner < 0)
		return false;
	snprintf(path, sizeof(path), "%.*s", (int)(strrchr(child->path, ' ') - child->path),
		child->path);
	const struct piece *owner = bsearch(&key, p->v, p->count, sizeof(*p->v), by_object);
	return owner && (!owner->before || owner_goes(p, owner));
}

static void undo_print(const struct pieces *p, struct text *out)
{
	static const struct {
		bool child, there;
	} pass[] = {{true, false}, {false, false}, {false, true}, {true, true}};

	for (size_t n = 0; n < sizeof(pass) / sizeof(*pass); n++)
		for (unsigned i = 0; i < p->count; i++) {
			const struct piece *v = &p->v[i];
			bool child = model_kinds[v->kind].owner >= 0;

			if (child != pass[n].child || (v->before != NULL) != pass[n].there ||
				(child && !v->before && owner_goes(p, v)))
				continue;
			model_print_undo((enum model_kind)v->kind, v->path, v->before, out);
		}
}

int store_history_undo(const struct store *s, const struct model *m, uint64_t generation, bool live,
	struct text *out)
{
	struct pieces p = {0};
	int rc;

	if (generation < store_history_floor(s, m))
		return -ERANGE;
	rc = file_take(&p, s, s->undo.old_path, generation, live, &p.data[0]);
	if (rc == 0)
		rc = file_take(&p, s, s->undo.path, generation, live, &p.data[1]);
	if (rc == 0) {
		keep_oldest(&p);
		undo_print(&p, out);
	}
	pieces_fini(&p);
	return rc == 0 && out->failed ? -ENOMEM : rc;
}

/* --- against the startup file --------------------------------------------------------------------- */

struct comparison {
	struct text *out;
	unsigned left, more;
};

static void object_print(const struct model *m, const struct object *o, struct text *out)
{
	if (o)
		model_print_object(m, o, PRINT_CONF | PRINT_HASHES, out);
}

static void object_compare(struct comparison *c, const struct model *was, const struct object *a,
	const struct model *is, const struct object *b)
{
	struct text before = {0}, after = {0};

	object_print(was, a, &before);
	object_print(is, b, &after);
	if (before.len != after.len || (before.len && memcmp(before.data, after.data, before.len)))
		difference_object(before.data ? before.data : "", after.data ? after.data : "",
			&c->left, &c->more, c->out);
	text_fini(&before);
	text_fini(&after);
}

/* Both are in the order of paths. */
static void kind_compare(
	struct comparison *c, const struct model *was, const struct model *is, enum model_kind kind)
{
	unsigned i = 0, j = 0;

	for (;;) {
		const struct object *a = model_at(was, kind, i), *b = model_at(is, kind, j);
		int order = a && b ? strcmp(a->path, b->path) : a ? -1 : 1;

		if (!a && !b)
			return;
		i += order <= 0;
		j += order >= 0;
		if (order > 0 && model_is_ephemeral(b))
			continue;
		object_compare(c, was, order <= 0 ? a : NULL, is, order >= 0 ? b : NULL);
	}
}

static int saved_load(const struct store *s, struct model *m, struct model_error *err)
{
	static const struct model_actor actor = {.class = HOLD_OPERATOR, .role = ROLE_ADMIN};
	char *data = NULL;
	size_t size;
	int rc = file_read(s->startup, &data, &size);

	*err = (struct model_error){.code = rc};
	if (rc)
		snprintf(err->reason, sizeof(err->reason), "what was saved last cannot be read: %s",
			strerror(-rc));
	if (rc == 0)
		rc = model_begin(m, &actor);
	if (rc == 0)
		rc = model_load(m, data, size, s->startup, 0, err);
	if (rc == 0)
		rc = model_commit(m, NULL, err);
	if (rc)
		model_abort(m);
	free(data);
	return rc;
}

int store_saved_difference(
	const struct store *s, const struct model *m, struct text *out, struct model_error *err)
{
	struct comparison c = {.out = out, .left = DIFFERENCE_LINES};
	struct model *saved = model_new();
	int rc = saved ? saved_load(s, saved, err) : -ENOMEM;

	if (!saved)
		*err = (struct model_error){.code = -ENOMEM, .reason = "no memory"};
	for (unsigned kind = 0; rc == 0 && kind < MODEL_KINDS; kind++)
		if (model_kinds[kind].owner < 0)
			kind_compare(&c, saved, m, kind);
	if (c.more)
		text_printf(out, "and %u lines more\n", c.more);
	model_free(saved);
	return rc;
}
