/* SPDX-License-Identifier: BSD-3-Clause */
/* Transactions: an undo log of what was touched, the change list of a commit. */
#include "model/model_internal.h"

#include <stdio.h>

int model_begin(struct model *m, const struct model_actor *actor)
{
	if (m->open)
		return -EBUSY;
	m->open = true;
	m->failed = false;
	m->actor = *actor;
	m->actor_reason = actor->reason ? strdup(actor->reason) : NULL;
	m->actor.reason = m->actor_reason;
	m->note[0] = '\0';
	m->passwords = 0;
	m->floor_before = m->generation_floor;
	m->line = 0;
	m->file = NULL;
	return 0;
}

/* Rows that grow by doubling. */
static bool rows_reserve(void **rows, uint32_t *cap, uint32_t count, size_t size)
{
	if (count < *cap)
		return true;
	uint32_t more = *cap ? *cap * 2 : 16;
	void *grown = realloc(*rows, more * size);
	if (!grown)
		return false;
	*rows = grown;
	*cap = more;
	return true;
}

static struct touch *touch_add(struct model *m, struct item *it)
{
	if (!rows_reserve((void **)&m->touch, &m->touches_cap, m->touches, sizeof(*m->touch)))
		return NULL;
	struct touch *t = &m->touch[m->touches++];
	*t = (struct touch){.item = it, .line = m->line, .published = m->loading};
	it->touch = m->touches;
	return t;
}

struct touch *item_touch(struct model *m, struct item *it)
{
	const struct kind *k = kind_of(it);

	if (it->touch)
		return touch_of(m, it);
	void *before = malloc(k->size);
	struct touch *t = before ? touch_add(m, it) : NULL;
	if (!t) {
		free(before);
		return NULL;
	}
	memcpy(before, it->data, k->size);
	data_count_strings(m, it->o.kind, before, 1);
	t->before = before;
	t->given_before = it->given;
	return t;
}

/* ---- pending references ---- */

int change_pending(struct model *m, struct item *it, const struct field *f, const char *name)
{
	struct touch *t = item_touch(m, it);

	if (!t || !rows_reserve(
			  (void **)&m->pending, &m->pendings_cap, m->pendings, sizeof(*m->pending)))
		return -ENOMEM;
	char *copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	m->pending[m->pendings++] =
		(struct pending){.item = it, .field = f, .name = copy, .line = m->line};
	t->pending++;
	return 0;
}

void change_drop_pending(struct model *m, const struct item *it, const struct field *f)
{
	if (!it->touch || !touch_of(m, it)->pending)
		return;
	/* mostly it is among the last */
	for (uint32_t i = m->pendings; i-- > 0 && touch_of(m, it)->pending;) {
		struct pending *p = &m->pending[i];
		if (p->item != it || (f && p->field != f))
			continue;
		p->item = NULL;
		touch_of(m, it)->pending--;
	}
}

static void pending_clear(struct model *m)
{
	for (uint32_t i = 0; i < m->pendings; i++)
		free(m->pending[i].name);
	m->pendings = 0;
}

/* ---- create, delete ---- */

/* An object deleted earlier in this transaction comes back under its old id, as new. */
static void revive(struct model *m, struct item *it)
{
	item_show(m, it);
	data_count_strings(m, it->o.kind, it->data, -1);
	memcpy(it->data, kind_of(it)->defaults, kind_of(it)->size);
	it->given = 0;
}

int change_adopt(struct model *m, struct item *it, struct model_error *err)
{
	bool internal = m->internal;
	int rc;

	m->internal = true;
	rc = set_text(m, it, model_field_find(it->o.kind, NULL, "ephemeral"), "false", err);
	if (!rc)
		rc = set_text(m, it, model_field_find(it->o.kind, "fqdn", "name"), "", err);
	if (!rc)
		rc = set_defaults(m, it, 0, err);
	m->internal = internal;
	return rc;
}

int change_create(struct model *m, enum model_kind kind, struct item *owner, const char *path,
	uint32_t id, struct item **out, struct model_error *err)
{
	uint32_t owner_id = owner ? owner->o.id : ID_NONE;
	struct item *it = item_any(m, kind, owner_id, path);

	if (it && !it->deleted && kind == KIND_POOL_MEMBER && item_is_ephemeral(it) &&
		m->actor.class != HOLD_SYSTEM) {
		if (out)
			*out = it;
		return change_adopt(m, it, err);
	}
	if (it && !it->deleted)
		return fail_named(m, err, -EEXIST, kind, path, NULL, "exists already");
	if (it) {
		revive(m, it);
	} else {
		it = item_new(m, kind, owner, path, id);
		if (!it)
			return fail_named(m, err, -ENOMEM, kind, path, NULL,
				"no room for more objects, or its id is taken");
		if (!touch_add(m, it)) {
			item_free(m, it);
			return fail_named(m, err, -ENOMEM, kind, path, NULL, "no memory");
		}
	}
	change_defaults(m, it);
	item_count_refs(m, it, 1);
	if (out)
		*out = it;
	return 0;
}

static void delete_one(struct model *m, struct item *it)
{
	change_drop_pending(m, it, NULL);
	item_count_refs(m, it, -1);
	item_hide(m, it);
}

int change_delete(struct model *m, struct item *it, struct model_error *err)
{
	for (unsigned i = 0; i < it->children.count; i++) {
		struct item *child = it->children.v[i];
		int rc = child->deleted ? 0 : change_delete(m, child, err);
		if (rc)
			return rc;
	}
	if (!item_touch(m, it))
		return fail(m, err, -ENOMEM, it, NULL, "no memory");
	delete_one(m, it);
	return 0;
}

/* ---- who may ---- */

static const char *server_of(const struct model *m, const struct object *o)
{
	const struct pool_member *member = model_pool_member(o);
	const struct item *node = member ? item_of(m, member->conf.node) : NULL;

	return o->kind == KIND_NODE ? o->path : node ? node->o.path : NULL;
}

struct model_ask model_ask_of(const struct model *m, const struct object *o, enum model_deed deed)
{
	return (struct model_ask){.deed = deed,
		.kind = o->kind,
		.who = model_kinds[o->kind].who,
		.path = item_root(m, (const struct item *)o)->o.path,
		.server = server_of(m, o),
		.hold = -1};
}

static bool may(const struct model *m, const struct model_ask *ask)
{
	return m->actor.may ? m->actor.may(m->actor.who, ask) : m->actor.role >= ask->who;
}

bool change_may(const struct model *m, const struct item *it, const struct field *f)
{
	struct model_ask ask = model_ask_of(m, &it->o, MODEL_MODIFY);

	ask.field = f;
	ask.who = f->who;
	return m->internal || may(m, &ask);
}

/* What somebody may not even read does not exist for him. */
static int refuse_change(
	struct model *m, const struct item *it, const char *field, struct model_error *err)
{
	const struct model_ask read = model_ask_of(m, &it->o, MODEL_READ);

	if (m->actor.may && !may(m, &read))
		return fail(m, err, -ENOENT, it, NULL, "was not found");
	return fail(m, err, -EPERM, it, field, "your role may not change this");
}

int change_check(
	struct model *m, const struct item *it, const struct field *f, struct model_error *err)
{
	struct model_ask ask = model_ask_of(m, &it->o, f ? MODEL_MODIFY : MODEL_DELETE);

	ask.field = f;
	if (f)
		ask.who = f->who;
	if (m->internal)
		return 0;
	if (!may(m, &ask))
		return refuse_change(m, it, f ? f->name : NULL, err);
	return (!f && it->o.kind == KIND_POLICY) || (f && f->action)
		       ? 0
		       : policy_check_change(m, it, err);
}

int change_check_hold(
	struct model *m, const struct item *it, enum hold_class class, struct model_error *err)
{
	struct model_ask ask = model_ask_of(m, &it->o, MODEL_MODIFY);

	ask.who = ROLE_OPERATOR;
	ask.hold = class;
	if (m->internal || may(m, &ask))
		return 0;
	return refuse_change(m, it, "holds", err);
}

int change_check_create(struct model *m, enum model_kind kind, const struct item *owner,
	const char *path, struct model_error *err)
{
	const struct model_ask ask = {.deed = MODEL_CREATE,
		.kind = (uint8_t)kind,
		.who = model_kinds[kind].who,
		.path = owner ? item_root(m, owner)->o.path : path,
		.hold = -1};

	if (may(m, &ask))
		return owner ? policy_check_change(m, owner, err) : 0;
	return fail_named(m, err, -EPERM, kind, path, NULL, "your role may not create this");
}

/* ---- end ---- */

static void touches_clear(struct model *m)
{
	pending_clear(m);
	for (uint32_t i = 0; i < m->touches; i++)
		free(m->touch[i].before);
	m->touches = 0;
}

static void transaction_end(struct model *m)
{
	touches_clear(m);
	free(m->actor_reason);
	m->actor_reason = NULL;
	m->open = m->ending = false;
	free(m->file);
	m->file = NULL;
	m->line = 0;
}

void model_abort(struct model *m)
{
	if (!m->open)
		return;
	pending_clear(m);
	m->generation_floor = m->floor_before;
	m->store_generation = 0;
	m->ending = true;
	for (uint32_t i = m->touches; i-- > 0;) {
		struct touch *t = &m->touch[i];
		struct item *it = t->item;
		if (!it->deleted)
			item_count_refs(m, it, -1);
		data_count_strings(m, it->o.kind, it->data, -1);
		it->touch = 0;
		if (!t->before) {
			item_free(m, it);
			continue;
		}
		memcpy(it->data, t->before, kind_of(it)->size);
		it->given = t->given_before;
		if (it->deleted)
			item_show(m, it);
		item_count_refs(m, it, 1);
	}
	for (uint32_t i = 0; i < m->touches; i++)
		if (m->touch[i].before)
			item_rekey(m, m->touch[i].item);
	transaction_end(m);
}

/* What differs between two states of an object's data. */
static uint8_t data_effect(
	const struct kind *k, const void *before, const void *after, bool *config, bool *any)
{
	uint8_t effect = 0;

	for (unsigned i = 0; i < k->field_count; i++) {
		const struct field *f = &k->fields[i];
		if (f->hold || !memcmp(field_in(f, before), field_in(f, after), f->size))
			continue;
		effect |= f->effect;
		*config |= f->class != FIELD_LIVE;
		*any = true;
	}
	return effect;
}

static int change_row(struct model *m, struct touch *t, struct model_change *row)
{
	struct item *it = t->item;
	char name[2 * MODEL_NAME_MAX];
	bool any = false;

	*row = (struct model_change){
		.id = it->o.id, .kind = it->o.kind, .ephemeral = item_is_ephemeral(it)};
	if (!t->before && it->deleted)
		return 0; /* came and went */
	if (!t->before || it->deleted) {
		row->what = it->deleted ? CHANGE_DELETED : CHANGE_CREATED;
		row->effect = EFFECT_SNAPSHOT | (it->deleted ? 0 : EFFECT_LIVE);
		row->config = true;
	} else {
		row->what = CHANGE_MODIFIED;
		row->effect = data_effect(kind_of(it), t->before, it->data, &row->config, &any);
		if (!any)
			return 0;
	}
	struct item *owner = item_of(m, it->o.owner);
	row->owner_gone = owner && owner->deleted;
	item_name(m, it, name, sizeof(name));
	row->path = strdup(name);
	return row->path && !print_before(m, t, &row->before) ? 1 : -ENOMEM;
}

static void kept_take(const struct kind *k, void *data, const void *from, bool live)
{
	for (unsigned i = 0; i < k->field_count; i++) {
		const struct field *f = &k->fields[i];

		if (f->hash || (live && f->class == FIELD_LIVE && !f->hold))
			memcpy(field_at(f, data), field_in(f, from), f->size);
	}
}

int change_keep(struct model *m, bool live)
{
	for (uint32_t i = 0; i < m->touches; i++) {
		const struct touch *t = &m->touch[i];
		struct item *it = t->item;
		const struct kind *k = kind_of(it);

		if (!t->before || it->deleted)
			continue;
		void *loaded = malloc(k->size);
		if (!loaded)
			return -ENOMEM;
		memcpy(loaded, it->data, k->size);
		kept_take(k, it->data, t->before, live);
		data_count_strings(m, it->o.kind, it->data, 1);
		data_count_strings(m, it->o.kind, loaded, -1);
		free(loaded);
	}
	return 0;
}

static int enabled_list(const struct model *m, struct model_changes *out)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < m->touches; i++)
		count += m->touch[i].enabled;
	out->enabled = count ? calloc(count, sizeof(*out->enabled)) : NULL;
	if (count && !out->enabled)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->touches; i++)
		if (m->touch[i].enabled && !m->touch[i].item->deleted)
			out->enabled[out->enabled_count++] = m->touch[i].item->o.id;
	return 0;
}

static int change_list(struct model *m, struct model_changes *out)
{
	*out = (struct model_changes){.row = calloc(m->touches + 1, sizeof(*out->row))};
	if (!out->row || enabled_list(m, out))
		return -ENOMEM;
	for (uint32_t i = 0; i < m->touches; i++) {
		int rc = change_row(m, &m->touch[i], &out->row[out->count]);
		if (rc < 0) {
			out->count++;
			return rc;
		}
		if (rc == 0)
			continue;
		out->effect |= out->row[out->count].effect;
		out->config |= out->row[out->count].config;
		out->count++;
	}
	snprintf(out->note, sizeof(out->note), "%s", m->note);
	return 0;
}

void model_changes_fini(struct model_changes *changes)
{
	for (unsigned i = 0; i < changes->count; i++) {
		free(changes->row[i].path);
		free(changes->row[i].before);
	}
	free(changes->row);
	free(changes->enabled);
	*changes = (struct model_changes){0};
}

/* Nothing can fail any more. */
static void commit_take(struct model *m, const struct model_changes *changes)
{
	for (unsigned i = 0; i < changes->count; i++)
		if (changes->row[i].what != CHANGE_DELETED)
			item_of(m, changes->row[i].id)->o.generation++;
	for (uint32_t i = 0; i < m->touches; i++) {
		struct touch *t = &m->touch[i];
		if (t->generation)
			t->item->o.generation = t->generation;
		if (t->before)
			data_count_strings(m, t->item->o.kind, t->before, -1);
		t->item->touch = 0;
		if (t->item->deleted) {
			data_count_strings(m, t->item->o.kind, t->item->data, -1);
			item_free(m, t->item);
		}
	}
	if (m->store_generation)
		m->generation = m->store_generation;
	else if (changes->config)
		m->generation++;
	m->store_generation = 0;
}

int model_validate(struct model *m, struct model_error *err)
{
	int rc = 0;

	if (!m->open || m->failed)
		return fail_named(m, err, -EINVAL, MODEL_KINDS, "", NULL,
			m->open ? "the transaction has failed" : "no transaction");
	m->internal = true;
	rc = rules_validate(m, err);
	m->internal = false;
	m->failed = rc != 0;
	return rc;
}

/* Validates and takes what the open transaction has so far. */
static int take(struct model *m, struct model_changes *changes, struct model_error *err)
{
	int rc = model_validate(m, err);

	*changes = (struct model_changes){0};
	if (rc)
		return rc;
	if (change_list(m, changes)) {
		model_changes_fini(changes);
		m->failed = true;
		return fail_named(m, err, -ENOMEM, MODEL_KINDS, "", NULL, "no memory");
	}
	commit_take(m, changes);
	touches_clear(m);
	changes->generation = m->generation;
	return 0;
}

int change_settle(struct model *m, struct model_error *err)
{
	struct model_changes changes;
	int rc;

	if (!m->touches)
		return 0;
	rc = take(m, &changes, err);
	model_changes_fini(&changes);
	return rc;
}

int model_commit(struct model *m, struct model_changes *out, struct model_error *err)
{
	struct model_changes changes;
	int rc = take(m, &changes, err);

	if (rc)
		return rc;
	transaction_end(m);
	if (out)
		*out = changes;
	else
		model_changes_fini(&changes);
	return 0;
}
