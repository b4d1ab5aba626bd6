/* SPDX-License-Identifier: BSD-3-Clause */
#include "notify/alert_environment.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "alert/incident.h"

enum { ARGS_MAX = 100, VALUE_MAX = 1024 };

static void add(struct alert_environment *e, const char *text, size_t length)
{
	if (e->length + length + 1 > sizeof(e->bytes)) {
		e->full = true;
		return;
	}
	memcpy(e->bytes + e->length, text, length);
	e->length += length;
	e->bytes[e->length++] = 0;
}

/* Members that are missing give no variable. */
static void variable(struct alert_environment *e, const char *name, const json_t *value)
{
	char text[VALUE_MAX];
	int length;

	if (json_is_string(value))
		length = snprintf(
			text, sizeof(text), "WEIR_EVENT_%s=%s", name, json_string_value(value));
	else if (json_is_integer(value))
		length = snprintf(text, sizeof(text), "WEIR_EVENT_%s=%" JSON_INTEGER_FORMAT, name,
			json_integer_value(value));
	else
		return;
	if ((size_t)length >= sizeof(text))
		text[sizeof(text) - 1] = 0;
	incident_clean(text);
	add(e, text, strlen(text));
	e->envc++;
}

struct names {
	const char *variable, *member;
};

static void variables(struct alert_environment *e, const json_t *from, const struct names *names)
{
	for (; names->variable; names++)
		variable(e, names->variable, json_object_get(from, names->member));
}

static void arguments(struct alert_environment *e, const char *name, const char *args)
{
	add(e, name, strlen(name));
	e->argc = 1;
	while (*(args += strspn(args, " \t")) && e->argc < ARGS_MAX) {
		size_t length = strcspn(args, " \t");

		add(e, args, length);
		args += length;
		e->argc++;
	}
}

void alert_environment_make(
	struct alert_environment *e, const char *name, const char *args, const json_t *event)
{
	static const char path[] =
		"PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";
	static const struct names of_event[] = {{"HOST", "host"}, {"KIND", "kind"},
		{"MESSAGE", "message"}, {"COUNT", "count"}, {"CLOSED", "closed"},
		{"SUBJECT", "subject"}, {0}};
	static const struct names of_incident[] = {
		{"INCIDENT", "incident"}, {"LEVEL", "level"}, {"DURATION", "duration"}, {0}};
	static const struct names of_record[] = {{"ID", "id"}, {"MODULE", "module"},
		{"TYPE", "type"}, {"OBJECT_KIND", "kind"}, {"OBJECT", "object"}, {"OWNER", "owner"},
		{"OLD", "old"}, {"NEW", "new"}, {"CAUSE", "cause"}, {"FLOWS", "flows"},
		{"SERVING", "serving"}, {"OF", "of"}, {"TIME", "time"}, {"TEXT", "text"}, {0}};
	static const struct names of_actor[] = {
		{"ACTOR_CLASS", "class"}, {"ACTOR", "name"}, {"ACTOR_ADDRESS", "address"}, {0}};
	const json_t *incident = json_array_get(json_object_get(event, "incidents"), 0);
	const json_t *record = json_object_get(incident, "open");

	if (!record)
		record = json_object_get(incident, "close");
	e->length = e->argc = e->envc = 0;
	e->full = false;
	arguments(e, name, args);
	add(e, path, sizeof(path) - 1);
	e->envc = 1;
	variables(e, event, of_event);
	variables(e, incident, of_incident);
	variables(e, record, of_record);
	variables(e, json_object_get(record, "actor"), of_actor);
}
