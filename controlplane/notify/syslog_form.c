/* SPDX-License-Identifier: BSD-3-Clause */
#include "notify/syslog_form.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "event/event_message.h"
#include "ipc/ipc.h"

#define LOCAL0 16
#define APP_NAME "weir-cp"
#define SD_ID "weir@8072.9999.9999" /* the branch that docs/events.md describes */

static int level_of(const json_t *record)
{
	int level = event_level_of(ipc_string(record, "level"));

	return level < 0 ? EVENT_NOTICE : level;
}

/* A header's field: printable ASCII without blanks, "-" if there is nothing. */
static void field_put(FILE *out, const char *text, size_t max)
{
	if (!*text)
		fputc('-', out);
	for (; *text && max--; text++)
		fputc(*text > ' ' && *text < 0x7f ? *text : '_', out);
}

static void time_put(FILE *out, const json_t *record)
{
	int64_t us = json_integer_value(json_object_get(record, "time"));
	time_t second = us / 1000000;
	char date[32], zone[8];
	struct tm tm;

	localtime_r(&second, &tm);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	strftime(zone, sizeof(zone), "%z", &tm);
	fprintf(out, "%s.%06d%.3s:%s", date, (int)(us % 1000000), zone, zone + 3);
}

static void param_put(FILE *out, const char *name, const json_t *value)
{
	const char *text = json_string_value(value);

	if (!json_is_integer(value) && !(text && *text))
		return;
	fprintf(out, " %s=\"", name);
	if (!text)
		fprintf(out, "%lld", (long long)json_integer_value(value));
	for (; text && *text; text++) {
		if (strchr("\"\\]", *text))
			fputc('\\', out);
		fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
	}
	fputc('"', out);
}

static void data_put(FILE *out, const json_t *record)
{
	static const char *const names[] = {"id", "seq", "kind", "object", "owner"},
				 *const behind[] = {
					 "cause", "incident", "part", "duration", "count"};
	const json_t *actor = json_object_get(record, "actor");

	fputs("[" SD_ID, out);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		param_put(out, names[i], json_object_get(record, names[i]));
	param_put(out, "class", json_object_get(actor, "class"));
	param_put(out, "actor", json_object_get(actor, "name"));
	param_put(out, "address", json_object_get(actor, "address"));
	for (size_t i = 0; i < sizeof(behind) / sizeof(*behind); i++)
		param_put(out, behind[i], json_object_get(record, behind[i]));
	fputc(']', out);
}

/* As lines of LTM's log have it: parsers look for it. */
static void message_put(FILE *out, const json_t *record)
{
	fprintf(out, "%s:%d: ", ipc_string(record, "id"), level_of(record));
	for (const char *p = ipc_string(record, "text"); *p; p++)
		fputc((unsigned char)*p < ' ' ? ' ' : *p, out);
}

/* Shorter, so that no character is halved. */
static void cut(char *text, size_t *length, size_t max)
{
	if (*length <= max)
		return;
	while (max > 0 && ((unsigned char)text[max] & 0xc0) == 0x80)
		max--;
	text[max] = 0;
	*length = max;
}

static char *form(const json_t *record, const char *host, bool data, size_t *length)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, length);

	if (!out)
		return NULL;
	int message = event_message_of(ipc_string(record, "id"));
	fprintf(out, "<%d>1 ", LOCAL0 * 8 + level_of(record));
	time_put(out, record);
	fputc(' ', out);
	field_put(out, host, 255);
	fputs(" " APP_NAME " - ", out);
	field_put(out, message < 0 ? ipc_string(record, "id") : event_messages[message].name, 32);
	fputc(' ', out);
	if (data)
		data_put(out, record);
	else
		fputc('-', out);
	fputc(' ', out);
	size_t before = (size_t)ftell(out);
	message_put(out, record);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return before < *length ? text : NULL;
}

char *syslog_form(const json_t *record, const char *host, size_t max, size_t *length)
{
	char *text = form(record, host, true, length);

	/* A message that is cut loses its end, but never half of its structured data. */
	if (text && *length > max) {
		const char *end = strstr(text, "] ");

		if (!end || (size_t)(end - text) + 100 > max) {
			free(text);
			text = form(record, host, false, length);
		}
	}
	if (text)
		cut(text, length, max);
	return text;
}

char *syslog_form_local(const json_t *record, size_t max, size_t *length)
{
	time_t second = json_integer_value(json_object_get(record, "time")) / 1000000;
	char *text = NULL, date[32];
	FILE *out = open_memstream(&text, length);
	struct tm tm;

	if (!out)
		return NULL;
	localtime_r(&second, &tm);
	strftime(date, sizeof(date), "%b %e %H:%M:%S", &tm);
	fprintf(out, "<%d>%s " APP_NAME ": ", LOCAL0 * 8 + level_of(record), date);
	message_put(out, record);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	cut(text, length, max);
	return text;
}
