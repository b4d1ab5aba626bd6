/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Incidents over a restart: a file beside the journal has them as they were at a record, the records behind it tell
 * the rest. A file that cannot be used means that all is told from the newest records that are looked at.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "event/journal.h"
#include "event/journal_scan.h"
#include "store/atomic_file.h"

/* Records behind the file that a start looks at: more come only if the disk took no file for long. */
#define REPLAY_BYTES (32u << 20)

enum aspect {
	ASPECT_NONE,
	ASPECT_STATE,
	ASPECT_HOLD,
	ASPECT_LIMIT,
	ASPECT_PORTS,
	ASPECT_REFUSED,
	ASPECT_PRESENT,
	ASPECT_FLOOD,
	ASPECTS
};

uint8_t journal_aspect(enum event_message message)
{
	static const uint8_t aspects[EVENT_MESSAGES] = {
		[MESSAGE_MEMBER_STATUS] = ASPECT_STATE,
		[MESSAGE_MEMBER_UP] = ASPECT_STATE,
		[MESSAGE_MEMBER_UNKNOWN] = ASPECT_STATE,
		[MESSAGE_NODE_STATUS] = ASPECT_STATE,
		[MESSAGE_NODE_UP] = ASPECT_STATE,
		[MESSAGE_NODE_UNKNOWN] = ASPECT_STATE,
		[MESSAGE_POOL_EMPTY] = ASPECT_STATE,
		[MESSAGE_POOL_BACK] = ASPECT_STATE,
		[MESSAGE_VIRTUAL_AVAILABLE] = ASPECT_STATE,
		[MESSAGE_VIRTUAL_UNAVAILABLE] = ASPECT_STATE,
		[MESSAGE_HOLD_SET] = ASPECT_HOLD,
		[MESSAGE_HOLD_CLEARED] = ASPECT_HOLD,
		[MESSAGE_LIMIT_REACHED] = ASPECT_LIMIT,
		[MESSAGE_LIMIT_LEFT] = ASPECT_LIMIT,
		[MESSAGE_PORT_EXHAUSTION] = ASPECT_PORTS,
		[MESSAGE_PORTS_LEFT] = ASPECT_PORTS,
		[MESSAGE_CONFIG_REFUSED] = ASPECT_REFUSED,
		[MESSAGE_CONFIG_IN_FORCE] = ASPECT_REFUSED,
		[MESSAGE_DATAPLANE_LOST] = ASPECT_PRESENT,
		[MESSAGE_DATAPLANE_CONNECTED] = ASPECT_PRESENT,
		[MESSAGE_MONITORING_STOPPED] = ASPECT_PRESENT,
		[MESSAGE_MONITORING_RUNS] = ASPECT_PRESENT,
		[MESSAGE_STATES_MANY] = ASPECT_FLOOD,
	};

	return aspects[message];
}

/* --- the file ------------------------------------------------------------------------------------- */

static json_t *text_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

static void entry_add(void *ctx, const struct incident_entry *e)
{
	json_array_append_new(
		ctx, json_pack("[o,o,o,i,I,I,I,I,b]", text_or_null(e->thing.kind),
			     text_or_null(e->thing.owner), text_or_null(e->thing.object),
			     (int)e->thing.aspect, (json_int_t)e->number, (json_int_t)e->opened,
			     (json_int_t)e->closed, (json_int_t)e->good, (int)e->root));
}

char *journal_incidents_text(const struct journal *j)
{
	json_t *things = json_array();
	json_t *all = json_pack(
		"{s:I,s:o}", "seq", (json_int_t)journal_store_newest(j->store), "things", things);
	char *text;

	if (all)
		incidents_each(j->incidents, entry_add, things);
	text = all ? json_dumps(all, JSON_COMPACT) : NULL;
	json_decref(all);
	return text;
}

static void entry_take(struct journal *j, json_t *row)
{
	json_t *text[3] = {0};
	json_int_t number, opened, closed, good;
	int aspect, root;

	if (json_unpack(row, "[o,o,o,i,I,I,I,I,b]", &text[0], &text[1], &text[2], &aspect, &number,
		    &opened, &closed, &good, &root) ||
		aspect <= ASPECT_NONE || aspect >= ASPECTS || number <= 0)
		return;
	incidents_restore(j->incidents,
		&(struct incident_entry){
			.thing = {json_string_value(text[0]), json_string_value(text[1]),
				json_string_value(text[2]), (uint8_t)aspect},
			.number = (uint64_t)number,
			.opened = (uint64_t)opened,
			.closed = (uint64_t)closed,
			.good = (uint64_t)good,
			.root = root != 0});
}

/* Number of the record that the file is of. */
static uint64_t file_load(struct journal *j, const char *folder)
{
	char path[4096], *data;
	size_t length, i;
	json_t *row;

	snprintf(path, sizeof(path), "%s/incidents", folder);
	if (file_read(path, &data, &length))
		return 0;
	json_t *all = json_loadb(data, length, 0, NULL);
	free(data);
	json_int_t seq = json_integer_value(json_object_get(all, "seq"));
	if (!all)
		log_warning("journal: %s: damaged: what is behind it is looked at", path);
	json_array_foreach(json_object_get(all, "things"), i, row) entry_take(j, row);
	json_decref(all);
	return seq > 0 ? (uint64_t)seq : 0;
}

/* --- records behind it ---------------------------------------------------------------------------- */

static void replay(struct journal *j, const json_t *row)
{
	const char *id = json_string_value(json_object_get(row, "id"));
	const char *part = json_string_value(json_object_get(row, "part"));
	int message = id ? event_message_of(id) : -1;
	json_int_t number = json_integer_value(json_object_get(row, "incident"));
	uint64_t seconds = (uint64_t)json_integer_value(json_object_get(row, "time")) / 1000000;

	if (message < 0 || !part || number <= 0 || !journal_aspect(message))
		return;
	struct incident_entry e = {
		.thing = {json_string_value(json_object_get(row, "kind")),
			json_string_value(json_object_get(row, "owner")),
			json_string_value(json_object_get(row, "object")), journal_aspect(message)},
		.number = (uint64_t)number,
		.opened = seconds,
		.root = !strcmp(part, "open"),
	};
	/* One message tells of both: a server that its operator forces down is his matter. */
	if (!strcmp(part, "close") || event_messages[message].part == EVENT_CLOSES)
		incidents_good(j->incidents, &e.thing, false, seconds);
	else if (!incidents_is_bad(j->incidents, &e.thing))
		incidents_restore(j->incidents, &e);
}

int journal_incidents_load(struct journal *j, const char *folder)
{
	struct journal_filter filter = {.level = -1};
	char *buf = malloc(JOURNAL_SLICE), *line, *end;
	size_t left = REPLAY_BYTES;
	ssize_t n;

	if (!buf)
		return -ENOMEM;
	filter.after = file_load(j, folder);
	struct journal_place at = journal_store_seek(j->store, filter.after + 1);
	while (left && (n = journal_store_read(j->store, &at, false, buf))) {
		left -= n > 0 && (size_t)n < left ? (size_t)n : left;
		for (line = buf; n > 0 && (end = memchr(line, '\n', (size_t)(buf + n - line)));
			line = end + 1) {
			uint64_t seq;
			json_t *row = memmem(line, (size_t)(end - line), "\"incident\"", 10)
					      ? journal_filter_take(
							&filter, line, (size_t)(end - line), &seq)
					      : NULL;
			if (row)
				replay(j, row);
			json_decref(row);
		}
	}
	free(buf);
	return 0;
}
