/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "compile/compile.h"
#include "main/cp.h"

static void live_of_member(struct cp *cp, uint32_t member)
{
	dplink_live_changed(cp->link, member);
	cp_vaddr_member_changed(cp, model_get(cp->model, member));
}

/* A node's state is part of its members'. */
static void live_of_node(struct cp *cp, uint32_t node)
{
	const uint32_t *member;
	unsigned count = cp_index_members(&cp->members, cp->model, node, &member);

	dplink_live_changed(cp->link, node);
	for (unsigned i = 0; i < count; i++)
		live_of_member(cp, member[i]);
}

void cp_push_server(struct cp *cp, uint32_t object)
{
	const struct object *o = model_get(cp->model, object);

	if (o && o->kind == KIND_NODE)
		live_of_node(cp, object);
	else if (o && o->kind == KIND_POOL_MEMBER)
		live_of_member(cp, object);
	else if (o)
		dplink_live_changed(cp->link, object);
}

static void live_all(struct cp *cp)
{
	static const enum model_kind kinds[] = {KIND_NODE, KIND_VIRTUAL};
	const struct object *o, *pool;

	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
		for (unsigned i = 0; (o = model_at(cp->model, kinds[k], i)); i++)
			dplink_live_changed(cp->link, o->id);
	for (unsigned p = 0; (pool = model_at(cp->model, KIND_POOL, p)); p++)
		for (unsigned i = 0; (o = model_child_at(cp->model, pool, i)); i++)
			dplink_live_changed(cp->link, o->id);
	cp_vaddr_all_changed(cp);
}

/* Without this, every ratio push would look at all interfaces and routes of the kernel. */
static bool concerns_kernel(const struct model_changes *changes)
{
	for (unsigned i = 0; i < changes->count; i++)
		switch (changes->row[i].kind) {
		case KIND_VLAN:
		case KIND_VLAN_INTERFACE:
		case KIND_SELF:
		case KIND_ROUTE:
			return true;
		default:
			break;
		}
	return false;
}

void cp_push_kernel(struct cp *cp)
{
	cp->kernel_fault[0] = 0;
	if (!cp->kernel)
		return;
	if (kernel_apply(cp->kernel, cp->model, cp->kernel_fault, sizeof(cp->kernel_fault)))
		log_error("kernel: %s", cp->kernel_fault);
	if (!cp->link || !dplink_hello(cp->link))
		kernel_tidy(cp->kernel);
}

void cp_push(struct cp *cp, const struct model_changes *changes)
{
	if (concerns_kernel(changes))
		cp_push_kernel(cp);
	/* Also for a description: generations on both sides stay equal, so a restart pushes nothing. */
	if (changes->config) {
		dplink_snapshot_changed(cp->link);
		cp_vaddr_all_changed(cp);
	}
	for (unsigned i = 0; i < changes->count; i++) {
		const struct model_change *row = &changes->row[i];

		if (row->what != CHANGE_MODIFIED || !(row->effect & EFFECT_LIVE))
			continue;
		cp_push_server(cp, row->id);
	}
}

/* --- what the link asks and tells ----------------------------------------------------------------- */

static void on_connected(void *ctx, const struct msg_hello *hello)
{
	struct cp *cp = ctx;
	char text[80];

	if (hello->origin != store_origin(cp->store) ||
		hello->generation != model_generation(cp->model))
		dplink_snapshot_changed(cp->link);
	/* One that has no configuration has no taps either. */
	if (hello->generation)
		health_path(cp->health, true);
	live_all(cp);
	cp_down_connected(cp);
	drains_connected(cp->drains);
	fqdn_retry(cp->fqdn);
	cp_event_system(cp, "sys dataplane", true, "the dataplane connected");
	snprintf(text, sizeof(text), "dataplane connected, generation %" PRIu64 " in force",
		hello->generation);
	cp_journal_part(cp, MESSAGE_DATAPLANE_CONNECTED, "sys dataplane", true, text);
}

static void on_lost(void *ctx)
{
	struct cp *cp = ctx;

	cp->refused[0] = 0;
	health_path(cp->health, false);
	cp_down_lost(cp);
	drains_lost(cp->drains);
	cp_event_system(cp, "sys dataplane", false, "the dataplane was lost");
	cp_journal_part(cp, MESSAGE_DATAPLANE_LOST, "sys dataplane", false, "dataplane lost");
}

static int on_snapshot(void *ctx)
{
	struct cp *cp = ctx;

	return compile_snapshot(cp->model, cp->verdicts, store_origin(cp->store));
}

static bool on_live(void *ctx, uint32_t id, struct live_row *out)
{
	struct cp *cp = ctx;
	const struct object *o = model_get(cp->model, id);

	if (!o || o->kind != KIND_VIRTUAL_ADDRESS)
		return o && compile_live(cp->model, cp->verdicts, o, out);
	cp_vaddr_live(cp, o, out);
	return true;
}

static void on_snapshot_result(void *ctx, int status, uint64_t generation, const char *reason)
{
	struct cp *cp = ctx;

	bool was_refused = cp->refused[0] != 0;
	char text[400];

	snprintf(cp->refused, sizeof(cp->refused), "%s", status ? reason : "");
	if (status) {
		snprintf(text, sizeof(text), "dataplane refused the configuration: %s", reason);
		cp_journal_part(cp, MESSAGE_CONFIG_REFUSED, "sys config", false, text);
		return;
	}
	if (was_refused ||
		journal_is_bad(&cp->journal, MESSAGE_CONFIG_REFUSED, "sys config", NULL, NULL))
		cp_journal_part(cp, MESSAGE_CONFIG_IN_FORCE, "sys config", true,
			"dataplane has taken the configuration");
	health_path(cp->health, true);
	kernel_tidy(cp->kernel);
	log_debug("dataplane: generation %" PRIu64 " in force", generation);
}

static void events_lost(struct cp *cp, uint64_t lost)
{
	char text[80];

	snprintf(text, sizeof(text), "%" PRIu64 " events of the dataplane were lost", lost);
	cp_journal_note(cp, MESSAGE_EVENTS_LOST, NULL, NULL, text);
}

static void on_event(void *ctx, const struct event_row *row, uint64_t lost)
{
	struct cp *cp = ctx;

	/* Counters and states are read when they are asked for, so a gap leaves nothing wrong here. */
	if (lost)
		events_lost(cp, lost);
	drains_event(cp->drains, row, lost);
	health_event(cp->health, row);
	if (row->type == EVENT_LIMIT_REACHED || row->type == EVENT_PORT_EXHAUSTION)
		cp_limit_event(cp, row);
	else
		journal_event(&cp->journal, cp->model, row);
}

const struct dplink_ops cp_dplink_ops = {
	.connected = on_connected,
	.lost = on_lost,
	.snapshot = on_snapshot,
	.live = on_live,
	.snapshot_result = on_snapshot_result,
	.event = on_event,
};
