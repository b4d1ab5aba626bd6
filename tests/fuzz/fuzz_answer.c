/* SPDX-License-Identifier: BSD-3-Clause */
/* What a monitored server sends: HTTP framing, an agent's line, any text that is shown, patterns over it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/mon_agent.h"
#include "monitor/mon_http.h"
#include "monitor/mon_pattern.h"
#include "monitor/mon_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_clean(const char *bytes, size_t len)
{
	char out[64];

	mon_clean(out, sizeof(out), bytes, len);
	for (const char *p = out; *p; p++)
		if (*p < ' ' || *p > '~')
			abort();
}

/* A whole answer stays whole when more comes. */
static void check_framing(const char *bytes, size_t len)
{
	bool before = false;

	for (size_t n = 0; n <= len && n < 512; n++) {
		bool whole = http_reply_whole(bytes, n);

		if (before && !whole)
			abort();
		before = whole;
	}
	http_reply_whole(bytes, len);
}

static void check_agent(const char *bytes, size_t len)
{
	struct agent_line line;

	if (agent_parse(bytes, len, &line) < 0 || line.weight > AGENT_WEIGHT_MAX)
		abort();
	check_clean(line.description, strlen(line.description));
}

/* The first line is a pattern, the rest is what it is searched in. */
static void check_pattern(const char *bytes, size_t len)
{
	const char *end = len ? memchr(bytes, '\n', len) : NULL;
	char why[200];

	if (!end || end - bytes > 200)
		return;
	struct mon_pattern *p = mon_pattern_new(bytes, (size_t)(end - bytes), why, sizeof(why));
	if (p)
		mon_pattern_search(p, end + 1, len - (size_t)(end + 1 - bytes));
	mon_pattern_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *bytes = (const char *)data;
	char *text = malloc(len + 1);

	check_framing(bytes, len);
	check_agent(bytes, len);
	check_clean(bytes, len);
	check_pattern(bytes, len);
	if (text) {
		memcpy(text, data, len);
		text[len] = 0;
		if (mon_unescape(text) > len)
			abort();
	}
	free(text);
	return 0;
}
