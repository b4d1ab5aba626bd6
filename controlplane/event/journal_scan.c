/* SPDX-License-Identifier: BSD-3-Clause */
#include "event/journal_scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- filters -------------------------------------------------------------------------------------- */

/* To parse JSON is most of the work: a line that has not the text at all is not parsed. */
static bool may_have(const char *line, size_t length, const char *text)
{
	if (!text || strpbrk(text, "\"\\"))
		return true;
	return memmem(line, length, text, strlen(text));
}

static bool is_text(const json_t *row, const char *key, const char *wanted)
{
	const char *value = json_string_value(json_object_get(row, key));

	return !wanted || (value && !strcmp(value, wanted));
}

static uint64_t number_of(const json_t *row, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(row, key));

	return value > 0 ? (uint64_t)value : 0;
}

static bool is_audit(const json_t *row, const json_t *actor)
{
	const char *type = json_string_value(json_object_get(row, "type"));
	const char *class = json_string_value(json_object_get(actor, "class"));

	if (!type || !class)
		return false;
	if (!strcmp(type, "config") || !strcmp(type, "login"))
		return true;
	return (!strcmp(type, "hold") || !strcmp(type, "ratio")) &&
	       (!strcmp(class, "operator") || !strcmp(class, "agent"));
}

static bool is_wanted(const struct journal_filter *f, const json_t *row)
{
	const json_t *actor = json_object_get(row, "actor");
	const char *level = json_string_value(json_object_get(row, "level"));
	uint64_t time = number_of(row, "time");

	if (time < f->from || (f->until && time > f->until))
		return false;
	if (f->level >= 0 && (!level || event_level_of(level) > f->level))
		return false;
	if (f->incident && number_of(row, "incident") != f->incident)
		return false;
	if (f->audit && !is_audit(row, actor))
		return false;
	return (is_text(row, "object", f->object) || is_text(row, "owner", f->object)) &&
	       is_text(actor, "name", f->actor) && is_text(actor, "address", f->address) &&
	       is_text(row, "type", f->type) && is_text(row, "module", f->module) &&
	       is_text(row, "id", f->id);
}

json_t *journal_filter_take(
	const struct journal_filter *f, const char *line, size_t length, uint64_t *seq)
{
	*seq = event_line_seq(line, length);
	if (!*seq || *seq <= f->after || (f->before && *seq >= f->before))
		return NULL;
	if (!may_have(line, length, f->object) || !may_have(line, length, f->actor) ||
		!may_have(line, length, f->address) || !may_have(line, length, f->type) ||
		!may_have(line, length, f->module) || !may_have(line, length, f->id))
		return NULL;
	json_t *row = json_loadb(line, length, 0, NULL);
	if (!json_is_object(row) || !is_wanted(f, row)) {
		json_decref(row);
		return NULL;
	}
	return row;
}

/* --- is it whole ---------------------------------------------------------------------------------- */

void journal_verify_begin(const struct journal_store *s, struct journal_verify *v)
{
	*v = (struct journal_verify){.at = journal_store_begin(s),
		.first = journal_store_first(s),
		.newest = journal_store_newest(s)};
	v->next = v->first;
	journal_store_hash(s, v->newest_hash);
}

static void fault(struct journal_verify *v, uint64_t seq, const char *reason)
{
	v->fault = seq ? seq : 1;
	snprintf(v->reason, sizeof(v->reason), "%s", reason);
}

static void line_verify(struct journal_verify *v, const char *line, size_t length)
{
	struct event_line is;

	if (!event_line_parse(line, length, &is))
		fault(v, v->next, "is no record");
	else if (is.seq > v->next)
		fault(v, v->next, "is missing");
	else if (is.seq < v->next)
		fault(v, is.seq, "stands in the wrong place");
	else if (v->known && is.previous[0] && strcmp(is.previous, v->hash))
		fault(v, is.seq, "does not follow the record before it");
	else if (!v->known && !is.previous[0])
		fault(v, is.seq, "does not name the record before it");
	else if (!event_line_holds(line, &is, v->known ? v->hash : is.previous))
		fault(v, is.seq, "was changed, or does not follow the record before it");
	if (v->fault)
		return;
	memcpy(v->hash, is.hash, sizeof(v->hash));
	v->known = true;
	v->records++;
	v->next++;
}

static void end_verify(struct journal_verify *v)
{
	if (v->next <= v->newest)
		fault(v, v->next, "is missing");
	else if (v->records && strcmp(v->hash, v->newest_hash))
		fault(v, v->newest, "is another than was written");
}

static void skip_deleted(const struct journal_store *s, struct journal_verify *v)
{
	uint64_t oldest = journal_store_first(s);

	if (oldest <= v->next || v->fault)
		return;
	v->at = journal_store_begin(s);
	v->next = v->first = oldest;
	v->known = false;
}

bool journal_verify_step(
	const struct journal_store *s, struct journal_verify *v, char buf[JOURNAL_SLICE])
{
	skip_deleted(s, v);
	if (v->next > v->newest) {
		end_verify(v);
		return false;
	}
	ssize_t n = journal_store_read(s, &v->at, false, buf);
	const char *line = buf, *end;

	if (n < 0)
		fault(v, v->next, "cannot be read");
	else if (n == 0)
		end_verify(v);
	while (n > 0 && !v->fault && v->next <= v->newest &&
		(end = memchr(line, '\n', (size_t)(buf + n - line)))) {
		line_verify(v, line, (size_t)(end - line));
		line = end + 1;
	}
	if (n > 0 && line == buf && !v->fault)
		fault(v, v->next, "is no record");
	return n > 0 && !v->fault;
}
