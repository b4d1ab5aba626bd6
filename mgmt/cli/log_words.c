/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/log_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct log_word log_words[] = {
	{"lines", "limit", LOG_NUMBER, "so many at most, 1 to 10000 (default 100)"},
	{"object", "object", LOG_NAME, "about this object or what belongs to it"},
	{"actor", "actor", LOG_TEXT, "done by this user"},
	{"address", "address", LOG_TEXT, "asked for from this address"},
	{"level", "level", LOG_TEXT, "emerg to debug: of this level or worse"},
	{"type", "type", LOG_TEXT, "state, hold, ratio, config, login, limit, drain, system"},
	{"module", "module", LOG_TEXT, "ltm, net, sys, auth, cm"},
	{"message", "message", LOG_TEXT, "with this id, 8 hexadecimal digits"},
	{"incident", "incident", LOG_NUMBER, "of this incident"},
	{"since", "from", LOG_TIME, "not before this time"},
	{"until", "until", LOG_TIME, "not after this time"},
	{"after", "after", LOG_NUMBER, "with a higher number"},
	{"before", "before", LOG_NUMBER, "with a lower number"},
	{0},
};

const struct log_word *log_word_find(const char *name)
{
	for (const struct log_word *w = log_words; w->name; w++)
		if (!strcmp(w->name, name))
			return w;
	return NULL;
}

/* us since 1970 of "90s", "10m", "2h", "3d" ago, or -1. */
static json_int_t ago(const char *text, time_t now)
{
	static const struct {
		char unit;
		json_int_t seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
	size_t digits = strspn(text, "0123456789");

	if (!digits || digits > 9 || (text[digits] && text[digits + 1]))
		return -1;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (text[digits] == units[i].unit)
			return ((json_int_t)now - atoll(text) * units[i].seconds) * 1000000;
	return -1;
}

/* us since 1970, or -1. */
static json_int_t time_of(const char *text, time_t now)
{
	static const char *const forms[] = {"%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S",
		"%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%d"};
	size_t digits = strspn(text, "0123456789");
	json_int_t when = ago(text, now);

	if (when >= 0)
		return when;
	if (digits && digits <= 12 && !text[digits])
		return atoll(text) * 1000000;
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct tm tm = {.tm_isdst = -1};
		const char *end = strptime(text, forms[i], &tm);
		time_t at = end && !*end ? mktime(&tm) : -1;
		if (at >= 0)
			return (json_int_t)at * 1000000;
	}
	return -1;
}

/* "1.1", "mgmt": in no partition */
static bool is_interface(const char *name)
{
	unsigned slot, port;
	char end;

	return !strcmp(name, "mgmt") || sscanf(name, "%2u.%2u%c", &slot, &port, &end) == 2;
}

static json_t *value_of(const struct log_word *w, const char *value, time_t now)
{
	json_int_t when;
	char path[600];

	switch (w->type) {
	case LOG_NUMBER:
		if (!*value || strspn(value, "0123456789") != strlen(value) || strlen(value) > 18)
			return NULL;
		return json_integer(atoll(value));
	case LOG_TIME:
		when = time_of(value, now);
		return when >= 0 ? json_integer(when) : NULL;
	case LOG_NAME:
		snprintf(path, sizeof(path), "%s%s",
			*value == '/' || is_interface(value) ? "" : "/Common/", value);
		return json_string(path);
	default:
		return json_string(value);
	}
}

bool log_word_put(const struct log_word *w, const char *value, time_t now, json_t *request,
	char *reason, size_t size)
{
	json_t *put = value_of(w, value, now);

	if (put)
		return json_object_set_new(request, w->member, put) == 0;
	if (w->type == LOG_TIME)
		snprintf(reason, size,
			"%s: \"%.60s\" is no time: give it like 2026-11-30T06:15:00, or 10m, 2h, "
			"3d for so long ago",
			w->name, value);
	else
		snprintf(reason, size, "%s: \"%.60s\" is no %s", w->name, value,
			w->type == LOG_NUMBER ? "number" : "text");
	return false;
}

json_t *log_request(const struct cli_command *c, time_t now, char *reason, size_t size)
{
	json_t *request = json_pack("{s:s}", "op", "log");

	if (!request)
		snprintf(reason, size, "no memory");
	if (request && (c->flags & CLI_AUDIT))
		json_object_set_new(request, "audit", json_true());
	for (unsigned i = 0; request && i < c->options; i++) {
		const struct log_word *w = log_word_find(c->option[i].name->text);
		if (log_word_put(w, c->option[i].value->text, now, request, reason, size))
			continue;
		json_decref(request);
		return NULL;
	}
	return request;
}

static const char *word_of(const json_t *record, const char *name)
{
	const char *text = json_string_value(json_object_get(record, name));

	return text ? text : "";
}

static int severity(const char *level)
{
	static const char *const levels[] = {
		"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"};

	for (int i = 0; i < 8; i++)
		if (!strcmp(levels[i], level))
			return i;
	return 5;
}

char *log_line(const json_t *record, const char *host)
{
	time_t when = (time_t)(json_integer_value(json_object_get(record, "time")) / 1000000);
	const char *level = word_of(record, "level");
	char date[32] = "", *out = NULL;
	struct tm tm;

	if (localtime_r(&when, &tm))
		strftime(date, sizeof(date), "%b %e %H:%M:%S", &tm);
	if (asprintf(&out, "%s %s %s weir-cp[%lld]: %s:%d: %s", date, host, level,
		    (long long)json_integer_value(json_object_get(record, "seq")),
		    word_of(record, "id"), severity(level), word_of(record, "text")) < 0)
		return NULL;
	return out;
}

void log_host(const char *hostname, char host[256])
{
	char own[256];

	if (!hostname || !*hostname) {
		if (gethostname(own, sizeof(own)))
			strcpy(own, "weir");
		own[sizeof(own) - 1] = '\0';
		hostname = own;
	}
	snprintf(host, 256, "%.*s", (int)strcspn(hostname, "."), hostname);
}
