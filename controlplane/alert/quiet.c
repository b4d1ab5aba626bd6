/* SPDX-License-Identifier: BSD-3-Clause */
#include "alert/quiet.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

int quiet_minute(const char *text)
{
	unsigned hour, minute;

	if (strlen(text) != 5 || text[2] != ':' || !isdigit((unsigned char)text[0]) ||
		!isdigit((unsigned char)text[1]) || !isdigit((unsigned char)text[3]) ||
		!isdigit((unsigned char)text[4]))
		return -EINVAL;
	hour = (unsigned)(text[0] - '0') * 10 + (unsigned)(text[1] - '0');
	minute = (unsigned)(text[3] - '0') * 10 + (unsigned)(text[4] - '0');
	return hour < 24 && minute < 60 ? (int)(hour * 60 + minute) : -EINVAL;
}

int quiet_day(const char *name)
{
	static const char *const days[] = {
		"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"};

	for (int i = 0; i < 7; i++)
		if (!strcasecmp(name, days[i]) ||
			(strlen(name) == 3 && !strncasecmp(name, days[i], 3)))
			return i;
	return -EINVAL;
}

bool quiet_at(const struct quiet *q, const struct tm *local)
{
	unsigned minute = (unsigned)(local->tm_hour * 60 + local->tm_min);
	unsigned today = 1u << local->tm_wday, yesterday = 1u << (local->tm_wday + 6) % 7;

	if (q->from < q->to)
		return (q->days & today) && minute >= q->from && minute < q->to;
	if (q->from == q->to)
		return false;
	return ((q->days & today) && minute >= q->from) ||
	       ((q->days & yesterday) && minute < q->to);
}
