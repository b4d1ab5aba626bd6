/* SPDX-License-Identifier: BSD-3-Clause */
/* Validation of a transaction as a whole: references, what stands beside objects, then every rule. */
#include "model/model_internal.h"

#include <stdio.h>

/* ---- references named before their object came ---- */

static struct item *pending_find(const struct model *m, const struct pending *p)
{
	return item_named(m, p->field, p->name);
}

static int pending_put(struct model *m, struct item *it, const struct field *f, uint32_t id,
	struct model_error *err)
{
	void *p = field_at(f, it->data);
	struct model_list *list = p;

	if (f->type == TYPE_REFS) {
		for (unsigned i = 0; i < list->count; i++)
			if (list->entry[i] == id)
				return 0;
		if (list->count >= f->max)
			return fail(
				m, err, -E2BIG, it, f->name, "takes at most %u entries", f->max);
		list->entry[list->count++] = id;
	} else if (f->type == TYPE_MONITOR_RULE) {
		struct model_monitor_rule *rule = p;
		rule->monitor[rule->count++] = id;
	} else if (f->type == TYPE_ENDPOINT) {
		((struct model_endpoint *)p)->addr = id;
	} else {
		*(uint32_t *)p = id;
	}
	item_users(m, id, 1);
	return 0;
}

static int pending_resolve(struct model *m, struct model_error *err)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < m->pendings; i++) {
		struct pending p = m->pending[i];
		struct item *to;
		if (!p.item || p.item->deleted)
			continue;
		m->line = p.line;
		to = pending_find(m, &p);
		if (!to)
			rc = beside_create(m, p.field, p.name, p.item, &to, err);
		if (rc)
			break;
		rc = pending_put(m, p.item, p.field, to->o.id, err);
		m->pending[i].item = NULL;
		touch_of(m, p.item)->pending--;
	}
	return rc;
}

/* ---- virtual addresses go with their last virtual server ---- */

static int orphan_delete(struct model *m, struct item *it, struct model_error *err)
{
	const struct virtual_address *v = it->data;

	if (it->o.kind != KIND_VIRTUAL_ADDRESS || it->deleted || it->o.users ||
		!v->conf.auto_delete || !touch_of(m, it)->lost_user)
		return 0;
	return change_delete(m, it, err);
}

/* A folder goes with its partition. */
static int folder_delete(struct model *m, struct item *it, struct model_error *err)
{
	char path[MODEL_PATH_MAX + 1];
	struct item *folder;

	if (it->o.kind != KIND_PARTITION || !it->deleted)
		return 0;
	snprintf(path, sizeof(path), "/%s", it->o.path);
	folder = item_find(m, KIND_FOLDER, ID_NONE, path);
	return folder ? change_delete(m, folder, err) : 0;
}

/* ---- rules of the schema ---- */

static bool field_is_missing(const struct model *m, const struct item *it, const struct field *f)
{
	static const struct ip_addr none;

	if (it->o.builtin || (it->o.kind == KIND_NODE && model_is_template(m, &it->o)))
		return false;
	switch (f->type) {
	case TYPE_IP:
		return ip_equal(field_in(f, it->data), &none) && !(it->given & field_bit(it, f));
	case TYPE_REF:
	case TYPE_ENDPOINT:
		return *(const uint32_t *)field_in(f, it->data) == ID_NONE;
	case TYPE_REFS:
		return ((const struct model_list *)field_in(f, it->data))->count == 0;
	default:
		return !(it->given & field_bit(it, f));
	}
}

static int check_required(struct model *m, struct item *it, struct model_error *err)
{
	const struct kind *k = kind_of(it);

	for (unsigned i = 0; i < k->field_count; i++)
		if (k->fields[i].required && field_is_missing(m, it, &k->fields[i]))
			return fail(m, err, -EINVAL, it, k->fields[i].name, "is required");
	return 0;
}

static int check_deleted(struct model *m, struct item *it, struct model_error *err)
{
	const struct object *user;
	char name[MODEL_NAME_MAX];

	user = it->o.users ? model_user_of(m, it->o.id) : NULL;
	if (!user)
		user = (const struct object *)rows_user_of(m, &it->o);
	if (!user)
		return 0;
	item_name(m, (const struct item *)user, name, sizeof(name));
	return fail(m, err, -EBUSY, it, NULL, "is still used by %s %s",
		model_kinds[user->kind].full, name);
}

static int check_touched(struct model *m, struct touch *t, struct model_error *err)
{
	struct item *it = t->item;
	int rc;

	m->line = t->line;
	if (it->deleted) {
		rc = it->o.kind == KIND_PARTITION ? check_partition_deleted(m, it, err)
		     : it->o.kind == KIND_FOLDER  ? check_folder_deleted(m, it, err)
						  : 0;
		return rc || !t->before ? rc : check_deleted(m, it, err);
	}
	rc = check_required(m, it, err);
	if (!rc)
		rc = rows_check(m, it, err);
	if (!rc)
		rc = check_place(m, it, err);
	return rc ? rc : check_item(m, it, err);
}

static int inherit_kinds(struct model *m, struct model_error *err)
{
	bool touched[MODEL_KINDS] = {false};
	int rc = 0;

	for (uint32_t i = 0; i < m->touches; i++)
		touched[m->touch[i].item->o.kind] = true;
	for (unsigned kind = 0; !rc && kind < MODEL_KINDS; kind++)
		if (touched[kind] && kind_parent_field(kind))
			rc = beside_inherit(m, kind, err);
	return rc;
}

/* The list of what was touched grows while it is walked. */
int rules_validate(struct model *m, struct model_error *err)
{
	int rc;

	for (uint32_t i = 0; i < m->touches; i++)
		item_rekey(m, m->touch[i].item);
	rc = pending_resolve(m, err);
	for (uint32_t i = 0; !rc && i < m->touches; i++) {
		m->line = m->touch[i].line;
		if (!m->touch[i].item->deleted)
			rc = beside_complete(m, m->touch[i].item, err);
	}
	for (uint32_t i = 0; !rc && i < m->touches; i++)
		rc = orphan_delete(m, m->touch[i].item, err);
	for (uint32_t i = 0; !rc && i < m->touches; i++)
		rc = folder_delete(m, m->touch[i].item, err);
	if (!rc)
		rc = inherit_kinds(m, err);
	for (uint32_t i = 0; !rc && i < m->touches; i++)
		item_rekey(m, m->touch[i].item);
	for (uint32_t i = 0; !rc && i < m->touches; i++)
		rc = check_touched(m, &m->touch[i], err);
	rc = rc ? rc : check_monitor_users(m, err);
	return rc ? rc : check_administrators(m, err);
}
