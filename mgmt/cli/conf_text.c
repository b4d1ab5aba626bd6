/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/conf_text.h"

#include <stdbool.h>
#include <string.h>

#include "cli/answer.h"
#include "model/model.h"

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

struct span {
	const char *p;
	size_t n;
};

static bool span_is(struct span s, const char *word)
{
	return strlen(word) == s.n && !memcmp(s.p, word, s.n);
}

/* True for a word that stands before the name of an object somewhere. */
static bool names_object(struct span word)
{
	for (unsigned k = 0; k < MODEL_KINDS; k++) {
		const char *last = strrchr(model_kinds[k].words, ' ');

		if (last && span_is(word, last + 1))
			return true;
		for (unsigned i = 0; i < model_kinds[k].field_count; i++)
			if (model_kinds[k].fields[i].ref_count &&
				span_is(word, model_kinds[k].fields[i].name))
				return true;
	}
	return false;
}

/* True for a property whose value is text for people; many words of policies' actions are names elsewhere. */
static bool names_text(struct span word)
{
	if (span_is(word, "reason")) /* of a hold */
		return true;
	for (unsigned k = 0; k < MODEL_KINDS; k++)
		for (unsigned i = 0; i < model_kinds[k].field_count; i++)
			if (model_kinds[k].fields[i].type == TYPE_STRING &&
				span_is(word, model_kinds[k].fields[i].name) &&
				(!model_kinds[k].items || !names_object(word)))
				return true;
	return false;
}

/* True for a property with a name of its own before the value. */
static bool names_pair(struct span word)
{
	for (unsigned k = 0; k < MODEL_KINDS; k++)
		for (unsigned i = 0; i < model_kinds[k].field_count; i++)
			if (model_kinds[k].fields[i].pairs &&
				span_is(word, model_kinds[k].fields[i].name))
				return true;
	return false;
}

/* Behind "/Common/", or the word itself if that has to stay. */
static struct span short_of(struct span word, struct span before)
{
	static const char *const meaning[] = {
		"", "none", "all", "default", "add", "modify", "delete", "replace-all-with"};
	struct span rest = {.p = name_short(word.p)};

	if (rest.p == word.p || rest.p > word.p + word.n)
		return word;
	rest.n = word.n - (size_t)(rest.p - word.p);
	for (size_t i = 0; i < sizeof(meaning) / sizeof(meaning[0]); i++)
		if (span_is(rest, meaning[i]))
			return word;
	if (memchr(rest.p, '/', rest.n) || memchr(rest.p, '"', rest.n) || *rest.p == '#')
		return word;
	return names_text(before) ? word : rest;
}

void conf_print_short(const char *block, FILE *out)
{
	struct span before = {block, 0};

	while (*block) {
		size_t blanks = strspn(block, " \t\n");

		if (memchr(block, '\n', blanks))
			before.n = 0;
		fwrite(block, 1, blanks, out);
		block += blanks;
		struct walk w = {0};
		struct span word = {block, 0};
		while (*block && (w.quote || !strchr(" \t\n", *block)))
			block += walk_step(&w, block);
		word.n = (size_t)(block - word.p);
		struct span shown = short_of(word, before);
		fwrite(shown.p, 1, shown.n, out);
		if (!names_pair(before))
			before = word;
	}
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
