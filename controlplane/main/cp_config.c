/* SPDX-License-Identifier: BSD-3-Clause */
/* load and save: the running configuration from and to a file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "health/health_detect.h"
#include "main/cp.h"
#include "store/atomic_file.h"

struct source {
	char *text;
	size_t length;
	const char *file;
	unsigned flags;
};

static int source_load(struct cp *cp, void *ctx, struct model_error *err)
{
	struct source *s = ctx;

	return model_load(cp->model, s->text, s->length, s->file, s->flags, err);
}

static bool source_read(struct cp *cp, struct ipc_request *r, struct source *s)
{
	const json_t *text = json_object_get(ipc_request_body(r), "text");
	int rc = 0;

	if (json_is_true(json_object_get(ipc_request_body(r), "default"))) {
		s->text = strdup(""); /* admin keeps his password, as with any file without him */
		if (!s->text)
			cp_refuse(r, 500, "", "no memory");
	} else if (text) {
		s->text = ipc_text_get(text, &s->length);
		if (!s->text)
			cp_refuse(r, 400, "text", "must be text");
	} else {
		rc = file_read(cp->config_path, &s->text, &s->length);
		if (rc)
			cp_refuse(r, rc == -ENOENT ? 404 : 500, "", "%s: %s", cp->config_path,
				strerror(-rc));
	}
	return s->text != NULL;
}

void cp_load(struct cp *cp, struct ipc_request *r, const struct cp_user *user)
{
	const json_t *body = ipc_request_body(r);
	bool as_new = json_is_true(json_object_get(body, "default"));
	bool from_startup = !as_new && !json_object_get(body, "text");
	bool merge = json_is_true(json_object_get(body, "merge"));
	bool verify = json_is_true(json_object_get(body, "verify"));
	struct source source = {.flags = merge ? LOAD_MERGE : 0};
	char *file, what[160];

	if (as_new && (merge || json_object_get(body, "text"))) {
		cp_refuse(r, 400, "default", "goes neither with merge nor with a file");
		return;
	}
	if (!cp_argument(r, "file", &file))
		return;
	source.file = from_startup ? cp->config_path : as_new ? "default" : file ? file : "input";
	snprintf(what, sizeof(what), "load sys config%s %s", merge ? " merge" : "", source.file);
	if (source_read(cp, r, &source)) {
		struct cp_commit commit = {.user = user,
			.what = what,
			.change = source_load,
			.ctx = &source,
			.verify = verify};
		/* What the file says now is what a later save may overwrite. */
		commit.startup = from_startup && !merge && !verify
					 ? &(struct text){.data = source.text, .len = source.length}
					 : NULL;
		cp_commit_reply(cp, r, &commit);
	}
	free(source.text);
	free(file);
}

static void save_tell(struct cp *cp, const struct cp_user *user)
{
	char text[200];

	snprintf(text, sizeof(text), "configuration saved by %s: generation %llu", user->name,
		(unsigned long long)model_generation(cp->model));
	journal_write(
		&cp->journal, &(struct event_record){.message = MESSAGE_CONFIG_SAVED,
				      .actor = cp_journal_actor(user),
				      .after = event_number((int64_t)model_generation(cp->model)),
				      .text = text});
}

void cp_save(struct cp *cp, struct ipc_request *r, const struct cp_user *user)
{
	bool force = json_is_true(json_object_get(ipc_request_body(r), "force"));
	struct text difference = {0};

	/* The other's file is lost: that is for those who may load it. */
	if (force && !cp_authorise(user, CP_LOAD, NULL)) {
		cp_refuse(r, 403, "force", "%s may not overwrite what somebody else wrote",
			user->name);
		return;
	}
	int rc = store_save(cp->store, cp->model, cp->config_path, force, &difference);

	if (rc == -EEXIST) {
		/* It has what is in all partitions. */
		json_t *more =
			cp_authorise(user, CP_AUDIT, NULL)
				? json_pack("{s:o}", "difference", cp_difference(&difference))
				: NULL;
		ipc_reply_error(
			r, &(struct ipc_error){.code = 409,
				   .file = cp->config_path,
				   .reason = "was changed by somebody else since it was read",
				   .text = "the startup file was changed by somebody else since it "
					   "was read: load it, or save with force",
				   .more = more});
	} else if (rc) {
		cp_refuse(r, 500, "", "%s: %s", cp->config_path, strerror(-rc));
	} else {
		save_tell(cp, user);
		json_t *warnings = json_array();
		health_detect_check(cp->model, NULL, cp_warn, warnings);
		ipc_reply(r, json_pack("{s:s,s:I,s:i,s:o}", "file", cp->config_path, "generation",
				     (json_int_t)model_generation(cp->model), "unsaved", 0,
				     "warnings", warnings));
	}
	text_fini(&difference);
}
