/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What somebody may: one function for every door, over one table of roles. Rights in a partition are those of the
 * role there, or in all-partitions. What is in no partition belongs to those whose role is for all-partitions.
 */
#include <string.h>

#include "main/cp.h"

/* The requests that a role opens; for its objects see object_may. */
static const struct {
	unsigned needs;	     /* bits (1 << enum cp_need) */
	enum model_role who; /* most that objects and fields it changes may ask for */
} roles[] = {
#define BIT(need) (1u << CP_##need)
#define LOOKS (BIT(LOGGED_IN) | BIT(READ) | BIT(LOOK))
#define OPERATES (LOOKS | BIT(CHANGE) | BIT(SAVE) | BIT(CONNECTIONS))
	[PARTITION_ACCESS_ROLE_NO_ACCESS] = {0, ROLE_GUEST},
	[PARTITION_ACCESS_ROLE_GUEST] = {LOOKS, ROLE_GUEST},
	[PARTITION_ACCESS_ROLE_AUDITOR] = {LOOKS | BIT(AUDIT), ROLE_GUEST},
	[PARTITION_ACCESS_ROLE_OPERATOR] = {OPERATES, ROLE_OPERATOR},
	[PARTITION_ACCESS_ROLE_APPLICATION_EDITOR] = {OPERATES, ROLE_MANAGER},
	[PARTITION_ACCESS_ROLE_MANAGER] = {OPERATES, ROLE_MANAGER},
	[PARTITION_ACCESS_ROLE_RESOURCE_ADMIN] = {OPERATES | BIT(AUDIT), ROLE_RESOURCE_ADMIN},
	[PARTITION_ACCESS_ROLE_ADMIN] = {~0u, ROLE_ADMIN},
	[PARTITION_ACCESS_ROLE_AGENT] = {BIT(LOGGED_IN) | BIT(READ) | BIT(CHANGE), ROLE_OPERATOR},
};

static uint8_t role_of(const struct object *access)
{
	const struct partition_access *a = model_partition_access(access);

	return a && a->conf.role < sizeof(roles) / sizeof(*roles) ? a->conf.role
								  : PARTITION_ACCESS_ROLE_NO_ACCESS;
}

/* In the partition of the path; of a path that is in none, for all of them. */
static uint8_t role_at(const struct cp_user *user, const char *path)
{
	const struct model *m = user->cp->model;
	size_t length = path && *path == '/' ? strcspn(path + 1, "/") : 0;
	const struct object *access = NULL;
	char partition[64];

	if (length && length < sizeof(partition)) {
		snprintf(partition, sizeof(partition), "%.*s", (int)length, path + 1);
		access = model_find(m, KIND_PARTITION_ACCESS, user->id, partition);
	}
	if (!access)
		access = model_find(m, KIND_PARTITION_ACCESS, user->id, "all-partitions");
	return role_of(access);
}

/* In some partition. */
static bool may_somewhere(const struct cp_user *user, enum cp_need need)
{
	const struct model *m = user->cp->model;
	const struct object *o = model_get(m, user->id), *access;

	for (unsigned i = 0; o && (access = model_child_at(m, o, i)); i++)
		if (roles[role_of(access)].needs & 1u << need)
			return true;
	return false;
}

static bool is_agents_node(const struct cp_user *user, const char *node)
{
	const struct model *m = user->cp->model;
	const struct user *u = model_user(model_get(m, user->id));

	for (unsigned i = 0; u && node && i < u->conf.agent_nodes.count; i++) {
		const struct object *o = model_find(
			m, KIND_NODE, ID_NONE, model_string(m, u->conf.agent_nodes.entry[i]));
		if (o && !strcmp(o->path, node))
			return true;
	}
	return false;
}

/* Ratio, dynamic ratio and its own hold, of its nodes and their members. */
static bool agent_may(const struct cp_user *user, const struct model_ask *ask)
{
	static const char *const fields[] = {"ratio", "dynamic-ratio", "session", "state"};
	bool found = ask->hold == HOLD_AGENT;

	if ((ask->kind != KIND_NODE && ask->kind != KIND_POOL_MEMBER) ||
		!is_agents_node(user, ask->server))
		return false;
	for (size_t i = 0; ask->field && i < sizeof(fields) / sizeof(*fields); i++)
		found |= !strcmp(ask->field->name, fields[i]);
	return ask->deed == MODEL_READ || (ask->deed == MODEL_MODIFY && found);
}

static bool editor_may(const struct model_ask *ask)
{
	return ask->deed == MODEL_MODIFY &&
	       (ask->who <= ROLE_OPERATOR || ask->kind == KIND_NODE || ask->kind == KIND_POOL ||
		       ask->kind == KIND_POOL_MEMBER || model_kind_is_monitor(ask->kind));
}

/*
 * Users are read by those who manage or audit them, and by themselves; scripts, which may hold the password of what
 * they speak to, by those who see what changes in them.
 */
static bool may_read(const struct cp_user *user, const struct model_ask *ask)
{
	uint8_t role = role_at(user, ask->path);
	bool common = *ask->path != '/' || !strcmp(ask->path, "/Common") ||
		      !strncmp(ask->path, "/Common/", 8);

	if (ask->kind == KIND_USER || ask->kind == KIND_PARTITION_ACCESS)
		return role == PARTITION_ACCESS_ROLE_ADMIN ||
		       role == PARTITION_ACCESS_ROLE_AUDITOR || !strcmp(ask->path, user->name);
	if (ask->kind == KIND_FILE_ALERT_SCRIPT || ask->kind == KIND_FILE_EXTERNAL_MONITOR)
		return roles[role].needs & 1u << CP_AUDIT;
	if (role == PARTITION_ACCESS_ROLE_AGENT)
		return agent_may(user, ask);
	return common ? may_somewhere(user, CP_LOOK) : roles[role].needs & 1u << CP_LOOK;
}

static bool object_may(const struct cp_user *user, const struct model_ask *ask)
{
	uint8_t role = role_at(user, ask->path);

	if (ask->deed == MODEL_READ)
		return may_read(user, ask);
	if (role == PARTITION_ACCESS_ROLE_AGENT)
		return agent_may(user, ask);
	if (!(roles[role].needs & 1u << CP_CHANGE) || ask->who > roles[role].who)
		return false;
	if (role == PARTITION_ACCESS_ROLE_APPLICATION_EDITOR)
		return editor_may(ask);
	return role != PARTITION_ACCESS_ROLE_OPERATOR || ask->deed == MODEL_MODIFY;
}

bool cp_authorise(const struct cp_user *user, enum cp_need need, const struct model_ask *ask)
{
	/* A part of the machine that may look at what guests of all partitions see. */
	if (user->id == ID_NONE && user->role == ROLE_GUEST)
		return ask ? ask->deed == MODEL_READ
			   : roles[PARTITION_ACCESS_ROLE_GUEST].needs >> need & 1;
	if (user->id == ID_NONE)
		return user->role >= (ask ? ask->who : ROLE_ADMIN);
	if (!model_get(user->cp->model, user->id))
		return false;
	if (!ask)
		return may_somewhere(user, need);
	if (ask->kind < MODEL_KINDS)
		return object_may(user, ask);
	return roles[role_at(user, ask->path)].needs & 1u << need;
}

bool cp_may_change(const void *who, const struct model_ask *ask)
{
	return cp_authorise(who, CP_CHANGE, ask);
}

/* Whether the user may know that there is such an object. */
static bool may_know(const struct cp_user *user, const struct object *o)
{
	const struct model_ask ask = model_ask_of(user->cp->model, o, MODEL_READ);

	return user->id == ID_NONE || cp_authorise(user, CP_READ, &ask);
}

bool cp_hidden(const struct cp_user *user, const struct object *o)
{
	return !may_know(user, o);
}

bool cp_may_enter(const struct ipc_request *r, const struct object *o)
{
	const struct cp_user *user = ipc_request_kept(r);

	return user->class == HOLD_AGENT || cp_may_read(r, o);
}

bool cp_may_read(const struct ipc_request *r, const struct object *o)
{
	return may_know(ipc_request_kept(r), o);
}
