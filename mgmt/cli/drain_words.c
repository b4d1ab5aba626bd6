/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/drain_words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CREATE (1u << CLI_CREATE)
#define DELETE (1u << CLI_DELETE)
#define SHOW (1u << CLI_SHOW)

const struct drain_word drain_words[] = {
	{"node", DRAIN_WORD_NAME, CREATE, {NULL}, "the server, in all its pools"},
	{"pool", DRAIN_WORD_NAME, CREATE, {NULL}, "the pool of the member"},
	{"member", DRAIN_WORD_NAME, CREATE, {NULL}, "one service of a pool, such as 10.0.0.1:80"},
	{"force-offline", DRAIN_WORD_FLAG, CREATE, {NULL}, "persistent clients stay away too"},
	{"timeout", DRAIN_WORD_SECONDS, CREATE, {NULL},
		"cap: it has failed after that many seconds"},
	{"cap-action", DRAIN_WORD_CHOICE, CREATE, {"none", "reset"},
		"reset: what is left then is reset"},
	{"stuck-time", DRAIN_WORD_SECONDS, CREATE, {NULL},
		"connections without a packet for that many seconds are reset"},
	{"reason", DRAIN_WORD_TEXT, CREATE, {NULL}, "text for people"},
	{"class", DRAIN_WORD_CHOICE, CREATE, {"operator", "agent"}, "whose hold it puts"},
	{"wait", DRAIN_WORD_SECONDS, CREATE | SHOW, {NULL},
		"until there are no connections, that many seconds at most"},
	{"enable", DRAIN_WORD_FLAG, DELETE, {NULL}, "takes the hold away too"},
	{NULL, DRAIN_WORD_NAME, 0, {NULL}, NULL},
};

const struct drain_word *drain_word_find(enum cli_verb verb, const char *name)
{
	for (const struct drain_word *w = drain_words; w->name; w++)
		if ((w->verbs >> verb & 1) && !strcmp(w->name, name))
			return w;
	return NULL;
}

static uint32_t read_number(const char *text, uint32_t max)
{
	char *end;

	if (*text < '0' || *text > '9')
		return UINT32_MAX;
	errno = 0;
	unsigned long long n = strtoull(text, &end, 10);
	return errno || *end || n > max ? UINT32_MAX : (uint32_t)n;
}

uint32_t drain_word_id(const char *text)
{
	uint32_t id = read_number(text, UINT32_MAX - 1);
	return id == UINT32_MAX ? 0 : id;
}

int drain_word_check(
	const struct drain_word *w, const char *value, uint32_t *seconds, char *reason, size_t size)
{
	*seconds = 0;
	switch (w->type) {
	case DRAIN_WORD_SECONDS:
		*seconds = read_number(value, DRAIN_WORD_SECONDS_MAX);
		if (*seconds != UINT32_MAX)
			return 0;
		snprintf(reason, size, "%s: \"%.60s\" is not a number of seconds from 0 to %u",
			w->name, value, DRAIN_WORD_SECONDS_MAX);
		return -EINVAL;
	case DRAIN_WORD_CHOICE:
		if (!strcmp(value, w->choice[0]) || !strcmp(value, w->choice[1]))
			return 0;
		snprintf(reason, size, "%s: \"%.60s\" is not %s or %s", w->name, value,
			w->choice[0], w->choice[1]);
		return -EINVAL;
	case DRAIN_WORD_NAME:
		if (*value)
			return 0;
		snprintf(reason, size, "%s: its name is empty", w->name);
		return -EINVAL;
	default:
		return 0;
	}
}
