/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "health/health_detect.h"
#include "main/cp.h"

static int fail(struct model_error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(struct model_error *err, int code, const char *format, ...)
{
	va_list ap;

	*err = (struct model_error){.code = code};
	va_start(ap, format);
	vsnprintf(err->reason, sizeof(err->reason), format, ap);
	va_end(ap);
	return code;
}

/*
 * The store could not take what the model already has (the disk is full, say): what is on the disk counts.
 * If that cannot be read either, the configuration would be gone after a restart, so it is the end.
 */
static void go_back(struct cp *cp)
{
	struct model *m = model_new();
	struct model_error err = {0};
	char sentence[2048];

	if (!m || store_reload(cp->store, m, &err)) {
		log_error("store: cannot be read back: %s",
			model_error_text(&err, sentence, sizeof(sentence)));
		abort();
	}
	model_free(cp->model);
	cp_index_fini(&cp->members);
	cp_index_fini(&cp->virtuals);
	cp_index_fini(&cp->of_pool);
	cp->model = m;
	cp_health_changed(cp, NULL);
	cp_resolve_changed(cp, NULL);
	cp_auth_changed(cp, NULL);
	cp_notify_changed(cp, NULL);
	cp_states_reset(cp);
	cp_live_reset(cp);
}

void cp_warn(void *warnings, const char *sentence)
{
	json_array_append_new(warnings, ipc_text_new(sentence, strlen(sentence)));
}

static int commit_store(struct cp *cp, const struct cp_commit *commit,
	struct model_changes *changes, struct model_error *err)
{
	int rc = store_append(cp->store, cp->model, changes, commit->user->name,
		commit->user->address, commit->what);

	if (rc == 0)
		return 0;
	log_error("store: commit by %s: not written: %s", commit->user->name, strerror(-rc));
	model_changes_fini(changes);
	go_back(cp);
	return fail(err, -EIO, "the running store cannot be written: %s", strerror(-rc));
}

/* The commit stands whatever becomes of this: then the next save asks before it overwrites the file. */
static void startup_note(struct cp *cp, const struct text *startup)
{
	int rc = store_startup_loaded(cp->store, cp->model, startup->data, startup->len);

	if (rc)
		log_error("store: copy of the startup file: %s", strerror(-rc));
}

int cp_commit(struct cp *cp, const struct cp_commit *commit, struct model_changes *changes,
	struct model_error *err)
{
	const struct model_actor actor = {.class = commit->user->class,
		.role = commit->user->role,
		.may = commit->user->id == ID_NONE ? NULL : cp_may_change,
		.who = commit->user};
	int rc = model_begin(cp->model, &actor);

	*err = (struct model_error){0};
	*changes = (struct model_changes){0};
	if (rc)
		return fail(err, rc, "a change cannot be begun: %s", strerror(-rc));
	rc = commit->change(cp, commit->ctx, err);
	if (rc == 0)
		rc = commit->verify ? model_validate(cp->model, err)
				    : model_commit(cp->model, changes, err);
	if (rc == 0 && commit->verify && commit->warnings)
		health_detect_check(cp->model, NULL, cp_warn, commit->warnings);
	if (rc || commit->verify) {
		model_abort(cp->model);
		return rc;
	}
	if (changes->count)
		rc = commit_store(cp, commit, changes, err);
	if (rc == 0 && commit->startup)
		startup_note(cp, commit->startup);
	if (rc == 0)
		cp_health_resume(cp, changes, commit->user);
	if (rc || changes->count == 0)
		return rc;
	if (changes->config && commit->warnings)
		health_detect_check(cp->model, changes, cp_warn, commit->warnings);
	cp_journal_commit(cp, commit, changes);
	cp->committing = commit;
	cp_event_commit(cp, commit, changes);
	cp_auth_changed(cp, changes);
	cp_notify_changed(cp, changes);
	cp_health_changed(cp, changes);
	cp_push(cp, changes);
	cp_states_commit(cp, commit, changes);
	cp->committing = NULL;
	cp_resolve_changed(cp, changes);
	cp_agent_gone_changed(cp, changes);
	cp->draining = commit->user;
	drains_model_changed(cp->drains, cp->model, commit->user->name);
	cp->draining = NULL;
	return 0;
}

/* A commit's answer that waits for the dataplane. */
struct waiting {
	struct cp *cp;
	struct ipc_request *r;
	json_t *result;
};

static void waiting_gone(void *ctx)
{
	struct waiting *w = ctx;

	dplink_wait_cancel(w->cp->link, w);
	json_decref(w->result);
	free(w);
}

static void result_warn(json_t *result, const char *sentence)
{
	cp_warn(json_object_get(result, "warnings"), sentence);
}

static void waiting_done(void *ctx, int status, const char *reason)
{
	struct waiting *w = ctx;
	char sentence[400];

	if (status == -EINVAL) {
		snprintf(sentence, sizeof(sentence), "the dataplane refused the configuration: %s",
			reason);
		result_warn(w->result, sentence);
	} else if (status) {
		result_warn(w->result, reason);
	}
	ipc_reply(w->r, w->result);
	free(w);
}

json_t *cp_commit_result(const struct cp *cp, const struct model_changes *changes, json_t *warnings)
{
	return json_pack("{s:I,s:i,s:i,s:o,s:o}", "generation",
		(json_int_t)model_generation(cp->model), "changes", (int)changes->count, "unsaved",
		(int)store_unsaved(cp->store), "note",
		ipc_text_new(changes->note, strlen(changes->note)), "warnings",
		warnings ? json_incref(warnings) : json_array());
}

void cp_commit_reply(struct cp *cp, struct ipc_request *r, const struct cp_commit *commit)
{
	struct cp_commit warned = *commit;
	struct model_changes changes;
	struct model_error err;

	warned.warnings = json_array();
	if (cp_commit(cp, &warned, &changes, &err)) {
		json_decref(warned.warnings);
		cp_refuse_model(
			r, &err, commit->error_more ? commit->error_more(commit->ctx) : NULL);
		return;
	}
	json_t *result = cp_commit_result(cp, &changes, warned.warnings);
	json_decref(warned.warnings);
	unsigned count = changes.count;
	uint8_t effect = changes.effect;
	model_changes_fini(&changes);
	if (result && cp->kernel_fault[0] && (effect & EFFECT_SNAPSHOT))
		result_warn(result, cp->kernel_fault);
	if (count)
		cp_reply_in_force(cp, r, result);
	else
		ipc_reply(r, result);
}

void cp_reply_in_force(struct cp *cp, struct ipc_request *r, json_t *result)
{
	struct waiting *w = result ? calloc(1, sizeof(*w)) : NULL;

	if (!w) {
		ipc_reply(r, result);
		return;
	}
	*w = (struct waiting){cp, r, result};
	ipc_request_on_gone(r, waiting_gone, w);
	dplink_wait(cp->link, waiting_done, w);
}
