/* SPDX-License-Identifier: BSD-3-Clause */
/* What health/ tells: verdicts to dataplane and journal, agents' words, dynamic ratios; weir-mon coming and going. */
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/rights.h"
#include "main/cp.h"

/* --- verdicts ------------------------------------------------------------------------------------- */

static void on_verdict(void *ctx, uint32_t object, enum verdict before, uint64_t since)
{
	struct cp *cp = ctx;
	const struct object *o = model_get(cp->model, object);
	enum verdict after = verdicts_get(cp->verdicts, object).verdict;

	if (!o)
		return;
	cp_server_changed(cp, object, before, after);
}

/* --- the rest that weir-mon tells ----------------------------------------------------------------- */

static void on_agent(void *ctx, uint32_t object, uint32_t monitor, const struct health_agent *line)
{
	cp_agent_line(ctx, object, monitor, line);
}

struct ratio {
	uint32_t object;
	unsigned value;
};

static int ratio_change(struct cp *cp, void *ctx, struct model_error *err)
{
	const struct ratio *r = ctx;

	return model_set_int(cp->model, r->object, "dynamic-ratio", r->value, err);
}

static void on_dynamic_ratio(void *ctx, uint32_t object, unsigned value)
{
	static const struct cp_user user = {
		.name = "snmp-dca", .role = ROLE_OPERATOR, .class = HOLD_SYSTEM};
	struct ratio ratio = {object, value};
	const struct cp_commit commit = {
		.user = &user, .what = "dynamic ratio", .change = ratio_change, .ctx = &ratio};
	struct cp *cp = ctx;
	struct model_changes changes;
	struct model_error err;
	char text[2048];

	if (cp_commit(cp, &commit, &changes, &err))
		log_error("dynamic ratio: %s", model_error_text(&err, text, sizeof(text)));
	else
		model_changes_fini(&changes);
}

static void on_connected(void *ctx, bool connected)
{
	struct cp *cp = ctx;

	cp->monitoring_stopped = time(NULL);
	const char *sentence =
		connected ? "monitoring runs" : "monitoring stopped: states are frozen";
	cp_journal_part(cp, connected ? MESSAGE_MONITORING_RUNS : MESSAGE_MONITORING_STOPPED,
		"ltm monitor", connected, sentence);
	cp_event_system(cp, "ltm monitor", connected, sentence);
}

/* --- start and end -------------------------------------------------------------------------------- */

static const struct health_ops ops = {
	.verdict = on_verdict,
	.agent = on_agent,
	.dynamic_ratio = on_dynamic_ratio,
	.connected = on_connected,
};

/* Absolute: weir-mon gets paths in it, and runs elsewhere. */
static char *config_folder(const struct cp *cp)
{
	char *path = strdup(cp->config_path);
	char *folder = path ? realpath(dirname(path), NULL) : NULL;

	if (!folder)
		log_error("%s: its folder: %s", cp->config_path, strerror(errno));
	free(path);
	return folder;
}

static int health_start(struct cp *cp, const char *run_dir, uid_t mon_uid, const char *folder)
{
	const struct health_config config = {.run_dir = run_dir,
		.store_dir = cp->store_dir,
		.origin = store_origin(cp->store),
		.file_dir = folder,
		.mon_uid = mon_uid,
		.kernel = cp->kernel};
	char reason[512];

	cp->monitoring_stopped = time(NULL);
	cp->health = health_new(cp->base, cp->model, &config, &ops, cp, reason, sizeof(reason));
	if (!cp->health) {
		log_error("health: %s", reason);
		return -EIO;
	}
	cp->verdicts = health_verdicts(cp->health);
	if (cp->kernel)
		kernel_mark_tidy(cp->kernel);
	return 0;
}

int cp_health_init(struct cp *cp, const char *run_dir, const char *monitor_user)
{
	struct identity id = {0};
	int rc = rights_user("--monitor-user", monitor_user, &id);

	if (rc)
		return rc;
	char *folder = config_folder(cp);
	rc = folder ? health_start(cp, run_dir, id.uid, folder) : -ENOENT;
	free(folder);
	return rc;
}

void cp_health_changed(struct cp *cp, const struct model_changes *changes)
{
	health_model_changed(cp->health, cp->model, changes);
}

void cp_health_resume(struct cp *cp, struct model_changes *changes, const struct cp_user *author)
{
	for (unsigned i = 0; i < changes->enabled_count; i++) {
		const struct object *o = model_get(cp->model, changes->enabled[i]);
		size_t len = strlen(changes->note);
		char text[400];

		if (!o || health_resume(cp->health, o->id))
			continue;
		snprintf(changes->note + len, sizeof(changes->note) - len,
			"%s%s: it waited for manual resume, and is used again", len ? "; " : "",
			o->path);
		snprintf(text, sizeof(text), "%s: resumed by %s", o->path, author->name);
		cp_journal_note(cp, MESSAGE_RESUMED, o, author, text);
	}
}

void cp_monitoring_text(const struct cp *cp, char *out, size_t size)
{
	struct tm tm;
	char when[40] = "";

	if (health_connected(cp->health)) {
		snprintf(out, size, "%s",
			health_path_open(cp->health)
				? "running"
				: "waits for the dataplane, states are frozen");
		return;
	}
	if (localtime_r(&cp->monitoring_stopped, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	snprintf(out, size, "stopped since %s, states are frozen", when);
}
