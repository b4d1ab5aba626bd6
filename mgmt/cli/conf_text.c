/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/conf_text.h"

#include <stdbool.h>
#include <string.h>

/* Where a walk over a block stands: quotes hide braces and line ends. */
struct walk {
	int depth;
	bool quote;
};

/* Bytes of the character at p: two for an escape. */
static size_t walk_step(struct walk *w, const char *p)
{
	if (*p == '\\' && p[1])
		return 2;
	if (*p == '"')
		w->quote = !w->quote;
	else if (!w->quote && *p == '{')
		w->depth++;
	else if (!w->quote && *p == '}')
		w->depth--;
	return 1;
}

void conf_print_one_line(const char *block, FILE *out)
{
	struct walk w = {0};
	bool owed = false, any = false;

	while (*block) {
		bool blank = !w.quote && strchr(" \t\n", *block);
		size_t n = walk_step(&w, block);

		if (blank) {
			owed = any;
		} else {
			if (owed)
				fputc(' ', out);
			fwrite(block, 1, n, out);
			owed = false;
			any = true;
		}
		block += n;
	}
	fputc('\n', out);
}

/* The end of the line at p, or of the block that it opens; behind its line end. */
static const char *entry_end(const char *p)
{
	struct walk w = {0};

	while (*p) {
		char c = *p;

		p += walk_step(&w, p);
		if (c == '\n' && !w.quote && w.depth <= 0)
			break;
	}
	return p;
}

static bool is_wanted(const char *entry, const char *const *fields, unsigned count)
{
	entry += strspn(entry, " \t");
	size_t n = strcspn(entry, " \t\n{");

	for (unsigned i = 0; i < count; i++)
		if (strlen(fields[i]) == n && !memcmp(fields[i], entry, n))
			return true;
	return false;
}

void conf_print_fields(const char *block, const char *const *fields, unsigned count, FILE *out)
{
	size_t head = strcspn(block, "\n");
	const char *p = block + head + (block[head] == '\n');

	fprintf(out, "%.*s\n", (int)head, block);
	if (!head || block[head - 1] != '{') /* "{ }": nothing in it */
		return;
	while (*p && *p != '}') {
		const char *end = entry_end(p);

		if (is_wanted(p, fields, count))
			fwrite(p, 1, (size_t)(end - p), out);
		p = end;
	}
	fputs("}\n", out);
}
