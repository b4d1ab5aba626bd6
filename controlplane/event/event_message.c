/* SPDX-License-Identifier: BSD-3-Clause */
#include "event/event_message.h"

#include <string.h>

static const char *const levels[EVENT_LEVELS] = {
	"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"};

const char *event_level_name(unsigned level)
{
	return level < EVENT_LEVELS ? levels[level] : "";
}

const char *event_part_name(unsigned part)
{
	static const char *const names[EVENT_PARTS] = {"", "open", "also", "close"};

	return part < EVENT_PARTS ? names[part] : "";
}

int event_level_of(const char *name)
{
	for (int i = 0; i < EVENT_LEVELS; i++)
		if (!strcmp(levels[i], name))
			return i;
	return -1;
}

int event_message_of(const char *id)
{
	for (int i = 0; i < EVENT_MESSAGES; i++)
		if (!strcmp(event_messages[i].id, id))
			return i;
	return -1;
}
