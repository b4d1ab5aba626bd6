/* SPDX-License-Identifier: BSD-3-Clause */
#include "alert/alert_text.h"

#include <inttypes.h>
#include <string.h>

#include "event/event_message.h"
#include "ipc/ipc.h"

#define US_IN_S 1000000
#define RUNBOOK "docs/runbook.md#"

/* The record that tells most: what opened it, or of one of which only the end is kept, that. */
static const json_t *record_of(const struct incident *i)
{
	return i->open ? i->open : i->close;
}

const char *alert_duration(uint64_t s, char out[static 32])
{
	if (s < 60)
		snprintf(out, 32, "%u s", (unsigned)s);
	else if (s < 3600)
		snprintf(out, 32, "%u min %u s", (unsigned)(s / 60), (unsigned)(s % 60));
	else if (s < 86400)
		snprintf(out, 32, "%u h %u min", (unsigned)(s / 3600), (unsigned)(s % 3600 / 60));
	else
		snprintf(out, 32, "%" PRIu64 " d %u h", s / 86400, (unsigned)(s % 86400 / 3600));
	return out;
}

static const char *kind_name(const struct digest_message *m)
{
	static const char *const names[] = {"none", "opened", "closed", "reminder", "summary"};

	return names[m->kind];
}

/* A kind's name as people say it: without its module, one of many. */
static const char *kind_word(const json_t *record)
{
	const char *kind = ipc_string(record, "kind");

	if (!strcmp(kind, "ltm pool members"))
		return "pool member";
	return strncmp(kind, "ltm ", 4) ? kind : kind + 4;
}

/* "pool member /Common/10.0.0.1:80 of /Common/web"; without an object: what the record says. */
static void subject_object(const struct incident *i, char *out, size_t size)
{
	const json_t *r = record_of(i);
	const char *kind = kind_word(r), *object = ipc_string(r, "object");
	const char *owner = ipc_string(r, "owner"), *text = ipc_string(r, "text");

	if (!r)
		snprintf(out, size, "incident %" PRIu64, i->number);
	else if (!*object)
		snprintf(out, size, "%s", *text ? text : ipc_string(r, "cause"));
	else
		snprintf(out, size, "%s%s%s%s%s", kind, *kind ? " " : "", object,
			*owner ? " of " : "", owner);
}

/* The incident that a message is named after: the worst, the first of these that still is open. */
static const struct incident *worst(const struct digest *d)
{
	const struct incident *i, *found = NULL;

	for (uint64_t n = 0; (i = digest_sent(d, n)); n = i->number)
		if (!found || (found->sent_closed && !i->sent_closed) ||
			(found->sent_closed == i->sent_closed && i->level < found->level))
			found = i;
	return found;
}

static const char *word(const struct digest_message *m)
{
	if (m->kind == DIGEST_CLOSED)
		return "UP";
	if (m->kind == DIGEST_REMINDER)
		return "STILL DOWN";
	if (m->kind == DIGEST_SUMMARY)
		return "QUIET HOURS";
	return m->closed == m->count ? "WAS DOWN" : "DOWN";
}

void alert_subject(const struct digest *d, const struct digest_message *m, char *out, size_t size)
{
	const struct incident *i = worst(d);
	char object[size];
	int at;

	if (!i) {
		snprintf(out, size, "messages are missing");
		return;
	}
	subject_object(i, object, sizeof(object));
	at = snprintf(out, size, "%s: %.*s", word(m), (int)size - 40, object);
	if (m->count > 1 && at > 0 && (size_t)at < size)
		snprintf(out + at, size - (size_t)at, " (+%u)", m->count - 1);
	incident_clean(out); /* the cut may have gone through a character */
}

static void line_time(FILE *out, const char *name, const json_t *record)
{
	json_int_t us = json_integer_value(json_object_get(record, "time"));
	time_t s = (time_t)(us / US_IN_S);
	struct tm local;
	char text[64];

	if (us > 0 && localtime_r(&s, &local) && strftime(text, sizeof(text), "%F %T %z", &local))
		fprintf(out, "  %s: %s\n", name, text);
}

static void line_text(FILE *out, const char *name, const char *text)
{
	if (*text)
		fprintf(out, "  %s: %s\n", name, text);
}

static void line_actor(FILE *out, const json_t *actor)
{
	const char *class = ipc_string(actor, "class"), *name = ipc_string(actor, "name");
	const char *address = ipc_string(actor, "address");

	if (*class || *name)
		fprintf(out, "  By: %s%s%s%s%s\n", class, *class && *name ? " " : "", name,
			*address ? " from " : "", address);
}

/* How much of a server's pool was left then. */
static void line_serving(FILE *out, const struct incident *i, const json_t *record)
{
	json_int_t of = json_integer_value(json_object_get(record, "of"));
	json_int_t serving = json_integer_value(json_object_get(record, "serving"));

	if (of > 0)
		fprintf(out,
			"  Pool: %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT
			" members %sserve\n",
			serving, of, i->sent_closed ? "" : "still ");
}

/* What joined the incident: the pool, the virtual server. */
static void lines_also(FILE *out, const struct incident *i)
{
	const json_t *r;
	size_t index;

	json_array_foreach(i->also, index, r)
	{
		const char *object = ipc_string(r, "object"), *text = ipc_string(r, "text");
		const char *cause = ipc_string(r, "cause");

		fprintf(out, "  Also: %s%s%s\n", *text ? text : object, *cause ? ": " : "", cause);
	}
	if (i->also_count > json_array_size(i->also))
		fprintf(out, "  and %zu records more\n", i->also_count - json_array_size(i->also));
}

static void incident_write(FILE *out, const struct incident *i)
{
	const json_t *r = record_of(i), *flows = json_object_get(r, "flows");
	char object[512], lasted[32];

	subject_object(i, object, sizeof(object));
	fprintf(out, "%s %s\n", i->sent_closed ? "[closed]" : "[open]", object);
	line_text(out, "What", ipc_string(r, "text"));
	if (i->open)
		line_time(out, "Since", i->open);
	if (i->sent_closed) {
		line_time(out, "Until", i->close);
		line_text(out, "Duration", alert_duration(i->duration, lasted));
	}
	line_text(out, "Cause", ipc_string(r, "cause"));
	line_actor(out, json_object_get(r, "actor"));
	if (i->sent_closed && i->close != r)
		line_text(out, "End", ipc_string(i->close, "cause"));
	if (flows)
		fprintf(out, "  Connections: %" JSON_INTEGER_FORMAT "\n",
			json_integer_value(flows));
	line_serving(out, i, i->sent_closed && i->close ? i->close : r);
	lines_also(out, i);
	line_text(out, "Level", event_level_name(i->level));
	if (*ipc_string(r, "id"))
		fprintf(out, "  What to do: " RUNBOOK "%s\n", ipc_string(r, "id"));
	fprintf(out, "  Incident: %" PRIu64 "\n\n", i->number);
}

static void numbers_write(FILE *out, const struct digest_message *m)
{
	if (m->beyond)
		fprintf(out, "%" PRIu64 " incidents more were too many to be kept.\n", m->beyond);
	if (m->gone)
		fprintf(out,
			"%" PRIu64
			" records were deleted from the journal before they could be told; "
			"incidents that were open then may have ended.\n",
			m->gone);
	if (m->refused)
		fprintf(out, "%" PRIu64 " messages before this one were refused.\n", m->refused);
}

void alert_body(FILE *out, const char *host, const struct digest *d, const struct digest_message *m)
{
	const struct incident *i;
	unsigned lines = 0;

	fprintf(out, "%s: %u incident%s, %u of them open.\n\n", host, m->count,
		m->count == 1 ? "" : "s", m->count - m->closed);
	for (uint64_t n = 0; lines < ALERT_LINES_MAX && (i = digest_sent(d, n)); n = i->number) {
		incident_write(out, i);
		lines++;
	}
	if (m->count > lines)
		fprintf(out, "and %u more\n", m->count - lines);
	numbers_write(out, m);
}

static json_t *incident_json(const struct incident *i)
{
	json_t *o = json_pack("{sI ss sb sO* sO* sI}", "incident", (json_int_t)i->number, "level",
		event_level_name(i->level), "closed", i->sent_closed, "open", i->open, "also",
		i->also, "also-count", (json_int_t)i->also_count);

	if (o && i->sent_closed) {
		json_object_set_new(o, "duration", json_integer(i->duration));
		if (i->close)
			json_object_set(o, "close", i->close);
	}
	return o;
}

json_t *alert_json(const char *host, const struct digest *d, const struct digest_message *m)
{
	json_t *list = json_array();
	const struct incident *i;
	char subject[256];

	for (uint64_t n = 0; json_array_size(list) < ALERT_LINES_MAX && (i = digest_sent(d, n));
		n = i->number)
		if (json_array_append_new(list, incident_json(i)))
			break;
	alert_subject(d, m, subject, sizeof(subject));
	return json_pack("{ss ss sI sI sI sI sI sI ss so}", "host", host, "kind", kind_name(m),
		"message", (json_int_t)m->number, "count", (json_int_t)m->count, "closed",
		(json_int_t)m->closed, "gone", (json_int_t)m->gone, "refused",
		(json_int_t)m->refused, "beyond", (json_int_t)m->beyond, "subject", subject,
		"incidents", list);
}
