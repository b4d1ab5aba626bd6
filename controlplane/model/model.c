/* SPDX-License-Identifier: BSD-3-Clause */
/* The model as others see it: reading, and changes by path and id. */
#include "model/model.h"

#include <stdio.h>

#include "model/model_internal.h"

/*
 * Ids below the first are the built-in objects', the same in every run and version: each list may grow.
 * The schema says its own.
 */
enum { BUILTIN_SLOTS = 256, BUILTIN_MONITORS = 128 };

/* ---- built-in objects ---- */

int builtin(struct model *m, enum model_kind kind, const char *path, struct item **out)
{
	struct model_error err;
	struct item *it;

	if (change_create(m, kind, NULL, path, ID_NONE, &it, &err))
		return -ENOMEM;
	it->o.builtin = true;
	if (out)
		*out = it;
	return 0;
}

static int builtin_text(struct model *m, enum model_kind kind, const char *path, const char *field,
	const char *value)
{
	struct model_error err;
	struct item *it;
	int rc = builtin(m, kind, path, &it);

	return rc || !field ? rc
			    : set_text(m, it, model_field_find(kind, NULL, field), value, &err);
}

static int builtin_admin(struct model *m)
{
	struct model_error err;
	struct item *admin, *access;
	int rc = builtin(m, KIND_USER, "admin", &admin);

	rc = rc ? rc
		: change_create(
			  m, KIND_PARTITION_ACCESS, admin, ALL_PARTITIONS, ID_NONE, &access, &err);
	if (rc)
		return -ENOMEM;
	access->o.builtin = true;
	return set_text(
		m, access, model_field_find(KIND_PARTITION_ACCESS, NULL, "role"), "admin", &err);
}

static int builtins(struct model *m)
{
	static const struct {
		enum model_kind kind;
		const char *path, *field, *value;
	} rows[] = {
		{KIND_PARTITION, "Common", NULL, NULL},
		{KIND_TRAFFIC_GROUP, "/Common/traffic-group-1", NULL, NULL},
		{KIND_TRAFFIC_GROUP, "/Common/traffic-group-local-only", "is-floating", "false"},
		{KIND_FOLDER, "/Common", NULL, NULL},
		{KIND_DEVICE, "/Common/weir", NULL, NULL},
		{KIND_ROUTE_DOMAIN, "/Common/0", NULL, NULL},
		{KIND_INTERFACE, "mgmt", NULL, NULL},
		{KIND_PROFILE_FASTL4, "/Common/fastL4", NULL, NULL},
		{KIND_PROFILE_UDP, "/Common/udp", NULL, NULL},
	};
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof(rows) / sizeof(rows[0]); i++)
		rc = builtin_text(m, rows[i].kind, rows[i].path, rows[i].field, rows[i].value);
	for (const struct db_variable *v = model_db_variables; !rc && v->name; v++)
		rc = builtin_text(m, KIND_DB, v->name, "value", v->default_text);
	rc = rc ? rc : builtins_of_schema(m);
	rc = rc ? rc : slots_begin_at(m, BUILTIN_MONITORS);
	rc = rc ? rc : monitors_builtin(m);
	rc = rc ? rc : builtin_text(m, KIND_DNS, "dns", NULL, NULL);
	rc = rc ? rc : builtin_text(m, KIND_PASSWORD_POLICY, "password-policy", NULL, NULL);
	rc = rc ? rc : builtin_text(m, KIND_HTTPD, "httpd", "allow", "All");
	return rc ? rc : builtin_admin(m);
}

/* Keeps what built-in objects came with, and lets other ids begin behind theirs. */
static int builtins_seal(struct model *m)
{
	for (uint32_t i = 1; i < m->slots; i++) {
		struct item *it = m->slot[i];
		if (!it)
			continue;
		it->base = malloc(kind_of(it)->size);
		if (!it->base)
			return -ENOMEM;
		memcpy(it->base, it->data, kind_of(it)->size);
		data_count_strings(m, it->o.kind, it->base, 1);
		it->given = 0;
	}
	return slots_begin_at(m, BUILTIN_SLOTS);
}

struct model *model_new(void)
{
	static const struct model_actor system = {.class = HOLD_SYSTEM, .role = ROLE_ADMIN};
	struct model *m = calloc(1, sizeof(*m));
	struct model_error err;
	int rc = -ENOMEM;

	if (!m)
		return NULL;
	m->buckets = 64;
	m->bucket = calloc(m->buckets, sizeof(*m->bucket));
	m->key_bucket = calloc(m->buckets, sizeof(*m->key_bucket));
	if (m->bucket && m->key_bucket && !strings_init(&m->strings) && !model_begin(m, &system)) {
		m->internal = true;
		rc = builtins(m);
		rc = rc ? rc : model_commit(m, NULL, &err);
		m->internal = false;
		rc = rc ? rc : builtins_seal(m);
	}
	if (rc) {
		model_free(m);
		return NULL;
	}
	m->generation = 1;
	return m;
}

void model_free(struct model *m)
{
	if (!m)
		return;
	model_abort(m);
	for (uint32_t i = 1; i < m->slots; i++) {
		if (!m->slot[i])
			continue;
		free(m->slot[i]->children.v);
		free(m->slot[i]->base);
		free(m->slot[i]);
	}
	for (unsigned i = 0; i < MODEL_KINDS; i++)
		free(m->order[i].v);
	strings_fini(&m->strings);
	free(m->slot);
	free(m->slot_generation);
	free(m->free_slot);
	free(m->bucket);
	free(m->key_bucket);
	free(m->touch);
	free(m->pending);
	free(m);
}

/* ---- reading ---- */

const struct object *model_get(const struct model *m, uint32_t id)
{
	struct item *it = item_of(m, id);

	return it && !it->deleted ? &it->o : NULL;
}

const struct object *model_find(
	const struct model *m, enum model_kind kind, uint32_t owner, const char *name)
{
	char path[MODEL_PATH_MAX + 1], why[MODEL_REASON_MAX];
	struct item *it = NULL;

	if (name_path(kind, name, path, why, sizeof(why)) == 0)
		it = item_find(m, kind, owner, path);
	return it ? &it->o : NULL;
}

const struct object *model_at(const struct model *m, enum model_kind kind, unsigned i)
{
	struct order *o = (struct order *)&m->order[kind]; /* sorting shows nobody a change */

	order_fix(o);
	return i < o->count ? &o->v[i]->o : NULL;
}

const struct object *model_child_at(const struct model *m, const struct object *owner, unsigned i)
{
	struct order *o = &((struct item *)owner)->children;

	order_fix(o);
	return i < o->count ? &o->v[i]->o : NULL;
}

const struct object *model_find_owner(
	const struct model *m, enum model_kind kind, const char *owner)
{
	int kind_of_owner = model_kinds[kind].owner;
	const char *last = strrchr(owner, ' ');
	char above[2 * MODEL_PATH_MAX];
	const struct object *o;

	if (kind_of_owner < 0 || (last != NULL) != (model_kinds[kind_of_owner].owner >= 0))
		return NULL;
	if (!last)
		return model_find(m, kind_of_owner, ID_NONE, owner);
	if (snprintf(above, sizeof(above), "%.*s", (int)(last - owner), owner) >=
		(int)sizeof(above))
		return NULL;
	o = model_find_owner(m, kind_of_owner, above);
	return o ? model_find(m, kind_of_owner, o->id, last + 1) : NULL;
}

const struct object *model_root(const struct model *m, const struct object *o)
{
	return &item_root(m, (const struct item *)o)->o;
}

unsigned model_count(const struct model *m, enum model_kind kind)
{
	return m->count[kind];
}

unsigned model_child_count(const struct model *m, const struct object *owner)
{
	struct order *o = &((struct item *)owner)->children;

	order_fix(o);
	return o->count;
}

const char *model_string(const struct model *m, uint32_t handle)
{
	return strings_text(&m->strings, handle);
}

static bool names(const struct item *it, const struct field *f, uint32_t id)
{
	const void *p = field_in(f, it->data);
	const struct model_list *list = p;
	const struct model_monitor_rule *rule = p;

	for (unsigned i = 0; f->type == TYPE_MONITOR_RULE && i < rule->count; i++)
		if (rule->monitor[i] == id)
			return true;
	if (f->type == TYPE_MONITOR_RULE)
		return false;
	if (f->type != TYPE_REFS)
		return f->refs && *(const uint32_t *)p == id; /* an endpoint begins with its id */
	for (unsigned i = 0; i < list->count; i++)
		if (list->entry[i] == id)
			return true;
	return false;
}

const struct object *model_user_of(const struct model *m, uint32_t id)
{
	for (uint32_t slot = 1; slot < m->slots; slot++) {
		struct item *it = m->slot[slot];
		if (!it || it->deleted)
			continue;
		for (unsigned i = 0; i < kind_of(it)->field_count; i++)
			if (names(it, &kind_of(it)->fields[i], id))
				return &it->o;
	}
	return NULL;
}

uint32_t model_db_value(const struct model *m, const char *name)
{
	const struct db *db = model_db(model_find(m, KIND_DB, ID_NONE, name));
	const struct db_variable *v = model_db_variables;

	while (v->name && strcmp(v->name, name))
		v++;
	if (!db || !v->name)
		return 0;
	const char *value = strings_text(&m->strings, db->conf.value);
	return v->low ? !strcmp(value, v->high) : (uint32_t)strtoul(value, NULL, 10);
}

bool model_is_ephemeral(const struct object *o)
{
	const struct node *node = model_node(o);
	const struct pool_member *member = model_pool_member(o);

	return node ? node->conf.ephemeral : member && member->conf.ephemeral;
}

bool model_is_template(const struct model *m, const struct object *o)
{
	const struct pool_member *member = model_pool_member(o);
	const struct node *node = model_node(member ? model_get(m, member->conf.node) : o);

	return node && node->conf.fqdn_name && !node->conf.ephemeral;
}

const struct object *model_node_at(const struct model *m, const struct ip_addr *addr)
{
	const struct item *it = key_find(m, KIND_NODE, addr, sizeof(*addr));

	return it && !it->deleted ? &it->o : NULL;
}

uint64_t model_generation(const struct model *m)
{
	return m->generation;
}

void model_field_text(
	const struct model *m, const struct object *o, const struct field *f, struct text *out)
{
	if (f->hold) {
		const struct holds *h =
			(const struct holds *)((const char *)o->data + model_kinds[o->kind].holds);
		text_printf(out, "%s", f->words[!!(holds_bits(h) & f->hold)].text);
		return;
	}
	if (field_is_list(f)) {
		const struct model_list *list = field_in(f, o->data);
		if (list->mode != LIST_ENTRIES)
			text_printf(out, list->mode == LIST_ALL ? "all" : "default");
		else if (!list->count)
			text_printf(out, "none");
		for (unsigned i = 0; i < list->count; i++) {
			text_add(out, " ", i || list->mode != LIST_ENTRIES);
			list_text(m, f, list->entry[i], out);
		}
		return;
	}
	value_text(m, f, o->data, out);
}

/* ---- changing ---- */

/* The item of an id in the open transaction, or an error. */
static int open_item(struct model *m, uint32_t id, struct item **it, struct model_error *err)
{
	*it = item_of(m, id);
	if (!m->open || m->failed)
		return fail_named(m, err, -EINVAL, MODEL_KINDS, "", NULL,
			m->open ? "the transaction has failed" : "no transaction");
	if (!*it || (*it)->deleted)
		return fail_named(m, err, -ENOENT, MODEL_KINDS, "", NULL, "no such object");
	return 0;
}

int create_allowed(struct model *m, enum model_kind kind, struct item *owner, const char *path,
	struct item **it, struct model_error *err)
{
	const struct kind *k = &model_kinds[kind];

	if (!m->internal && change_check_create(m, kind, owner, path, err))
		return -EPERM;
	if (owner && owner->deleted)
		return fail_named(m, err, -EINVAL, kind, path, NULL,
			"comes after publish, which must be the last");
	if (kind_is_fixed(kind, path) && !m->internal)
		return fail_named(m, err, item_find(m, kind, ID_NONE, path) ? -EEXIST : -EOPNOTSUPP,
			kind, path, NULL, "%s",
			k->refused ? k->refused : "objects of this kind cannot be created");
	if (k->refused && !m->internal)
		return fail_named(m, err, -EOPNOTSUPP, kind, path, NULL, "%s", k->refused);
	return change_create(m, kind, owner, path, ID_NONE, it, err);
}

int model_create(struct model *m, enum model_kind kind, uint32_t owner, const char *name,
	uint32_t *id, struct model_error *err)
{
	const struct kind *k = &model_kinds[kind];
	char path[MODEL_PATH_MAX + 1], why[MODEL_REASON_MAX];
	struct item *owner_item = NULL, *it;
	int rc = 0;

	if (k->owner >= 0)
		rc = open_item(m, owner, &owner_item, err);
	if (rc)
		return rc;
	if (owner_item ? owner_item->o.kind != k->owner : k->owner >= 0)
		return fail_named(m, err, -EINVAL, kind, name, NULL, "has no owner");
	rc = name_path(kind, name, path, why, sizeof(why));
	if (rc)
		return fail_named(m, err, rc, kind, name, NULL, "%s", why);
	rc = create_allowed(m, kind, owner_item, path, &it, err);
	if (!rc && id)
		*id = it->o.id;
	return rc;
}

/* Members that a name had made on a node of a person's go with it; the name makes others. */
static int delete_made(struct model *m, const struct item *node, struct model_error *err)
{
	int rc = 0;

	for (uint32_t slot = 1; !rc && node->o.users && slot < m->slots; slot++) {
		struct item *it = m->slot[slot];
		const struct pool_member *member =
			it && !it->deleted ? model_pool_member(&it->o) : NULL;

		if (member && member->conf.ephemeral && member->conf.node == node->o.id)
			rc = change_delete(m, it, err);
	}
	return rc;
}

int model_delete(struct model *m, uint32_t id, struct model_error *err)
{
	struct item *it;
	int rc = open_item(m, id, &it, err);

	if (rc)
		return rc;
	rc = change_check(m, it, NULL, err);
	if (rc)
		return rc;
	if (it->o.builtin || kind_is_fixed(it->o.kind, it->o.path))
		return fail(m, err, -EINVAL, it, NULL, "is built in and cannot be deleted");
	if (item_is_ephemeral(it) && m->actor.class != HOLD_SYSTEM)
		return fail(m, err, -EPERM, it, NULL,
			"was made by name resolution, and goes away with the name's address");
	rc = it->o.kind == KIND_NODE ? delete_made(m, it, err) : 0;
	return rc ? rc : change_delete(m, it, err);
}

int model_set_text(struct model *m, uint32_t id, const char *group, const char *name,
	const char *value, struct model_error *err)
{
	struct item *it;
	int rc = open_item(m, id, &it, err);
	const struct field *f;

	if (rc)
		return rc;
	f = model_field_find(it->o.kind, group, name);
	if (!f || f->hidden)
		return fail(m, err, -EINVAL, it, name, "is no field of %s", kind_of(it)->full);
	if (f->type == TYPE_FLAG)
		return set_flag(m, it, f, !strcmp(name, f->name), err);
	return set_text(m, it, f, value ? value : "", err);
}

int model_set_int(
	struct model *m, uint32_t id, const char *name, uint32_t value, struct model_error *err)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	return model_set_text(m, id, NULL, name, text, err);
}

int model_set_default(struct model *m, uint32_t id, struct model_error *err)
{
	struct item *it;
	int rc = open_item(m, id, &it, err);

	return rc ? rc : set_defaults(m, it, 0, err);
}
