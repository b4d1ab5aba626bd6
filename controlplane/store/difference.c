/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/difference.h"

#include <stdlib.h>
#include <string.h>

/* Beyond this the table of common lines would be too large; all between the ends is shown then. */
#define TABLE_MAX 4000000u

struct lines {
	const char **start;
	size_t *length;
	unsigned count;
};

static int lines_init(struct lines *l, const char *text)
{
	unsigned count = 0;

	for (const char *p = text; *p; p++)
		count += *p == '\n' || !p[1];
	*l = (struct lines){
		calloc(count + 1, sizeof(*l->start)), calloc(count + 1, sizeof(*l->length)), 0};
	if (!l->start || !l->length)
		return -1;
	while (*text) {
		size_t n = strcspn(text, "\n");

		l->start[l->count] = text;
		l->length[l->count++] = n;
		text += n + (text[n] == '\n');
	}
	return 0;
}

static void lines_fini(struct lines *l)
{
	free(l->start);
	free(l->length);
}

static bool line_equal(const struct lines *a, unsigned i, const struct lines *b, unsigned j)
{
	return a->length[i] == b->length[j] && !memcmp(a->start[i], b->start[j], a->length[i]);
}

struct writer {
	struct text *out;
	unsigned left, more;
	bool object;   /* all lines of an object, else groups of those that differ */
	unsigned last; /* line in after where the open group goes on; 0 = no group */
};

/* Bytes of a line up to the end of its first word. */
static size_t first_word(const char *line, size_t length, char *word, size_t size)
{
	size_t blanks = 0, n = 0;

	while (blanks < length && line[blanks] == ' ')
		blanks++;
	while (blanks + n < length && line[blanks + n] != ' ' && n + 1 < size) {
		word[n] = line[blanks + n];
		n++;
	}
	word[n] = 0;
	return blanks + n;
}

static void object_line_out(struct writer *w, char sign, const char *line, size_t length)
{
	char word[64];
	size_t n = first_word(line, length, word, sizeof(word));

	if (model_names_secret(word))
		text_printf(w->out, "%c%.*s ***\n", sign, (int)n, line);
	else
		text_printf(w->out, "%c%.*s\n", sign, (int)length, line);
}

/* A word by which the store tells that an object's fields start from their defaults. */
static bool is_store_word(const char *line, size_t length)
{
	char word[64];

	first_word(line, length, word, sizeof(word));
	return !strcmp(word, "object-reset");
}

static void line_out(struct writer *w, char sign, const struct lines *l, unsigned i, unsigned after)
{
	if (w->object && is_store_word(l->start[i], l->length[i]))
		return;
	if (w->left == 0) {
		w->more++;
		return;
	}
	if (w->object) {
		object_line_out(w, sign, l->start[i], l->length[i]);
		w->left--;
		return;
	}
	if (w->last != after + 1)
		text_printf(w->out, "@@ line %u\n", after + 1);
	w->last = after + 1 + (sign == '+');
	text_printf(w->out, "%c%.*s\n", sign, (int)l->length[i], l->start[i]);
	w->left--;
}

static void common_out(struct writer *w, const struct lines *b, unsigned from, unsigned to)
{
	for (unsigned i = from; w->object && i < to; i++)
		line_out(w, ' ', b, i, i);
}

/* Longest common subsequence of a[a0..a1) and b[b0..b1): table[i][j] of what follows i and j. */
static void middle_out(struct writer *w, const struct lines *a, unsigned a0, unsigned a1,
	const struct lines *b, unsigned b0, unsigned b1)
{
	size_t n = a1 - a0, m = b1 - b0, i = 0, j = 0;
	unsigned *table =
		(n + 1) * (m + 1) <= TABLE_MAX ? calloc((n + 1) * (m + 1), sizeof(*table)) : NULL;

#define AT(x, y) table[(x) * (m + 1) + (y)]
	for (size_t x = n; table && x-- > 0;)
		for (size_t y = m; y-- > 0;) {
			unsigned skip = AT(x + 1, y) > AT(x, y + 1) ? AT(x + 1, y) : AT(x, y + 1);
			AT(x, y) = line_equal(a, a0 + x, b, b0 + y) ? AT(x + 1, y + 1) + 1 : skip;
		}
	while (i < n || j < m) {
		if (table && i < n && j < m && line_equal(a, a0 + i, b, b0 + j)) {
			common_out(w, b, b0 + (unsigned)j, b0 + (unsigned)j + 1);
			i++;
			j++;
		} else if (i < n && (j == m || !table || AT(i + 1, j) >= AT(i, j + 1))) {
			line_out(w, '-', a, a0 + i, b0 + j);
			i++;
		} else {
			line_out(w, '+', b, b0 + j, b0 + j);
			j++;
		}
	}
#undef AT
	free(table);
}

static void differ(struct writer *w, const char *before, const char *after)
{
	struct lines a, b = {0};
	unsigned head = 0, tail = 0;

	if (lines_init(&a, before) == 0 && lines_init(&b, after) == 0) {
		while (head < a.count && head < b.count && line_equal(&a, head, &b, head))
			head++;
		while (tail < a.count - head && tail < b.count - head &&
			line_equal(&a, a.count - 1 - tail, &b, b.count - 1 - tail))
			tail++;
		common_out(w, &b, 0, head);
		middle_out(w, &a, head, a.count - tail, &b, head, b.count - tail);
		common_out(w, &b, b.count - tail, b.count);
	}
	lines_fini(&a);
	lines_fini(&b);
}

void difference_lines(const char *before, const char *after, unsigned max_lines, struct text *out)
{
	struct writer w = {.out = out, .left = max_lines};

	differ(&w, before, after);
	if (w.more)
		text_printf(out, "and %u lines more\n", w.more);
}

void difference_object(
	const char *before, const char *after, unsigned *left, unsigned *more, struct text *out)
{
	struct writer w = {.out = out, .left = *left, .more = *more, .object = true};

	differ(&w, before, after);
	*left = w.left;
	*more = w.more;
}
