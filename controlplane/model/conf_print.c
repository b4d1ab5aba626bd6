/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects as weir.conf and "list" show them. */
#include "model/model_internal.h"

#include <stdio.h>

/*
 * Beside enum print_flags: PRINT_RESET for a journal, where an object's fields start from their defaults;
 * PRINT_NO_ID without what an object has from its machine.
 */
enum { PRINT_RESET = 0x200, PRINT_NO_ID = 0x400 };

bool value_is_default(const struct model *m, const struct item *it, const struct field *f)
{
	const struct kind *k = kind_of(it);
	const void *p = field_in(f, it->data);

	if (f->required)
		return false;
	if (it->base)
		return !memcmp(p, field_in(f, it->base), f->size);
	if (field_inherits(it, f))
		return !(it->given & field_bit(it, f));
	if (f->type == TYPE_REF && f->default_text) {
		struct item *to = item_of(m, *(const uint32_t *)p);
		return to && !strcmp(to->o.path, f->default_text);
	}
	if (f == model_field_find(KIND_VIRTUAL, NULL, "source"))
		return ((const struct model_prefix *)p)->len == 0 &&
		       ip_is_any(&((const struct model_prefix *)p)->addr);
	return !memcmp(p, field_in(f, k->defaults), f->size);
}

static void indent(struct text *out, unsigned depth)
{
	text_add(out, "                                ", depth * 4);
}

static void print_value(
	const struct model *m, const struct item *it, const struct field *f, struct text *out)
{
	struct text value = {0};

	model_field_text(m, &it->o, f, &value);
	if (f->type == TYPE_STRING && !value.len)
		text_printf(out, "none");
	else if (f->type == TYPE_MONITOR_RULE && !value.failed)
		text_printf(out, "%s", value.data);
	else if (f->type == TYPE_STRING && !strcmp(value.data, "none"))
		text_printf(out, "\"none\""); /* the bare word means: nothing */
	else
		text_add_word(out, value.data ? value.data : "");
	out->failed |= value.failed;
	text_fini(&value);
}

static void print_list(const struct model *m, const struct item *it, const struct field *f,
	unsigned depth, struct text *out)
{
	const struct model_list *list = field_in(f, it->data);

	if (!list->count) {
		text_printf(out, "%s\n",
			list->mode == LIST_ALL	     ? "all"
			: list->mode == LIST_DEFAULT ? "default"
						     : "none");
		return;
	}
	text_printf(out, "{\n");
	if (list->mode == LIST_DEFAULT) {
		indent(out, depth + 1);
		text_printf(out, "default\n");
	}
	for (unsigned i = 0; i < list->count; i++) {
		indent(out, depth + 1);
		if (f->type == TYPE_STRINGS)
			text_add_word(out, strings_text(&m->strings, list->entry[i]));
		else
			list_text(m, f, list->entry[i], out);
		text_printf(out, "\n");
	}
	indent(out, depth);
	text_printf(out, "}\n");
}

/* A line for each: "user-defined NAME VALUE". */
static void print_pairs(const struct model *m, const struct item *it, const struct field *f,
	unsigned depth, struct text *out)
{
	const char *line = strings_text(&m->strings, *(const uint32_t *)field_in(f, it->data));

	if (!*line) {
		indent(out, depth);
		text_printf(out, "%s none\n", f->name);
	}
	while (*line) {
		size_t name = strcspn(line, "="), len = strcspn(line, "\n");
		struct text value = {0};
		indent(out, depth);
		text_printf(out, "%s %.*s ", f->name, (int)name, line);
		text_add(&value, line + name + 1, len - name - 1);
		if (value.data && !strcmp(value.data, "none"))
			text_printf(out, "\"none\"");
		else
			text_add_word(out, value.data ? value.data : "");
		text_printf(out, "\n");
		out->failed |= value.failed;
		text_fini(&value);
		line += len + (line[len] != '\0');
	}
}

static void print_field(const struct model *m, const struct item *it, const struct field *f,
	unsigned depth, struct text *out)
{
	if (f->pairs) {
		print_pairs(m, it, f, depth, out);
		return;
	}
	if (f->type == TYPE_FLAG && !*(const uint8_t *)field_in(f, it->data) && !f->opposite)
		return;
	indent(out, depth);
	if (f->type == TYPE_FLAG) {
		model_field_text(m, &it->o, f, out);
		text_printf(out, "\n");
		return;
	}
	text_printf(out, "%s ", f->name);
	if (f->type == TYPE_ROWS) {
		rows_print(m, it, f, depth, out);
		return;
	}
	if (field_is_list(f)) {
		print_list(m, it, f, depth, out);
		return;
	}
	print_value(m, it, f, out);
	text_printf(out, "\n");
}

/* ---- holds ---- */

/* What a file must say: run-time classes are not saved, an operator's bits are session and state. */
static unsigned saved_bits(const struct holds *h, unsigned flags)
{
	return flags & PRINT_CONF && !(flags & PRINT_STORE)
		       ? h->by[HOLD_OPERATOR].bits | h->by[HOLD_AGENT].bits
		       : holds_bits(h);
}

static bool holds_need_block(const struct holds *h, unsigned flags)
{
	unsigned classes = flags & (PRINT_STORE | PRINT_HOLDS) ? HOLD_CLASSES : HOLD_AGENT + 1;

	if (!(flags & (PRINT_CONF | PRINT_STORE | PRINT_HOLDS)))
		return false;
	for (unsigned i = 0; i < classes; i++)
		if (h->by[i].bits && (i != HOLD_OPERATOR || h->by[i].reason || flags & PRINT_HOLDS))
			return true;
	return false;
}

static void print_holds(const struct model *m, const struct item *it, unsigned flags,
	unsigned depth, struct text *out)
{
	const struct holds *h = (const struct holds *)((const char *)it->data + kind_of(it)->holds);
	unsigned classes = flags & (PRINT_STORE | PRINT_HOLDS) ? HOLD_CLASSES : HOLD_AGENT + 1;

	if (!holds_need_block(h, flags))
		return;
	indent(out, depth);
	text_printf(out, "holds {\n");
	for (unsigned i = 0; i < classes; i++) {
		if (!h->by[i].bits)
			continue;
		indent(out, depth + 1);
		text_printf(out, "%s {%s%s", hold_class_name[i],
			h->by[i].bits & HOLD_SESSION ? " session user-disabled" : "",
			h->by[i].bits & HOLD_STATE ? " state user-down" : "");
		if (h->by[i].reason) {
			text_printf(out, " reason ");
			text_add_word(out, strings_text(&m->strings, h->by[i].reason));
		}
		text_printf(out, " }\n");
	}
	indent(out, depth);
	text_printf(out, "}\n");
}

/* ---- objects ---- */

static bool field_shows(
	const struct model *m, const struct item *it, const struct field *f, unsigned flags)
{
	const struct holds *h = (const struct holds *)((const char *)it->data + kind_of(it)->holds);

	if (f->hidden || f->type == TYPE_HOLDS || f->password ||
		(f->hash && !(flags & (PRINT_HASHES | PRINT_CONF | PRINT_STORE))))
		return false;
	if (f->hold)
		return flags & PRINT_ALL || saved_bits(h, flags) & f->hold;
	if (f->class == FIELD_READ_ONLY && !value_is_default(m, it, f))
		return !(flags & PRINT_CONF) || flags & PRINT_STORE;
	if (f->class == FIELD_READ_ONLY || f->derived)
		return flags & PRINT_ALL && !(flags & (PRINT_STORE | PRINT_CONF));
	return flags & PRINT_ALL || !value_is_default(m, it, f);
}

static void print_fields(const struct model *m, const struct item *it, unsigned flags,
	unsigned depth, struct text *out)
{
	const struct kind *k = kind_of(it);
	const char *group = NULL;

	for (unsigned i = 0; i < k->field_count; i++) {
		const struct field *f = &k->fields[i];
		if (group && (!f->group || strcmp(f->group, group))) {
			indent(out, depth);
			text_printf(out, "}\n");
			group = NULL;
		}
		if (f->type == TYPE_HOLDS)
			print_holds(m, it, flags, depth, out);
		if (!field_shows(m, it, f, flags))
			continue;
		if (f->group && !group) {
			indent(out, depth);
			text_printf(out, "%s {\n", f->group);
			group = f->group;
		}
		print_field(m, it, f, depth + (f->group != NULL), out);
	}
	if (group) {
		indent(out, depth);
		text_printf(out, "}\n");
	}
}

static void print_store_words(
	const struct item *it, unsigned flags, unsigned depth, struct text *out)
{
	if (flags & PRINT_STORE && !(flags & PRINT_NO_ID)) {
		indent(out, depth);
		text_printf(out, "object-id %u\n", it->o.id);
		indent(out, depth);
		text_printf(out, "object-generation %llu\n", (unsigned long long)it->o.generation);
	}
	if (flags & PRINT_RESET) {
		indent(out, depth);
		text_printf(out, "object-reset yes\n");
	}
}

static void print_block(const struct model *m, const struct item *it, unsigned flags,
	unsigned depth, bool children, struct text *out);

/* What name resolution has made is not saved. */
static bool item_shows(const struct item *it, unsigned flags)
{
	return !item_is_ephemeral(it) || !(flags & PRINT_CONF) || flags & PRINT_STORE;
}

static void print_children(const struct model *m, const struct item *it, unsigned flags,
	unsigned depth, struct text *out)
{
	struct order *o = &((struct item *)it)->children;
	int kind = -1;

	order_fix(o);
	for (unsigned i = 0; i < o->count; i++) {
		if (!item_shows(o->v[i], flags))
			continue;
		if (kind != o->v[i]->o.kind) {
			if (kind >= 0) {
				indent(out, depth);
				text_printf(out, "}\n");
			}
			kind = o->v[i]->o.kind;
			indent(out, depth);
			text_printf(out, "%s {\n", model_kinds[kind].words);
		}
		print_block(m, o->v[i], flags, depth + 1, true, out);
	}
	if (kind < 0)
		return;
	indent(out, depth);
	text_printf(out, "}\n");
}

/* "NAME { ... }", empty as "NAME { }". */
static void print_block(const struct model *m, const struct item *it, unsigned flags,
	unsigned depth, bool children, struct text *out)
{
	indent(out, depth);
	if (kind_of(it)->name_form != NAME_SINGLE) {
		text_add_word(out, it->o.path);
		text_printf(out, " ");
	}
	text_printf(out, "{\n");
	size_t body = out->len;
	print_store_words(it, flags, depth + 1, out);
	print_fields(m, it, flags, depth + 1, out);
	if (children)
		print_children(m, it, flags, depth + 1, out);
	if (out->len == body && !out->failed) {
		out->len--;
		text_printf(out, " }\n");
		return;
	}
	indent(out, depth);
	text_printf(out, "}\n");
}

static void print_item(
	const struct model *m, const struct item *it, unsigned flags, struct text *out)
{
	if (kind_of(it)->owner < 0)
		text_printf(out, "%s ", kind_of(it)->words);
	print_block(m, it, flags, 0, true, out);
}

void model_print_object(
	const struct model *m, const struct object *o, unsigned flags, struct text *out)
{
	print_item(m, (const struct item *)o,
		flags & (PRINT_ALL | PRINT_STORE | PRINT_HOLDS | PRINT_HASHES | PRINT_CONF), out);
}

/* Built-in objects, and ports that came into being when named, stand in the file only if changed. */
static bool item_is_plain(const struct model *m, const struct item *it)
{
	const struct kind *k = kind_of(it);

	if (it->base)
		return !memcmp(it->base, it->data, k->size);
	return kind_is_fixed(it->o.kind, it->o.path) && !memcmp(k->defaults, it->data, k->size);
}

bool model_is_saved(const struct model *m, const struct object *o)
{
	const struct item *it = (const struct item *)o;

	return item_shows(it, PRINT_CONF) && !item_is_plain(m, it);
}

void model_print(const struct model *m, unsigned flags, struct text *out)
{
	bool store = flags & PRINT_STORE;
	unsigned floor = m->generation_floor;

	flags = (flags & (PRINT_ALL | PRINT_STORE | PRINT_HOLDS)) | PRINT_CONF;
	for (uint32_t i = 1; store && i < m->slots; i++)
		if (m->slot_generation[i] >= floor)
			floor = m->slot_generation[i] + 1u;
	if (store)
		text_printf(out, "id-floor %u\ngeneration %llu\n", floor,
			(unsigned long long)m->generation);
	for (unsigned kind = 0; kind < MODEL_KINDS; kind++) {
		struct order *o = (struct order *)&m->order[kind];
		order_fix(o);
		for (unsigned i = 0; model_kinds[kind].owner < 0 && i < o->count; i++)
			if (item_shows(o->v[i], flags) &&
				(!item_is_plain(m, o->v[i]) || (store && !o->v[i]->base)))
				print_item(m, o->v[i], flags, out);
	}
}

/* ---- changes ---- */

/* Opens the blocks of the owners in a path: "ltm pool /Common/web {", "members {". Their depth. */
static unsigned print_owners(
	enum model_kind kind, const char **path, const char *verb, struct text *out)
{
	int owner = model_kinds[kind].owner;
	const char *rest = *path;
	unsigned depth;

	if (owner < 0) {
		text_printf(out, "%s%s ", verb, model_kinds[kind].words);
		return 0;
	}
	depth = print_owners((enum model_kind)owner, &rest, "", out);
	if (depth)
		indent(out, depth);
	text_printf(out, "%.*s {\n", (int)strcspn(rest, " "), rest);
	*path = rest + strcspn(rest, " ") + 1;
	indent(out, depth + 1);
	text_printf(out, "%s %s{\n", model_kinds[kind].words, verb);
	return depth + 2;
}

static void close_owners(unsigned depth, struct text *out)
{
	while (depth-- > 0) {
		indent(out, depth);
		text_printf(out, "}\n");
	}
}

static void print_deleted(enum model_kind kind, const char *path, struct text *out)
{
	unsigned depth = print_owners(kind, &path, "delete ", out);

	indent(out, depth);
	text_add_word(out, path);
	text_printf(out, "\n");
	close_owners(depth, out);
}

static void print_changed(
	const struct model *m, const struct item *it, unsigned flags, struct text *out)
{
	char name[MODEL_NAME_MAX * 2];
	const char *path = name;

	item_name(m, it, name, sizeof(name));
	unsigned depth = print_owners((enum model_kind)it->o.kind, &path, "", out);
	print_block(m, it, flags, depth, false, out);
	close_owners(depth, out);
}

/* Owners of deleted children that are gone too need no word; what is deleted goes first, users before used. */
void model_print_changes(
	const struct model *m, const struct model_changes *changes, struct text *out)
{
	unsigned flags = PRINT_STORE | PRINT_CONF | PRINT_RESET;

	text_printf(out, "generation %llu\n", (unsigned long long)changes->generation);
	for (unsigned i = 0; i < changes->count; i++) {
		const struct model_change *c = &changes->row[i];
		if (c->what == CHANGE_DELETED && (model_kinds[c->kind].owner < 0 || !c->owner_gone))
			print_deleted(c->kind, c->path, out);
	}
	for (unsigned i = 0; i < changes->count; i++) {
		struct item *it = item_of(m, changes->row[i].id);
		if (it && changes->row[i].what != CHANGE_DELETED)
			print_changed(m, it, flags, out);
	}
}

/* ---- taking back ---- */

void model_print_state(const struct model *m, uint32_t id, struct text *out)
{
	struct item *it = item_of(m, id);

	if (it && !item_is_ephemeral(it))
		print_changed(m, it, PRINT_STORE | PRINT_CONF | PRINT_RESET | PRINT_NO_ID, out);
}

int print_before(struct model *m, const struct touch *t, char **out)
{
	struct item *it = t->item, now = *it;
	struct text text = {0};

	*out = NULL;
	if (!t->before)
		return 0;
	it->o.data = it->data = t->before;
	it->given = t->given_before;
	model_print_state(m, it->o.id, &text);
	it->o.data = it->data = now.data;
	it->given = now.given;
	*out = text.data;
	if (!text.failed)
		return 0;
	text_fini(&text);
	*out = NULL;
	return -ENOMEM;
}

void model_print_undo(enum model_kind kind, const char *path, const char *before, struct text *out)
{
	if (before)
		text_add(out, before, strlen(before));
	else
		print_deleted(kind, path, out);
}
