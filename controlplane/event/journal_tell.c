/* SPDX-License-Identifier: BSD-3-Clause */
/* Commits and what the dataplane tells, as records. */
#include <inttypes.h>
#include <stdio.h>

#include "event/journal.h"

void journal_commit(struct journal *j, const struct event_actor *actor, const char *what,
	const struct model_changes *changes)
{
	char text[700];

	snprintf(text, sizeof(text),
		"AUDIT - user %s - transaction #%" PRIu64
		"-1 - object 0 - cmd { %s } [Status=Command OK]",
		actor->name, changes->generation, what);
	journal_write(j, &(struct event_record){.message = MESSAGE_CONFIG_CHANGED,
				 .actor = *actor,
				 .before = event_number((int64_t)changes->generation - 1),
				 .after = event_number((int64_t)changes->generation),
				 .count = changes->count,
				 .cause = what,
				 .text = text});
}

/* --- what the dataplane tells --------------------------------------------------------------------- */

/* Whether this one is written; *held_back: how many of its kind were not, since the last that was. */
static bool source_admits(struct journal *j, const struct event_row *row, unsigned *held_back)
{
	struct journal_source *s = &j->source[(row->type * 31 + row->object) % JOURNAL_SOURCES];
	uint64_t second = row->time / 1000000000u;
	bool same = s->type == row->type && s->object == row->object;

	*held_back = 0;
	if (same && s->second == second) {
		s->held_back++;
		return false;
	}
	if (same)
		*held_back = s->held_back;
	*s = (struct journal_source){row->type, row->object, second, 0};
	return true;
}

static const char *connect_failure(uint32_t kind)
{
	static const char *const words[CONNECT_FAILURES] = {[CONNECT_REFUSED] = "refused",
		[CONNECT_UNREACHABLE] = "unreachable",
		[CONNECT_SILENT] = "no answer"};

	return kind < CONNECT_FAILURES ? words[kind] : "unknown";
}

/* "/Common/web /Common/10.0.0.1:80" */
static const char *name_of(const struct model *m, uint32_t id, char *buf, size_t size)
{
	const struct object *o = model_get(m, id), *owner = o ? model_get(m, o->owner) : NULL;

	if (!o)
		snprintf(buf, size, "object %u", id);
	else
		snprintf(buf, size, "%s%s%s", owner ? owner->path : "", owner ? " " : "", o->path);
	return buf;
}

struct row_text {
	const struct model *m;
	const struct event_row *row;
	char object[600], text[1300];
};

static enum event_message row_message(struct row_text *t)
{
	const struct event_row *row = t->row;
	char detail[600], addr[IP_ADDR_TEXT];

	switch (row->type) {
	case EVENT_ADDRESS_CONFLICT:
		snprintf(t->text, sizeof(t->text),
			"%s: address is also used by %02x:%02x:%02x:%02x:%02x:%02x", t->object,
			row->mac[0], row->mac[1], row->mac[2], row->mac[3], row->mac[4],
			row->mac[5]);
		return MESSAGE_ADDRESS_CONFLICT;
	case EVENT_CONNECT_FAILED:
		snprintf(t->text, sizeof(t->text), "%s: %u connections failed: %s", t->object,
			row->detail, connect_failure(row->kind));
		return MESSAGE_CONNECT_FAILED;
	case EVENT_NEIGHBOUR_FAILED:
		snprintf(t->text, sizeof(t->text), "neighbour %s does not answer",
			ip_format(&row->addr, addr));
		return MESSAGE_NEIGHBOUR_FAILED;
	case EVENT_LINK:
		snprintf(t->text, sizeof(t->text), "port %u: link is %s", row->object,
			row->detail ? "up" : "down");
		return row->detail ? MESSAGE_LINK_UP : MESSAGE_LINK_DOWN;
	case EVENT_PORT_EXHAUSTION:
		snprintf(t->text, sizeof(t->text), "Inet port exhaustion on %s to %s", t->object,
			name_of(t->m, row->detail, detail, sizeof(detail)));
		return MESSAGE_PORT_EXHAUSTION;
	default:
		snprintf(t->text, sizeof(t->text), "%s: connection limit reached", t->object);
		return MESSAGE_LIMIT_REACHED;
	}
}

void journal_event(struct journal *j, const struct model *m, const struct event_row *row)
{
	struct row_text t = {.m = m, .row = row};
	const struct object *o = model_get(m, row->object), *owner;
	unsigned held_back;

	/* Happens all the time; not for the journal. */
	if (row->type == EVENT_CONNECTIONS_ZERO || row->type < EVENT_CONNECTIONS_ZERO ||
		row->type > EVENT_LINK || !source_admits(j, row, &held_back))
		return;
	if (row->type == EVENT_LINK || row->type == EVENT_NEIGHBOUR_FAILED)
		o = NULL;
	owner = o ? model_get(m, o->owner) : NULL;
	name_of(m, row->object, t.object, sizeof(t.object));
	struct event_record r = {.message = row_message(&t),
		.kind = o ? model_kinds[o->kind].full : NULL,
		.object = o ? o->path : NULL,
		.owner = owner ? owner->path : NULL,
		.count = held_back + 1u,
		.text = t.text};
	journal_tell(j, &r,
		&(struct journal_ask){.turn = row->type == EVENT_LIMIT_REACHED ||
							      row->type == EVENT_PORT_EXHAUSTION
						      ? JOURNAL_BAD
						      : JOURNAL_NEITHER});
}
