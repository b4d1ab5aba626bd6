/* SPDX-License-Identifier: BSD-3-Clause */
#include "event/journal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/log.h"

static void log_line(const struct event_record *r)
{
	const char *address = r->actor.address && *r->actor.address ? r->actor.address : NULL;
	static const uint8_t levels[EVENT_LEVELS] = {LOG_LEVEL_ERROR, LOG_LEVEL_ERROR,
		LOG_LEVEL_ERROR, LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_NOTICE,
		LOG_LEVEL_NOTICE, LOG_LEVEL_DEBUG};

	log_write(levels[event_messages[r->message].level], "journal: %s%s%s", r->text,
		address ? " from " : "", address ? address : "");
}

void journal_write(struct journal *j, struct event_record *r)
{
	log_line(r);
	if (journal_store_put(j->store, r) == 0 && j->written)
		j->written(j->ctx);
}

int journal_open(struct journal *j, const char *folder, const uint8_t key[JOURNAL_KEY_BYTES],
	void (*written)(void *ctx), void *ctx)
{
	char found[200], text[300];

	*j = (struct journal){.written = written, .ctx = ctx};
	j->store = journal_store_open(folder, key, found, sizeof(found));
	if (!j->store)
		return -ENOMEM;
	snprintf(text, sizeof(text), "the journal is not as it was left: %s", found);
	if (*found)
		journal_write(j,
			&(struct event_record){
				.message = MESSAGE_JOURNAL_DAMAGED, .cause = found, .text = text});
	journal_write(j,
		&(struct event_record){.message = MESSAGE_STARTED, .text = "weir-cp was started"});
	return 0;
}

void journal_close(struct journal *j)
{
	if (!j->store)
		return;
	journal_write(j,
		&(struct event_record){.message = MESSAGE_STOPPED, .text = "weir-cp was stopped"});
	journal_store_close(j->store);
	j->store = NULL;
}

void journal_note(struct journal *j, const char *format, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	log_notice("journal: %s", line);
}

bool journal_admits_state(struct journal *j, bool up)
{
	if (j->states < JOURNAL_STATES_AT_ONCE) {
		j->states++;
		return true;
	}
	if (up)
		j->held_back.up++;
	else
		j->held_back.down++;
	return false;
}

void journal_second(struct journal *j)
{
	struct journal_states *h = &j->held_back;

	j->states -=
		j->states < JOURNAL_STATES_EVERY_SECOND ? j->states : JOURNAL_STATES_EVERY_SECOND;
	if (!h->up && !h->down)
		return;
	journal_note(j,
		"monitor status of too many servers to be written one by one: %u went down, %u up",
		h->down, h->up);
	*h = (struct journal_states){0};
}

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

static const char *path_of(const struct model *m, uint32_t id, char *buf, size_t size)
{
	const struct object *o = model_get(m, id), *owner = o ? model_get(m, o->owner) : NULL;

	if (!o)
		snprintf(buf, size, "object %u", id);
	else
		snprintf(buf, size, "%s%s%s", owner ? owner->path : "", owner ? " " : "", o->path);
	return buf;
}

/* Whether this one is written; *held_back: how many of its kind were not, since the last that was. */
static bool source_admits(struct journal *j, const struct event_row *row, unsigned *held_back)
{
	struct journal_source *s = &j->source[(row->type * 31 + row->object) % JOURNAL_SOURCES];
	uint64_t second = row->time / 1000000000u;

	*held_back = 0;
	if (s->type == row->type && s->object == row->object && s->second == second) {
		s->held_back++;
		return false;
	}
	if (s->type == row->type && s->object == row->object)
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

void journal_event(struct journal *j, const struct model *m, const struct event_row *row)
{
	char object[600], detail[600], addr[IP_ADDR_TEXT];
	unsigned held_back;

	/* Happens all the time; not for the journal. */
	if (row->type == EVENT_CONNECTIONS_ZERO) {
		log_debug(
			"%s: no connections left", path_of(m, row->object, object, sizeof(object)));
		return;
	}
	if (!source_admits(j, row, &held_back))
		return;
	path_of(m, row->object, object, sizeof(object));
	if (held_back)
		log_notice(
			"journal: %s: %u events like the next were not written", object, held_back);
	switch (row->type) {
	case EVENT_LIMIT_REACHED:
		log_warning("journal: %s: connection limit reached", object);
		break;
	case EVENT_PORT_EXHAUSTION:
		log_error("journal: Inet port exhaustion on %s to %s", object,
			path_of(m, row->detail, detail, sizeof(detail)));
		break;
	case EVENT_ADDRESS_CONFLICT:
		log_warning("journal: %s: address is also used by %02x:%02x:%02x:%02x:%02x:%02x",
			object, row->mac[0], row->mac[1], row->mac[2], row->mac[3], row->mac[4],
			row->mac[5]);
		break;
	case EVENT_CONNECT_FAILED:
		log_notice("journal: %s: %u connections failed: %s", object, row->detail,
			connect_failure(row->kind));
		break;
	case EVENT_NEIGHBOUR_FAILED:
		log_notice("journal: neighbour %s does not answer", ip_format(&row->addr, addr));
		break;
	default:
		log_notice("journal: %s: event %u", object, row->type);
	}
}
