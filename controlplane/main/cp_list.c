/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "main/cp.h"

#define ROWS_AT_ONCE 50

struct list {
	struct cp *cp;
	const struct cp_user *user;
	struct cp_ids ids;
	bool rest; /* else conf */
	bool file; /* what a file must say, and only that */
	bool hashes, expand, live;
	unsigned flags;
};

static void list_free(void *ctx)
{
	struct list *l = ctx;

	free(l->ids.id);
	free(l);
}

/* Administrators see what others must not. */
static json_t *list_json(const struct list *l, const struct object *o)
{
	const struct user *u = model_user(o);
	const struct model_ask change = model_ask_of(l->cp->model, o, MODEL_MODIFY);
	json_t *row = model_json(l->cp->model, o, l->expand);

	if (row && u && u->conf.encrypted_password && l->hashes)
		json_object_set_new(row, "encryptedPassword",
			json_string(model_string(l->cp->model, u->conf.encrypted_password)));
	if (row && cp_may_change(l->user, &change))
		model_json_reveal(l->cp->model, o, row);
	if (row && l->live)
		cp_rest_state(l->cp, o, row);
	return row;
}

static json_t *list_row(const struct list *l, const struct object *o)
{
	struct text text = {0};

	if (l->rest)
		return list_json(l, o);
	model_print_object(l->cp->model, o, l->flags, &text);
	json_t *row = text.failed ? NULL : ipc_text_new(text.data ? text.data : "", text.len);
	text_fini(&text);
	return row;
}

static enum ipc_step list_next(struct ipc_request *r, void *ctx)
{
	struct list *l = ctx;

	l->user = ipc_request_kept(r);
	for (int i = 0; i < ROWS_AT_ONCE && l->ids.next < l->ids.count; i++) {
		const struct object *o = model_get(l->cp->model, l->ids.id[l->ids.next++]);

		if (o && (!l->file || model_is_saved(l->cp->model, o)))
			ipc_row(r, list_row(l, o));
	}
	if (l->ids.next < l->ids.count)
		return IPC_MORE;
	ipc_reply(r, json_pack("{s:i}", "count", (int)l->ids.total));
	return IPC_END;
}

/* "ltm" and "ltm profile" mean all kinds whose words begin so; NULL means everything. */
static bool words_begin(const char *words, const char *prefix)
{
	size_t n = prefix ? strlen(prefix) : 0;

	return n == 0 || (!strncmp(words, prefix, n) && (words[n] == ' ' || words[n] == 0));
}

static int kind_order(const void *a, const void *b)
{
	return model_kinds[*(const int *)a].order - model_kinds[*(const int *)b].order;
}

/* Objects of all kinds below prefix, in the order of weir.conf. */
static int list_many(struct list *l, const char *prefix)
{
	int kinds[MODEL_KINDS];
	unsigned count = 0;

	for (int k = 0; k < MODEL_KINDS; k++)
		if (model_kinds[k].owner < 0 && words_begin(model_kinds[k].words, prefix))
			kinds[count++] = k;
	qsort(kinds, count, sizeof(*kinds), kind_order);
	for (unsigned i = 0; i < count; i++)
		if (!cp_ids_kind(&l->ids, l->cp->model, kinds[i], ID_NONE))
			return -1;
	return (int)count;
}

/* Fills l->ids by what the request names. False: refused. */
static bool list_collect(struct list *l, struct ipc_request *r, const char *kind_words,
	const char *owner, const char *name)
{
	int kind = kind_words ? cp_kind(kind_words) : -1;
	const struct object *o;
	uint32_t owner_id;
	bool ok;

	if (kind < 0) {
		int kinds = list_many(l, kind_words);
		if (kinds == 0)
			cp_refuse(r, 400, "kind", "%s is not known", kind_words);
		else if (name)
			cp_refuse(r, 400, "name", "only with one kind");
		else if (kinds < 0)
			cp_refuse(r, 500, "", "no memory");
		else
			return true;
		return false;
	}
	if (!cp_find_owner(l->cp, r, kind, owner, &owner_id))
		return false;
	if (!name) {
		ok = cp_ids_kind(&l->ids, l->cp->model, kind, owner_id);
	} else {
		o = cp_find(l->cp, r, kind, owner_id, name);
		if (!o)
			return false;
		ok = cp_ids_add(&l->ids, o->id);
	}
	if (!ok)
		cp_refuse(r, 500, "", "no memory");
	return ok;
}

void cp_list(struct cp *cp, struct ipc_request *r, const struct cp_user *user)
{
	static const struct ipc_stream stream = {list_next, list_free};
	const json_t *body = ipc_request_body(r);
	const char *form = json_string_value(json_object_get(body, "form"));
	char *kind = NULL, *owner = NULL, *name = NULL;
	struct list *l = calloc(1, sizeof(*l));

	if (!l) {
		cp_refuse(r, 500, "", "no memory");
		return;
	}
	l->cp = cp;
	l->rest = form && !strcmp(form, "rest");
	l->expand = json_is_true(json_object_get(body, "expand"));
	l->live = json_is_true(json_object_get(body, "live"));
	l->flags = (json_is_true(json_object_get(body, "all")) ? PRINT_ALL : 0) |
		   (json_is_true(json_object_get(body, "holds")) ? PRINT_HOLDS : 0);
	l->hashes = cp_authorise(user, CP_USERS, NULL);
	l->file = form && !strcmp(form, "file");
	l->flags |= (l->hashes ? PRINT_HASHES : 0) | (l->file ? PRINT_CONF : 0);
	if (l->file && !l->hashes) {
		cp_refuse(r, 403, "form", "%s may not see all that a file has", user->name);
		list_free(l);
		return;
	}
	if (cp_argument(r, "kind", &kind) && cp_argument(r, "owner", &owner) &&
		cp_argument(r, "name", &name) && list_collect(l, r, kind, owner, name) &&
		cp_ids_page(&l->ids, r, cp->model)) {
		ipc_stream(r, &stream, l);
	} else {
		list_free(l);
	}
	free(kind);
	free(owner);
	free(name);
}
