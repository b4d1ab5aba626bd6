/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "event/event_message.h"
#include "ipc/ipc.h"
#include "notify/alert.h"

enum { DIGEST_S = 5, TIMEOUT_S = 30, EVERY_DAY = 0x7f };

static unsigned number(const json_t *settings, const char *member, unsigned otherwise)
{
	const json_t *value = json_object_get(settings, member);

	return json_is_integer(value) && json_integer_value(value) >= 0
		       ? (unsigned)json_integer_value(value)
		       : otherwise;
}

static int level(const json_t *settings, const char *member, int otherwise)
{
	int is = event_level_of(ipc_string(settings, member));

	return is < 0 ? otherwise : is;
}

static unsigned modules(const json_t *list)
{
	const json_t *value;
	unsigned bits = 0;
	size_t index;

	json_array_foreach(list, index, value)
	{
		const char *name = json_string_value(value);

		if (name && !strcmp(name, "all"))
			return DIGEST_ALL;
		bits |= digest_module(name);
	}
	return json_array_size(list) ? bits : DIGEST_ALL;
}

static int days(const json_t *list, unsigned *bits)
{
	const json_t *value;
	size_t index;

	*bits = json_array_size(list) ? 0 : EVERY_DAY;
	json_array_foreach(list, index, value)
	{
		int day = json_is_string(value) ? quiet_day(json_string_value(value)) : -EINVAL;

		if (day < 0)
			return day;
		*bits |= 1u << day;
	}
	return 0;
}

static int quiet_hours(struct quiet *q, const json_t *settings)
{
	const char *from = ipc_string(settings, "quiet-from"),
		   *to = ipc_string(settings, "quiet-to");

	*q = (struct quiet){0};
	if (!*from && !*to)
		return 0;
	int begin = quiet_minute(from), end = quiet_minute(to);
	if (begin < 0 || end < 0)
		return -EINVAL;
	q->from = (unsigned)begin;
	q->to = (unsigned)end;
	return days(json_object_get(settings, "quiet-days"), &q->days);
}

int alert_settings(struct alert *a, const json_t *settings, const char **reason)
{
	a->digest.settings =
		(struct digest_settings){.digest_s = number(settings, "digest", DIGEST_S),
			.remind_min = number(settings, "remind", 0),
			.level = (uint8_t)level(settings, "level", EVENT_DEBUG),
			.quiet_level = (uint8_t)level(settings, "quiet-level", 1),
			.modules = (uint8_t)modules(json_object_get(settings, "modules")),
			.no_ends = !strcmp(ipc_string(settings, "recovery"), "disabled")};
	a->tries_max = number(settings, "tries", 0);
	a->timeout_s = number(settings, "timeout", TIMEOUT_S);
	if (quiet_hours(&a->quiet, settings) == 0)
		return 0;
	*reason = "quiet-from, quiet-to: HH:MM, quiet-days: names of days";
	return -EINVAL;
}
