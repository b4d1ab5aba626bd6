/* SPDX-License-Identifier: BSD-3-Clause */
/* What commits changed, the way back to an earlier one, and how the configuration differs from what was saved. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "main/cp.h"

#define HISTORY_DEFAULT 100

json_t *cp_difference(const struct text *difference)
{
	const char *line = difference->data ? difference->data : "";
	struct text out = {0};

	while (*line) {
		size_t length = strcspn(line, "\n");
		char *one = strndup(line, length);

		if (one)
			model_mask_secrets(one, &out);
		free(one);
		line += length;
		if (*line)
			text_add(&out, line++, 1);
	}
	json_t *masked = out.failed ? NULL : ipc_text_new(out.data ? out.data : "", out.len);
	text_fini(&out);
	return masked;
}

/* --- show sys history ----------------------------------------------------------------------------- */

static int newest_first(const void *a, const void *b)
{
	const struct store_commit *x = *(const struct store_commit *const *)a;
	const struct store_commit *y = *(const struct store_commit *const *)b;

	return x->time < y->time ? 1 : x->time > y->time ? -1 : 0;
}

static json_t *commit_row(const struct store_commit *c)
{
	char time[40];

	snprintf(
		time, sizeof(time), "%" PRIu64 ".%03u", c->time / 1000, (unsigned)(c->time % 1000));
	return json_pack("{s:I,s:s,s:o,s:o,s:o,s:i,s:b}", "generation", (json_int_t)c->generation,
		"time", time, "author", ipc_text_new(c->author, strlen(c->author)), "address",
		ipc_text_new(c->address, strlen(c->address)), "what",
		ipc_text_new(c->what, strlen(c->what)), "changes", (int)c->changes, "live",
		!c->config);
}

static void history_reply(struct cp *cp, struct ipc_request *r)
{
	ipc_reply(r, json_pack("{s:I}", "oldest",
			     (json_int_t)store_history_floor(cp->store, cp->model)));
}

static void show_commits(struct cp *cp, struct ipc_request *r)
{
	static const struct store_commit *sorted[STORE_HISTORY];
	json_int_t limit = json_integer_value(json_object_get(ipc_request_body(r), "limit"));
	const struct store_commit *c;
	unsigned count = 0;

	while ((c = store_commit_at(cp->store, count)))
		sorted[count++] = c;
	/* Where one place holds several changes, it has the time of the first among them that came last. */
	qsort(sorted, count, sizeof(*sorted), newest_first);
	if (limit <= 0)
		limit = HISTORY_DEFAULT;
	for (unsigned i = 0; i < count && i < limit; i++)
		ipc_row(r, commit_row(sorted[i]));
	history_reply(cp, r);
}

/* The commit that made the generation, or NULL. */
static const struct store_commit *commit_of(const struct cp *cp, uint64_t generation)
{
	const struct store_commit *c;

	for (unsigned i = 0; (c = store_commit_at(cp->store, i)); i++)
		if (c->config && c->generation == generation)
			return c;
	return NULL;
}

static void refuse_old(struct cp *cp, struct ipc_request *r, uint64_t generation)
{
	cp_refuse(r, 404, "generation",
		"%" PRIu64 " is not in the history, which goes back to %" PRIu64, generation,
		store_history_floor(cp->store, cp->model));
}

static void show_commit(struct cp *cp, struct ipc_request *r, uint64_t generation)
{
	const struct store_commit *c = commit_of(cp, generation);
	struct text difference = {0};
	int rc = store_history_difference(cp->store, generation, &difference);
	json_t *row = c ? commit_row(c) : json_pack("{s:I}", "generation", (json_int_t)generation);

	if (rc == -ENOENT) {
		refuse_old(cp, r, generation);
	} else if (rc) {
		cp_refuse(r, 500, "", "the history cannot be read: %s", strerror(-rc));
	} else {
		json_object_set_new(row, "difference", cp_difference(&difference));
		ipc_row(r, json_incref(row));
		history_reply(cp, r);
	}
	json_decref(row);
	text_fini(&difference);
}

/* A generation of the configuration. False: it is not given; *fault: refused. */
static bool take_generation(struct ipc_request *r, uint64_t *out, bool *fault)
{
	const json_t *value = json_object_get(ipc_request_body(r), "generation");

	*fault = value && (!json_is_integer(value) || json_integer_value(value) < 1);
	if (*fault)
		cp_refuse(r, 400, "generation", "must be the number of a commit");
	*out = (uint64_t)json_integer_value(value);
	return value && !*fault;
}

void cp_show_history(struct cp *cp, struct ipc_request *r)
{
	uint64_t generation;
	bool fault;

	if (take_generation(r, &generation, &fault))
		show_commit(cp, r, generation);
	else if (!fault)
		show_commits(cp, r);
}

/* --- show sys config difference ------------------------------------------------------------------- */

void cp_show_difference(struct cp *cp, struct ipc_request *r)
{
	struct text difference = {0};
	struct model_error err;

	if (store_saved_difference(cp->store, cp->model, &difference, &err)) {
		cp_refuse_model(r, &err, NULL);
	} else {
		ipc_row(r, json_pack("{s:I,s:I,s:i,s:o}", "generation",
				   (json_int_t)model_generation(cp->model), "saved",
				   (json_int_t)store_saved_generation(cp->store), "unsaved",
				   (int)store_unsaved(cp->store), "difference",
				   cp_difference(&difference)));
		ipc_reply(r, json_object());
	}
	text_fini(&difference);
}

/* --- rollback ------------------------------------------------------------------------------------- */

struct way_back {
	struct text text;
	unsigned flags;
};

static int way_back_take(struct cp *cp, void *ctx, struct model_error *err)
{
	const struct way_back *w = ctx;

	return model_load(
		cp->model, w->text.data ? w->text.data : "", w->text.len, "history", w->flags, err);
}

static void roll_back(
	struct cp *cp, struct ipc_request *r, const struct cp_user *user, uint64_t generation)
{
	const json_t *body = ipc_request_body(r);
	bool live = json_is_true(json_object_get(body, "with-live"));
	struct way_back way = {.flags = LOAD_STORE | LOAD_MERGE | LOAD_UNDO};
	char what[80];

	snprintf(what, sizeof(what), "load sys config rollback %" PRIu64 "%s", generation,
		live ? " with-live" : "");
	if (!live)
		way.flags |= LOAD_KEEP_LIVE;
	int rc = store_history_undo(cp->store, cp->model, generation, live, &way.text);
	if (rc == -ERANGE)
		refuse_old(cp, r, generation);
	else if (rc)
		cp_refuse(r, 500, "", "the history cannot be read: %s", strerror(-rc));
	else
		cp_commit_reply(cp, r,
			&(struct cp_commit){.user = user,
				.what = what,
				.change = way_back_take,
				.ctx = &way,
				.verify = json_is_true(json_object_get(body, "verify"))});
	text_fini(&way.text);
}

void cp_roll_back(struct cp *cp, struct ipc_request *r, const struct cp_user *user)
{
	uint64_t generation, newest = model_generation(cp->model);
	bool fault;

	if (!take_generation(r, &generation, &fault)) {
		if (!fault)
			cp_refuse(r, 400, "generation", "is missing");
	} else if (generation > newest) {
		cp_refuse(r, 400, "generation", "is later than the newest, %" PRIu64, newest);
	} else {
		roll_back(cp, r, user, generation);
	}
}
