/* SPDX-License-Identifier: BSD-3-Clause */
/* Policies: drafts are changed and published, what is published is used. */
#include "model/model_internal.h"

#include <stdio.h>

static bool is_draft(const struct item *it)
{
	const char *name = path_name(it->o.path);
	size_t end = sizeof(DRAFTS) - 1;

	return name - it->o.path > (long)end && !strncmp(name - end, DRAFTS, end) &&
	       name[-(long)end - 1] == '/';
}

/* Path of the draft of a published policy, or the other way round. */
static void counterpart(const struct item *it, char path[MODEL_PATH_MAX + 1])
{
	const char *name = path_name(it->o.path);
	size_t folder = (size_t)(name - it->o.path) - (is_draft(it) ? sizeof(DRAFTS) - 1 : 0);

	snprintf(path, MODEL_PATH_MAX + 1, "%.*s%s%s", (int)folder, it->o.path,
		is_draft(it) ? "" : DRAFTS, name);
}

void policy_published_path(const struct item *it, char path[MODEL_PATH_MAX + 1])
{
	if (is_draft(it))
		counterpart(it, path);
	else
		strcpy(path, it->o.path);
}

static bool is_legacy(const struct item *it)
{
	return ((const struct policy *)it->data)->conf.legacy;
}

static int refuse_published(struct model *m, const struct item *it, struct model_error *err)
{
	char draft[MODEL_PATH_MAX + 1];

	counterpart(it, draft);
	return fail(m, err, -EINVAL, it, NULL,
		"Cannot create/modify published policy '%s' directly, try specifying a draft "
		"folder like '%s'.",
		it->o.path, draft);
}

int policy_check_change(struct model *m, const struct item *it, struct model_error *err)
{
	const struct item *root = item_root(m, it);
	const struct touch *t = root->touch ? touch_of(m, root) : NULL;

	if (root->o.kind != KIND_POLICY || m->loading || is_draft(root) || is_legacy(root) ||
		(t && !t->before && !t->published))
		return 0;
	return refuse_published(m, root, err);
}

/* ---- copies ---- */

static int copy_pending(struct model *m, struct item *to, const struct item *from)
{
	uint32_t count = m->pendings;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < count; i++)
		if (m->pending[i].item == from)
			rc = change_pending(m, to, m->pending[i].field, m->pending[i].name);
	return rc;
}

/* All fields. The item is touched. */
static int copy_fields(
	struct model *m, struct item *to, const struct item *from, struct model_error *err)
{
	change_drop_pending(m, to, NULL);
	item_count_refs(m, to, -1);
	data_count_strings(m, to->o.kind, to->data, -1);
	memcpy(to->data, from->data, kind_of(to)->size);
	to->given = from->given;
	data_count_strings(m, to->o.kind, to->data, 1);
	item_count_refs(m, to, 1);
	return copy_pending(m, to, from) ? fail(m, err, -ENOMEM, to, NULL, "no memory") : 0;
}

static int copy_children(
	struct model *m, struct item *to, const struct item *from, struct model_error *err)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < from->children.count; i++) {
		const struct item *child = from->children.v[i];
		struct item *made;
		if (child->deleted)
			continue;
		rc = change_create(
			m, (enum model_kind)child->o.kind, to, child->o.path, ID_NONE, &made, err);
		rc = rc ? rc : copy_fields(m, made, child, err);
		rc = rc ? rc : copy_children(m, made, child, err);
	}
	return rc;
}

static int copy(struct model *m, struct item *to, const struct item *from, struct model_error *err)
{
	int rc = item_touch(m, to) ? 0 : fail(m, err, -ENOMEM, to, NULL, "no memory");

	for (unsigned i = 0; !rc && i < to->children.count; i++)
		if (!to->children.v[i]->deleted)
			rc = change_delete(m, to->children.v[i], err);
	rc = rc ? rc : copy_fields(m, to, from, err);
	return rc ? rc : copy_children(m, to, from, err);
}

/* ---- what is done with a policy ---- */

static int create_draft(struct model *m, struct item *it, const char *path, struct model_error *err)
{
	struct item *draft;
	int rc;

	if (is_draft(it) || is_legacy(it))
		return fail(m, err, -EINVAL, it, "create-draft", "is for published policies");
	rc = create_allowed(m, KIND_POLICY, NULL, path, &draft, err);
	return rc ? rc : copy(m, draft, it, err);
}

static int publish(struct model *m, struct item *it, const char *path, struct model_error *err)
{
	struct item *to = item_find(m, KIND_POLICY, ID_NONE, path);
	int rc = 0;

	if (!is_draft(it))
		return fail(m, err, -EINVAL, it, "publish", "is for drafts");
	if (to && is_legacy(to))
		return fail(m, err, -EINVAL, it, "publish", "%s is there, a legacy policy", path);
	if (!to)
		rc = create_allowed(m, KIND_POLICY, NULL, path, &to, err);
	rc = rc ? rc : copy(m, to, it, err);
	if (rc)
		return rc;
	touch_of(m, to)->published = true;
	return change_delete(m, it, err);
}

int policy_act(struct model *m, struct item *it, const struct field *f, struct model_error *err)
{
	char path[MODEL_PATH_MAX + 1];

	if (strlen(it->o.path) + sizeof(DRAFTS) > MODEL_PATH_MAX)
		return fail(m, err, -EINVAL, it, f->name, "the name is too long");
	counterpart(it, path);
	return !strcmp(f->name, "publish") ? publish(m, it, path, err)
					   : create_draft(m, it, path, err);
}

/* ---- what must hold ---- */

int policy_complete(struct model *m, struct item *it)
{
	struct policy *p = it->data;

	p->conf.status = is_draft(it)	  ? POLICY_STATUS_DRAFT
			 : p->conf.legacy ? POLICY_STATUS_LEGACY
					  : POLICY_STATUS_PUBLISHED;
	return 0;
}

int check_policy(struct model *m, struct item *it, struct model_error *err)
{
	const struct touch *t = touch_of(m, it);

	if (it->o.kind == KIND_VIRTUAL_POLICY)
		return fail(m, err, -EOPNOTSUPP, item_of(m, it->o.owner), "policies", "%s: %s",
			it->o.path, model_kinds[KIND_POLICY].later);
	if (is_draft(it) && is_legacy(it))
		return fail(m, err, -EINVAL, it, "legacy", "goes not with a draft");
	if (!t->before && !is_draft(it) && !is_legacy(it) && !t->published)
		return refuse_published(m, it, err);
	return 0;
}
