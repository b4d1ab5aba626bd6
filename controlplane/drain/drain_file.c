/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file "drains" of the store: one line of JSON per operation whenever something of it changes; a later
 * line of the same id counts. A line is handed to the kernel at once, so operations survive the process as
 * changes of live fields do. The file is written anew when it has many old lines.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "drain/drain_internal.h"
#include "ipc/ipc.h"
#include "store/atomic_file.h"

#define DAMAGED_TOLD 10u  /* lines that are named */
#define LINES_SPARE 2048u /* old lines that may stay */

static json_t *text_json(const char *text)
{
	return ipc_text_new(text, strlen(text));
}

/* One line, to be freed. NULL: no memory. */
static char *line_of(const struct operation *o)
{
	const struct drain *d = &o->d;
	json_t *row = json_pack("{s:I,s:I,s:b,s:b,s:b,s:b,s:i,s:i,s:I,s:I}", "id",
		(json_int_t)d->id, "object", (json_int_t)d->object, "node", d->node, "running",
		d->running, "force-offline", d->force_offline, "cap-reset", d->cap_reset, "class",
		d->class, "state", d->state, "timeout", (json_int_t)d->timeout, "stuck-time",
		(json_int_t)d->stuck_time);
	const struct {
		const char *key;
		uint64_t value;
	} numbers[] = {{"started", d->started}, {"ended", d->ended}, {"took", d->took_ms},
		{"capped", d->capped}, {"stuck", d->stuck}, {"reopened", d->reopened},
		{"instance", o->instance}, {"first", (uint64_t)d->first}};
	const struct {
		const char *key, *value;
	} texts[] = {{"pool", d->pool}, {"name", d->name}, {"author", d->author},
		{"ended-by", d->ended_by}, {"reason", d->reason}, {"said", d->said}};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		json_object_set_new(
			row, numbers[i].key, json_integer((json_int_t)numbers[i].value));
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		json_object_set_new(row, texts[i].key, text_json(texts[i].value));
	char *line = json_dumps(row, JSON_COMPACT);
	json_decref(row);
	return line;
}

/* --- writing -------------------------------------------------------------------------------------- */

static void complain(const struct drains *s, int rc)
{
	log_error("drains: %s: cannot be written: %s", s->path, strerror(-rc));
}

/* The whole file anew. */
static int fold(struct drains *s)
{
	struct text text = {0};
	int rc = 0;

	for (unsigned i = 0; i < s->count && rc == 0; i++) {
		char *line = line_of(s->op[i]);

		if (line)
			text_printf(&text, "%s\n", line);
		else
			rc = -ENOMEM;
		free(line);
	}
	if (rc == 0)
		rc = text.failed ? -ENOMEM : file_replace(s->path, text.data, text.len, 0600);
	text_fini(&text);
	if (rc)
		return rc;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = open(s->path, O_WRONLY | O_APPEND | O_CLOEXEC);
	s->lines = s->count;
	return s->fd >= 0 ? 0 : -errno;
}

/* A line that was cut off (the disk was full) would spoil the next: the file is made anew then. */
static void line_write(struct drains *s, const char *line)
{
	char *whole = NULL;
	int rc = line && asprintf(&whole, "%s\n", line) > 0 ? 0 : -ENOMEM;

	if (s->fd < 0 || s->lines > 4 * s->count + LINES_SPARE)
		rc = fold(s);
	else if (rc == 0)
		rc = file_write_all(s->fd, whole, strlen(whole));
	s->lines++;
	free(whole);
	if (rc == 0)
		return;
	complain(s, rc);
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

void drains_write(struct drains *s, const struct operation *o)
{
	char *line = line_of(o);

	line_write(s, line);
	free(line);
}

void drains_write_gone(struct drains *s, uint32_t id)
{
	char line[40];

	snprintf(line, sizeof(line), "{\"id\":%" PRIu32 ",\"gone\":true}", id);
	line_write(s, line);
}

/* --- reading -------------------------------------------------------------------------------------- */

static uint64_t number(const json_t *row, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(row, key));
}

static void text_take(const json_t *row, const char *key, char *out, size_t size)
{
	char *text = ipc_text_get(json_object_get(row, key), NULL);

	snprintf(out, size, "%s", text ? text : "");
	free(text);
}

static void operation_take(struct operation *o, const json_t *row)
{
	struct drain *d = &o->d;

	*o = (struct operation){.instance = number(row, "instance")};
	*d = (struct drain){
		.id = (uint32_t)number(row, "id"),
		.object = (uint32_t)number(row, "object"),
		.node = json_is_true(json_object_get(row, "node")),
		.running = json_is_true(json_object_get(row, "running")),
		.force_offline = json_is_true(json_object_get(row, "force-offline")),
		.cap_reset = json_is_true(json_object_get(row, "cap-reset")),
		.class = (uint8_t)number(row, "class"),
		.state = (uint8_t)number(row, "state"),
		.timeout = (uint32_t)number(row, "timeout"),
		.stuck_time = (uint32_t)number(row, "stuck-time"),
		.started = number(row, "started"),
		.ended = number(row, "ended"),
		.took_ms = number(row, "took"),
		.capped = (uint32_t)number(row, "capped"),
		.stuck = (uint32_t)number(row, "stuck"),
		.reopened = (uint32_t)number(row, "reopened"),
		.first = (int64_t)number(row, "first"),
		.connections = -1,
	};
	text_take(row, "pool", d->pool, sizeof(d->pool));
	text_take(row, "name", d->name, sizeof(d->name));
	text_take(row, "author", d->author, sizeof(d->author));
	text_take(row, "ended-by", d->ended_by, sizeof(d->ended_by));
	text_take(row, "reason", d->reason, sizeof(d->reason));
	text_take(row, "said", d->said, sizeof(d->said));
}

/* False: this is no line of ours. */
static bool line_take(struct drains *s, const char *line, size_t length)
{
	json_t *row = json_loadb(line, length, 0, NULL);
	uint64_t id = number(row, "id");
	struct operation *o = id <= UINT32_MAX ? drains_operation(s, (uint32_t)id) : NULL;
	bool right = id && id <= UINT32_MAX && number(row, "class") < HOLD_CLASSES &&
		     number(row, "state") <= DRAIN_CANCELLED && (o || id > s->last_id);

	if (right && json_is_true(json_object_get(row, "gone"))) {
		if (o)
			drains_remove(s, (uint32_t)id);
	} else if (right && (o || (o = drains_insert(s)))) {
		operation_take(o, row);
	}
	if (right && id > s->last_id)
		s->last_id = (uint32_t)id;
	json_decref(row);
	return right;
}

/* What was under way goes on: its time has been running meanwhile. */
static void take_up(struct drains *s)
{
	uint64_t now = clock_ns(), wall = drain_wall_ms();

	for (unsigned i = 0; i < s->count; i++) {
		struct operation *o = s->op[i];
		uint64_t gone = wall > o->d.started ? wall - o->d.started : 0;

		if (!o->d.running)
			continue;
		o->begun_ns = now > gone * 1000000u ? now - gone * 1000000u : 0;
		o->want = ++s->wanted;
		if (o->d.state == DRAIN_STARTING)
			o->d.state = DRAIN_DRAINING;
		o->told = o->d.state;
		s->running++;
	}
}

void drains_load(struct drains *s)
{
	unsigned damaged = 0;
	char *data;
	size_t length, at = 0;
	int rc = file_read(s->path, &data, &length);

	if (rc) {
		if (rc != -ENOENT)
			log_error("drains: %s: cannot be read: %s", s->path, strerror(-rc));
		return;
	}
	while (at < length) {
		const char *end = memchr(data + at, '\n', length - at);
		size_t n = end ? (size_t)(end - data) - at : length - at;

		if ((!end || !line_take(s, data + at, n)) && damaged++ < DAMAGED_TOLD)
			log_warning("drains: %s: line %u: left out: it is damaged", s->path,
				s->lines + 1);
		s->lines++;
		at += n + 1;
	}
	free(data);
	if (damaged > DAMAGED_TOLD)
		log_warning("drains: %s: %u lines are damaged", s->path, damaged);
	take_up(s);
	rc = fold(s);
	if (rc)
		complain(s, rc);
}
