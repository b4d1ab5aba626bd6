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

static const char *const status_name[VERDICTS] = {
	[VERDICT_UNCHECKED] = "unchecked",
	[VERDICT_CHECKING] = "checking",
	[VERDICT_RECHECKING] = "checking",
	[VERDICT_UP] = "up",
	[VERDICT_DOWN] = "down",
	[VERDICT_DRAIN] = "up, no new clients",
	[VERDICT_RESUME] = "down, waits for manual resume",
};

struct sentence {
	const struct model *model;
	char text[400];
	size_t used;
};

static void sentence_add(struct sentence *s, const char *a, const char *b, const char *c)
{
	if (s->used < sizeof(s->text))
		s->used += (size_t)snprintf(
			s->text + s->used, sizeof(s->text) - s->used, "%s%s%s", a, b, c);
}

static void add_instance(void *ctx, const struct health_instance *in)
{
	struct sentence *s = ctx;
	const struct object *monitor = model_get(s->model, in->monitor);

	sentence_add(s, s->used ? ", " : "", monitor ? monitor->path : "", ": ");
	sentence_add(s, status_name[in->verdict], "", "");
	if (in->verdict == VERDICT_DOWN)
		sentence_add(s, "; last error: ", in->reason, "");
}

static void duration(uint64_t since, char *out, size_t size)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	uint64_t ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
	uint64_t s = ms > since ? (ms - since) / 1000 : 0;
	snprintf(out, size, "%" PRIu64 "hr:%" PRIu64 "min:%" PRIu64 "sec", s / 3600, s / 60 % 60,
		s % 60);
}

/* In LTM's words, which people's log collectors look for. */
static void journal_verdict(
	struct cp *cp, const struct object *o, enum verdict before, uint64_t since)
{
	enum verdict after = verdicts_get(cp->verdicts, o->id).verdict;
	const struct object *pool = model_get(cp->model, o->owner);
	struct sentence s = {.model = cp->model};
	char address[IP_ADDR_TEXT], lasted[40], was[80] = "";

	if (!journal_admits_state(&cp->journal, after == VERDICT_UP || after == VERDICT_DRAIN))
		return;
	health_instances(cp->health, o->id, ID_NONE, add_instance, &s);
	if (since) {
		duration(since, lasted, sizeof(lasted));
		snprintf(was, sizeof(was), "  [ was %s for %s ]", status_name[before], lasted);
	}
	if (pool)
		journal_note(&cp->journal, "Pool %s member %s monitor status %s. [ %s ]%s",
			pool->path, o->path, status_name[after], s.text, was);
	else
		journal_note(&cp->journal, "Node %s address %s monitor status %s. [ %s ]%s",
			o->path, ip_format(&model_node(o)->conf.address, address),
			status_name[after], s.text, was);
}

static void on_verdict(void *ctx, uint32_t object, enum verdict before, uint64_t since)
{
	struct cp *cp = ctx;
	const struct object *o = model_get(cp->model, object);
	enum verdict after = verdicts_get(cp->verdicts, object).verdict;

	if (!o)
		return;
	if (after == VERDICT_UP || after == VERDICT_DOWN || after == VERDICT_DRAIN ||
		after == VERDICT_RESUME)
		journal_verdict(cp, o, before, since);
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
	journal_note(&cp->journal, "%s", sentence);
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

void cp_health_resume(struct cp *cp, struct model_changes *changes, const char *author)
{
	for (unsigned i = 0; i < changes->enabled_count; i++) {
		const struct object *o = model_get(cp->model, changes->enabled[i]);
		size_t len = strlen(changes->note);

		if (!o || health_resume(cp->health, o->id))
			continue;
		snprintf(changes->note + len, sizeof(changes->note) - len,
			"%s%s: it waited for manual resume, and is used again", len ? "; " : "",
			o->path);
		journal_note(&cp->journal, "%s: resumed by %s", o->path, author);
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
