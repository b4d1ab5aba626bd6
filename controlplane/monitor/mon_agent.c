/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/mon_agent.h"

#include <string.h>
#include <strings.h>

#include "monitor/mon.h"
#include "monitor/mon_text.h"

#define LINE_MAX_BYTES 1024u
#define MAXCONN_MAX 1000000000L

static const char *known(const char *const *words, const char *word, size_t length)
{
	for (; *words; words++)
		if (strlen(*words) == length && !strncasecmp(*words, word, length))
			return *words;
	return NULL;
}

/* All of text[length] as a number of at most max, or -1. */
static long number(const char *text, size_t length, long max)
{
	long value = 0;

	if (!length)
		return -1;
	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -1;
		value = value * 10 + text[i] - '0';
		if (value > max)
			value = max;
	}
	return value;
}

static int word_parse(const char *word, size_t length, struct agent_line *out)
{
	static const char *const admins[] = {"ready", "drain", "maint", NULL};
	static const char *const states[] = {"up", "down", "stopped", "failed", NULL};
	const char *found = known(admins, word, length);
	long value;

	if (found) {
		out->admin = found;
		return 1;
	}
	found = known(states, word, length);
	if (found) {
		out->state = found;
		return 1;
	}
	if (word[length - 1] == '%') {
		value = number(word, length - 1, AGENT_WEIGHT_MAX);
		if (value >= 0)
			out->weight = (int)value;
		return value >= 0;
	}
	if (length > 8 && !strncasecmp(word, "maxconn:", 8)) {
		value = number(word + 8, length - 8, MAXCONN_MAX);
		if (value >= 0)
			out->maxconn = value;
		return value >= 0;
	}
	return 0;
}

int agent_parse(const char *line, size_t length, struct agent_line *out)
{
	const char *note = length ? memchr(line, '#', length) : NULL;
	size_t words = note ? (size_t)(note - line) : length, at = 0;
	int count = 0;

	*out = (struct agent_line){.weight = -1, .maxconn = -1};
	if (note)
		mon_clean(out->description, sizeof(out->description), note + 1, length - words - 1);
	while (at < words) {
		size_t end = at;

		while (end < words && !strchr(" \t,\r", line[end]))
			end++;
		if (end > at)
			count += word_parse(line + at, end - at, out);
		at = end + 1;
	}
	return count;
}

/* --- the monitor type --------------------------------------------------------------------------- */

static enum mon_outcome agent_open(struct mon_probe *p)
{
	const struct mon_monitor *m = p->in->monitor;

	mon_send(p, m->text[MON_F_AGENT_SEND], m->length[MON_F_AGENT_SEND]);
	return MON_MORE;
}

static void agent_tell(struct mon_instance *in, const struct agent_line *line)
{
	json_t *message =
		json_pack("{s:s,s:I,s:I,s:s}", "type", MON_AGENT, "object", (json_int_t)in->object,
			"monitor", (json_int_t)in->monitor->id, "description", line->description);

	if (line->weight >= 0)
		json_object_set_new(message, "weight", json_integer(line->weight));
	if (line->maxconn >= 0)
		json_object_set_new(message, "maxconn", json_integer(line->maxconn));
	if (line->admin)
		json_object_set_new(message, "admin", json_string(line->admin));
	if (line->state)
		json_object_set_new(message, "state", json_string(line->state));
	mon_instance_advise(in, message);
}

static enum mon_outcome agent_input(struct mon_probe *p, const char *bytes, size_t length, bool end)
{
	const char *newline = length ? memchr(bytes, '\n', length) : NULL;
	struct agent_line line;

	if (length > LINE_MAX_BYTES && (!newline || newline - bytes > (long)LINE_MAX_BYTES))
		return mon_say(p, MON_NOTHING, "agent: its line is too long");
	if (!newline && !end)
		return MON_MORE;
	if (!agent_parse(bytes, newline ? (size_t)(newline - bytes) : length, &line))
		return mon_say_answer(p, MON_NOTHING, "agent: not understood", bytes, length);
	p->step = 1;
	agent_tell(p->in, &line);
	if (line.state && strcmp(line.state, "up"))
		return mon_say(p, MON_BAD_NOW, "agent says %s%s%s", line.state,
			*line.description ? ": " : "", line.description);
	return MON_GOOD;
}

const struct mon_type mon_agent_check = {.name = "agent-check",
	.stream = true,
	.advice = true,
	.open = agent_open,
	.input = agent_input};
