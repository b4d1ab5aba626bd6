/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "files/ucs_internal.h"

#define MARK "$W$1$" /* what an encrypted secret begins with */
#define DEPTH_MAX 16u
#define PATH_TEXT 2048u

/* Where in the text we are: the heads of the blocks around, then the words of this line. */
struct place {
	char path[PATH_TEXT];
	size_t length;		 /* of path */
	size_t heads[DEPTH_MAX]; /* of the path before each block's head */
	size_t line;		 /* of the path before this line */
	unsigned depth;
	bool secret; /* this line has one */
};

static void word_add(struct place *p, const char *word, size_t length)
{
	if (length >= sizeof(MARK) - 1 && !memcmp(word, MARK, sizeof(MARK) - 1)) {
		p->secret = true;
		return;
	}
	if (p->length + length + 2 > sizeof(p->path))
		return;
	if (p->length)
		p->path[p->length++] = ' ';
	memcpy(p->path + p->length, word, length);
	p->length += length;
}

static bool line_end(struct place *p, json_t *secrets)
{
	bool ok = true;

	if (p->secret)
		ok = json_array_append_new(secrets, json_stringn(p->path, p->length)) == 0;
	p->length = p->line;
	p->secret = false;
	return ok;
}

static void block_begin(struct place *p)
{
	if (p->depth < DEPTH_MAX)
		p->heads[p->depth] = p->line;
	p->depth++;
	p->line = p->length;
}

static void block_end(struct place *p)
{
	if (!p->depth)
		return;
	p->depth--;
	if (p->depth < DEPTH_MAX)
		p->line = p->length = p->heads[p->depth];
}

/* The end of a quoted word that begins at text, behind its quote. */
static const char *quoted_end(const char *text, const char *end)
{
	while (text < end && *text != '"')
		text += *text == '\\' && text + 1 < end ? 2 : 1;
	return text;
}

static const char *word_take(struct place *p, const char *text, const char *end)
{
	const char *from = text;

	if (*text == '"') {
		const char *close = quoted_end(++from, end);

		word_add(p, from, (size_t)(close - from));
		return close < end ? close + 1 : end;
	}
	while (text < end && !strchr(" \t\r\n{}\"", *text))
		text++;
	word_add(p, from, (size_t)(text - from));
	return text > from ? text : text + 1;
}

json_t *ucs_secrets(const char *conf, size_t length)
{
	const char *end = conf + length;
	struct place p = {.length = 0};
	json_t *secrets = json_array();
	bool ok = secrets != NULL;

	while (ok && conf < end) {
		switch (*conf) {
		case ' ':
		case '\t':
		case '\r':
			conf++;
			break;
		case '\n':
			ok = line_end(&p, secrets);
			conf++;
			break;
		case '#':
			conf = memchr(conf, '\n', (size_t)(end - conf));
			conf = conf ? conf : end;
			break;
		case '{':
			block_begin(&p);
			conf++;
			break;
		case '}':
			ok = line_end(&p, secrets);
			block_end(&p);
			conf++;
			break;
		default:
			conf = word_take(&p, conf, end);
		}
	}
	if (ok)
		ok = line_end(&p, secrets);
	if (!ok) {
		json_decref(secrets);
		return NULL;
	}
	return secrets;
}
