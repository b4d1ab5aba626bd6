/* SPDX-License-Identifier: BSD-3-Clause */
#include "health/health_agent.h"

#include <stdio.h>
#include <string.h>

#define SAYS "agent says "

static const char *const admin_words[] = {"drain", "maint", NULL};
static const char *const state_words[] = {"down", "stopped", "failed", NULL};

/* What the agent holds: words of the lists above, or "". */
struct said {
	const char *admin, *state;
};

static const char *word_of(const char *const *words, const char *text)
{
	for (; *words; words++)
		if (!strcmp(*words, text))
			return *words;
	return "";
}

/* The word that the text begins with, if it is one of the list. */
static const char *word_first(const char *const *words, const char *text)
{
	for (; *words; words++) {
		size_t n = strlen(*words);

		if (!strncmp(text, *words, n) && strchr(" :", text[n]))
			return *words;
	}
	return "";
}

bool health_agent_holds(const char *reason)
{
	return !strncmp(reason, SAYS, strlen(SAYS));
}

/* An operator may have cleared a part of what the reason says: the bits count. */
static struct said said_before(unsigned bits, const char *reason)
{
	struct said s = {"", ""};

	if (health_agent_holds(reason)) {
		const char *at = reason + strlen(SAYS);

		s.admin = word_first(admin_words, at);
		at += strlen(s.admin);
		if (*s.admin && !strncmp(at, " and ", 5))
			at += 5;
		s.state = word_first(state_words, at);
	}
	if (!(bits & HOLD_SESSION))
		s.admin = "";
	else if (!(bits & HOLD_STATE) || !*s.admin)
		s.admin = "drain";
	if (!(bits & HOLD_STATE))
		s.state = "";
	else if (!*s.state && strcmp(s.admin, "maint") != 0)
		s.state = "down";
	return s;
}

static unsigned bits_of(const struct said *s)
{
	unsigned bits = 0;

	if (*s->admin)
		bits |= HOLD_SESSION;
	if (*s->state || !strcmp(s->admin, "maint"))
		bits |= HOLD_STATE;
	return bits;
}

static void printable(char *out, const char *text, size_t size)
{
	size_t i;

	for (i = 0; text[i] && i + 1 < size; i++)
		out[i] = text[i] >= ' ' && text[i] < 0x7f ? text[i] : '?';
	out[i] = 0;
}

bool health_agent_hold(unsigned bits, const char *reason, const struct health_agent *line,
	struct health_agent_hold *out)
{
	struct said s = said_before(bits, reason);
	char why[256];

	if (!*line->admin && !*line->state)
		return false;
	if (*line->admin)
		s.admin = word_of(admin_words, line->admin);
	if (*line->state)
		s.state = word_of(state_words, line->state);
	printable(why, line->description, sizeof(why));
	out->bits = bits_of(&s);
	out->reason[0] = 0;
	if (out->bits)
		snprintf(out->reason, sizeof(out->reason), SAYS "%s%s%s%s%s", s.admin,
			*s.admin && *s.state ? " and " : "", s.state, *why ? ": " : "", why);
	return out->bits != bits || strcmp(out->reason, reason) != 0;
}

void health_agent_merge(struct health_agent *into, const struct health_agent *line)
{
	if (line->weight >= 0)
		into->weight = line->weight;
	if (line->maxconn >= 0)
		into->maxconn = line->maxconn;
	if (*line->admin)
		into->admin = line->admin;
	if (*line->state)
		into->state = line->state;
	into->description = line->description;
}

void health_agent_text(const struct health_agent *line, char *out, size_t size)
{
	char words[160] = "", why[256];

	if (line->weight >= 0)
		snprintf(words, sizeof(words), " %d%%", line->weight);
	if (line->maxconn >= 0)
		snprintf(words + strlen(words), sizeof(words) - strlen(words), " maxconn:%lld",
			(long long)line->maxconn);
	printable(why, line->description, sizeof(why));
	snprintf(out, size, "%s%s%s%s%s%s", line->admin, *line->admin && *line->state ? " " : "",
		line->state, *line->admin || *line->state ? words : words + (*words == ' '),
		*why ? " #" : "", why);
}
