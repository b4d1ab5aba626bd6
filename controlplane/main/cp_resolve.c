/* SPDX-License-Identifier: BSD-3-Clause */
/* Servers that are known by name: their commits, and what is shown of them. */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "main/cp.h"

static const struct cp_user system_user = {
	.name = "system", .role = ROLE_ADMIN, .class = HOLD_SYSTEM};

struct turn {
	char what[100];
};

static int turn_change(struct cp *cp, void *ctx, struct model_error *err)
{
	struct turn *t = ctx;
	int rc = fqdn_apply(cp->fqdn, cp->model, clock_ns(), err);

	snprintf(t->what, sizeof(t->what), "%s", fqdn_summary(cp->fqdn));
	return rc;
}

static int on_commit(void *ctx)
{
	struct cp *cp = ctx;
	struct model_changes changes;
	struct model_error err;
	struct turn turn = {""};
	char text[2048];
	struct cp_commit commit = {
		.user = &system_user, .what = turn.what, .change = turn_change, .ctx = &turn};
	int rc = cp_commit(cp, &commit, &changes, &err);

	if (rc)
		log_error("name resolution: %s", model_error_text(&err, text, sizeof(text)));
	else
		model_changes_fini(&changes);
	return rc;
}

static int64_t on_connections(void *ctx, uint32_t member)
{
	struct cp *cp = ctx;
	const struct counters *c = dplink_counters(cp->link);

	return c ? (int64_t)drain_connections(c, member) : -1;
}

static void on_note(void *ctx, const struct object *o, const char *before, const char *after,
	const char *sentence)
{
	struct cp *cp = ctx;

	journal_write(&cp->journal, &(struct event_record){.message = MESSAGE_NAME_RESOLUTION,
					    .kind = model_kinds[o->kind].full,
					    .object = o->path,
					    .actor = cp_journal_actor(&system_user),
					    .before = event_text(before),
					    .after = event_text(after),
					    .text = sentence});
}

int cp_resolve_init(struct cp *cp)
{
	static const struct fqdn_ops ops = {
		.commit = on_commit, .connections = on_connections, .note = on_note};

	cp->fqdn = fqdn_new(cp->base, cp->model, &ops, cp);
	return cp->fqdn ? 0 : -ENOMEM;
}

void cp_resolve_changed(struct cp *cp, const struct model_changes *changes)
{
	fqdn_model_changed(cp->fqdn, cp->model, changes);
}

/* A row is of a template: its state is that of the name. */
const char *cp_resolve_state(const struct cp *cp, const struct object *o)
{
	const struct pool_member *member = model_pool_member(o);
	const struct resolve_status *s = fqdn_status(cp->fqdn, member ? member->conf.node : o->id);

	return s ? resolve_state_name(s->state) : "fqdn-checking";
}

void cp_resolve_row(const struct cp *cp, const struct object *o, json_t *row)
{
	static const uint8_t availability[] = {[RESOLVE_CHECKING] = AVAILABILITY_BLUE,
		[RESOLVE_UP] = AVAILABILITY_GREEN,
		[RESOLVE_UP_NO_ADDR] = AVAILABILITY_BLUE,
		[RESOLVE_DOWN] = AVAILABILITY_RED};
	const struct pool_member *member = model_pool_member(o);
	const struct resolve_status *s = fqdn_status(cp->fqdn, member ? member->conf.node : o->id);
	const char *held = json_string_value(json_object_get(row, "status.statusReason"));
	const char *enabled = json_string_value(json_object_get(row, "status.enabledState"));
	char sentence[700];
	struct text reason = {0};

	if (!s)
		return;
	if (enabled && strcmp(enabled, "enabled"))
		text_printf(&reason, "%s; ", held);
	text_printf(&reason, "%s", fqdn_sentence(s, clock_ns(), sentence, sizeof(sentence)));
	json_object_set_new(row, "status.availabilityState",
		json_string(state_availability_name(availability[s->state])));
	json_object_set_new(
		row, "status.color", json_string(state_colour_name(availability[s->state])));
	json_object_set_new(row, "monitorStatus", json_string(resolve_state_name(s->state)));
	json_object_set_new(row, "addr", json_string("any6"));
	json_object_set_new(row, "status.statusReason",
		ipc_text_new(reason.data ? reason.data : "", reason.len));
	text_fini(&reason);
}
