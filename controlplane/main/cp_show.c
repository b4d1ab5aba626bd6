/* SPDX-License-Identifier: BSD-3-Clause */
/* show: which of them, and the answers that are rows of objects. */
#include <stdlib.h>
#include <string.h>

#include "main/cp.h"

#define ROWS_AT_ONCE 20

struct show {
	struct cp *cp;
	struct cp_ids ids;
};

static void show_free(void *ctx)
{
	struct show *s = ctx;

	free(s->ids.id);
	free(s);
}

static enum ipc_step show_next(struct ipc_request *r, void *ctx)
{
	struct show *s = ctx;

	for (int i = 0; i < ROWS_AT_ONCE && s->ids.next < s->ids.count; i++) {
		const struct object *o = model_get(s->cp->model, s->ids.id[s->ids.next++]);

		if (o)
			ipc_row(r, cp_object_row(s->cp, o));
	}
	if (s->ids.next < s->ids.count)
		return IPC_MORE;
	ipc_reply(r, json_pack("{s:i}", "count", (int)s->ids.total));
	return IPC_END;
}

static bool show_collect(struct show *s, struct ipc_request *r, enum model_kind kind,
	const char *owner, const char *name)
{
	const struct object *o;
	uint32_t owner_id;
	bool ok;

	if (!cp_find_owner(s->cp, r, kind, owner, &owner_id))
		return false;
	if (name) {
		o = cp_find(s->cp, r, kind, owner_id, name);
		if (!o)
			return false;
		ok = cp_ids_add(&s->ids, o->id);
	} else {
		ok = cp_ids_kind(&s->ids, s->cp->model, kind, owner_id);
	}
	if (!ok)
		cp_refuse(r, 500, "", "no memory");
	return ok;
}

static void show_objects(struct cp *cp, struct ipc_request *r, enum model_kind kind)
{
	static const struct ipc_stream stream = {show_next, show_free};
	char *owner = NULL, *name = NULL;
	struct show *s = calloc(1, sizeof(*s));

	if (!s) {
		cp_refuse(r, 500, "", "no memory");
		return;
	}
	s->cp = cp;
	if (cp_argument(r, "owner", &owner) && cp_argument(r, "name", &name) &&
		show_collect(s, r, kind, owner, name) && cp_ids_page(&s->ids, r, cp->model))
		ipc_stream(r, &stream, s);
	else
		show_free(s);
	free(owner);
	free(name);
}

static bool kind_has_state(int kind)
{
	return kind == KIND_NODE || kind == KIND_POOL || kind == KIND_POOL_MEMBER ||
	       kind == KIND_VIRTUAL || kind == KIND_VIRTUAL_ADDRESS;
}

/* What rows are of objects, each of which is asked for, is for all who may read some. */
static enum cp_need need_of(const char *what, int kind)
{
	if (!strcmp(what, "sys history") || !strcmp(what, "sys config difference"))
		return CP_AUDIT;
	return kind_has_state(kind) || !strncmp(what, "ltm ", 4) || !strcmp(what, "sys version")
		       ? CP_READ
		       : CP_LOOK;
}

void cp_show(struct cp *cp, struct ipc_request *r, const struct cp_user *user)
{
	char *what;

	if (!cp_argument(r, "what", &what))
		return;
	int kind = what ? cp_kind(what) : -1;
	if (!what)
		cp_refuse(r, 400, "what", "is missing");
	else if (!cp_authorise(user, need_of(what, kind), NULL))
		cp_refuse(r, 403, "what", "%s may not see %s", user->name, what);
	else if (kind_has_state(kind))
		show_objects(cp, r, kind);
	else if (!strcmp(what, "ltm drain"))
		cp_show_drains(cp, r);
	else if (!strcmp(what, "ltm monitor instances"))
		cp_show_monitor_instances(cp, r);
	else if (!strcmp(what, "ltm monitor") || model_kind_is_monitor((unsigned)kind))
		cp_show_monitors(cp, r, kind);
	else if (!strcmp(what, "sys connection"))
		cp_show_connections(cp, r);
	else if (!strcmp(what, "net arp") || !strcmp(what, "net ndp"))
		cp_show_neighbours(cp, r, !strcmp(what, "net ndp"));
	else if (!strcmp(what, "sys receiver"))
		cp_show_receivers(cp, r);
	else if (!strcmp(what, "sys memory"))
		cp_show_memory(cp, r);
	else if (!strcmp(what, "sys history"))
		cp_show_history(cp, r);
	else if (!strcmp(what, "sys config difference"))
		cp_show_difference(cp, r);
	else
		cp_show_system(cp, r, what);
	free(what);
}
