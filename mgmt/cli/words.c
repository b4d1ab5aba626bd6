/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/words.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/utf8.h"

struct reader {
	const char *text;
	size_t length, at;
	char *bytes; /* where the next byte of a word goes */
	struct words *words;
	struct words_error *error;
};

static int refuse(struct reader *r, size_t position, bool incomplete, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static int refuse(struct reader *r, size_t position, bool incomplete, const char *format, ...)
{
	va_list ap;

	r->error->position = (uint32_t)position;
	r->error->incomplete = incomplete;
	va_start(ap, format);
	vsnprintf(r->error->reason, sizeof(r->error->reason), format, ap);
	va_end(ap);
	return -EINVAL;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

static bool ends_word(char c)
{
	return is_blank(c) || c == '{' || c == '}';
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static void skip_blanks(struct reader *r)
{
	bool line_start = r->at == 0 || r->text[r->at - 1] == '\n';

	for (; r->at < r->length; r->at++) {
		char c = r->text[r->at];

		if (c == '#' && line_start) {
			const char *end = memchr(r->text + r->at, '\n', r->length - r->at);
			r->at = end ? (size_t)(end - r->text) : r->length;
			if (!end)
				return;
		} else if (c == '\\' && r->at + 1 < r->length && r->text[r->at + 1] == '\n') {
			r->at++; /* a command may be broken over lines */
		} else if (!is_blank(c)) {
			return;
		}
		line_start = r->text[r->at] == '\n' || (line_start && is_blank(c));
	}
}

/* The two hex digits behind "\x". */
static int read_hex(struct reader *r)
{
	int high = r->at + 1 < r->length ? hex_digit(r->text[r->at + 1]) : -1;
	int low = r->at + 2 < r->length ? hex_digit(r->text[r->at + 2]) : -1;

	if (high < 0 || low < 0)
		return refuse(r, r->at - 1, false, "\\x needs two hexadecimal digits");
	if (!high && !low)
		return refuse(r, r->at - 1, false, "a NUL byte (\\x00) is never part of a value");
	r->at += 2;
	*r->bytes++ = (char)(high * 16 + low);
	return 0;
}

/* Between quotes, at the character behind the backslash. */
static int read_escape(struct reader *r)
{
	char c = r->text[r->at];

	switch (c) {
	case 'n':
		*r->bytes++ = '\n';
		return 0;
	case 'r':
		*r->bytes++ = '\r';
		return 0;
	case 't':
		*r->bytes++ = '\t';
		return 0;
	case '"':
	case '\\':
		*r->bytes++ = c;
		return 0;
	case 'x':
		return read_hex(r);
	default:
		return refuse(r, r->at - 1, false,
			"unknown escape \\%c; known are \\\" \\\\ \\n \\r \\t \\xHH",
			c >= ' ' && c < 127 ? c : '?');
	}
}

static int read_quoted(struct reader *r)
{
	size_t start = r->at++;

	for (; r->at < r->length && r->text[r->at] != '"'; r->at++) {
		if (r->text[r->at] != '\\') {
			*r->bytes++ = r->text[r->at];
			continue;
		}
		if (++r->at == r->length)
			break;
		int status = read_escape(r);
		if (status)
			return status;
	}
	if (r->at >= r->length)
		return refuse(r, start, true, "the closing quote is missing");
	r->at++;
	return 0;
}

static int read_word(struct reader *r, struct word *w)
{
	char *start = r->bytes;

	*w = (struct word){.text = start, .position = (uint32_t)r->at};
	while (r->at < r->length && !ends_word(r->text[r->at])) {
		char c = r->text[r->at];

		if (c == '"') {
			int status = read_quoted(r);
			if (status)
				return status;
			w->quoted = true;
			continue;
		}
		if (c == '\\') {
			if (++r->at == r->length)
				return refuse(r, r->at - 1, true, "nothing follows the backslash");
			c = r->text[r->at];
			if (c == '\n') { /* the line goes on, the word does not */
				r->at--;
				break;
			}
		}
		*r->bytes++ = c;
		r->at++;
	}
	w->length = (uint32_t)(r->bytes - start);
	*r->bytes++ = 0;
	return 0;
}

/*
 * Blocks are kept on a stack of our own: "tail" is where the next word of that block is linked,
 * "last" the word a block would belong to.
 */
struct open_block {
	struct word **tail, *last;
	size_t position;
};

static int open_brace(struct reader *r, struct open_block *stack, unsigned *depth)
{
	struct word *owner = stack[*depth].last;

	if (!owner)
		return refuse(r, r->at, false, "a word is missing before \"{\"");
	if (owner->has_block)
		return refuse(r, r->at, false, "a second block follows \"%.40s\"", owner->text);
	if (*depth + 1 > WORDS_DEPTH_MAX)
		return refuse(r, r->at, false, "blocks are nested deeper than %u", WORDS_DEPTH_MAX);
	owner->has_block = true;
	stack[++*depth] = (struct open_block){.tail = &owner->child, .position = r->at};
	r->at++;
	return 0;
}

static int read_all(struct reader *r)
{
	struct open_block stack[WORDS_DEPTH_MAX + 1] = {{.tail = &r->words->first}};
	unsigned depth = 0;
	int status;

	for (skip_blanks(r); r->at < r->length; skip_blanks(r)) {
		char c = r->text[r->at];

		if (c == '{') {
			status = open_brace(r, stack, &depth);
			if (status)
				return status;
		} else if (c == '}') {
			if (!depth)
				return refuse(r, r->at, false, "\"}\" closes nothing");
			depth--;
			r->at++;
		} else {
			struct word *w = &r->words->storage[r->words->count];

			status = read_word(r, w);
			if (status)
				return status;
			r->words->count++;
			*stack[depth].tail = w;
			stack[depth].tail = &w->next;
			stack[depth].last = w;
		}
	}
	if (depth)
		return refuse(r, stack[depth].position, true, "the closing \"}\" is missing");
	return 0;
}

/* No text has more words than starts of one. */
static size_t count_words(const char *text, size_t length)
{
	size_t count = 0;

	for (size_t i = 0; i < length; i++)
		if (!ends_word(text[i]) && (i == 0 || ends_word(text[i - 1])))
			count++;
	return count;
}

int words_parse(const char *text, size_t length, struct words *out, struct words_error *error)
{
	struct reader r = {.text = text, .length = length, .words = out, .error = error};
	const char *nul = memchr(text, 0, length);

	*out = (struct words){0};
	*error = (struct words_error){0};
	if (length > WORDS_LENGTH_MAX)
		return refuse(
			&r, WORDS_LENGTH_MAX, false, "longer than %u bytes", WORDS_LENGTH_MAX);
	if (nul)
		return refuse(
			&r, (size_t)(nul - text), false, "a NUL byte is never part of a command");

	size_t most = count_words(text, length);
	out->bytes = malloc(length + most + 1);
	out->storage = calloc(most + 1, sizeof(*out->storage));
	if (!out->bytes || !out->storage) {
		words_fini(out);
		return -ENOMEM;
	}
	r.bytes = out->bytes;
	int status = read_all(&r);
	if (status)
		words_fini(out);
	return status;
}

void words_fini(struct words *w)
{
	free(w->bytes);
	free(w->storage);
	*w = (struct words){0};
}

bool word_is(const struct word *w, const char *keyword)
{
	return w && !w->quoted && strcmp(w->text, keyword) == 0;
}

static bool needs_quotes(const char *bytes, size_t length)
{
	if (!length || bytes[0] == '#')
		return true;
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (c <= ' ' || c >= 127 || c == '"' || c == '\\' || c == '{' || c == '}')
			return true;
	}
	return false;
}

static const char *escape_of(unsigned char c, char buffer[5])
{
	switch (c) {
	case '"':
		return "\\\"";
	case '\\':
		return "\\\\";
	case '\n':
		return "\\n";
	case '\r':
		return "\\r";
	case '\t':
		return "\\t";
	}
	snprintf(buffer, 5, c >= ' ' && c < 127 ? "%c" : "\\x%02x", c);
	return buffer;
}

struct quoter {
	char *out;
	size_t size, need;
};

static void put(struct quoter *q, const char *piece, size_t length)
{
	if (q->need + length < q->size) {
		memcpy(q->out + q->need, piece, length);
		q->out[q->need + length] = 0;
	} else if (q->need < q->size) {
		q->size = q->need + 1; /* full: what follows is only counted */
	}
	q->need += length;
}

size_t word_quote(const char *bytes, size_t length, bool quote, char *out, size_t size)
{
	struct quoter q = {.out = out, .size = size};

	quote = quote || needs_quotes(bytes, length);
	if (size)
		out[0] = 0;
	put(&q, "\"", quote);
	for (size_t i = 0; i < length;) {
		uint32_t code;
		unsigned n = utf8_read(bytes + i, length - i, &code);
		char buffer[5];

		if (n > 1 && utf8_printable(code)) {
			put(&q, bytes + i, n);
			i += n;
		} else {
			const char *piece = escape_of((unsigned char)bytes[i++], buffer);
			put(&q, piece, strlen(piece));
		}
	}
	put(&q, "\"", quote);
	return q.need;
}

void words_scan_line(struct words_scan *scan, const char *line, size_t length)
{
	bool start = !scan->quote;

	scan->broken = false;
	for (size_t i = 0; i < length; i++) {
		char c = line[i];

		if (start && !is_blank(c) && !scan->quote) {
			start = false;
			if (c == '#')
				return;
		}
		if (c == '\\') {
			i++;
			scan->broken = i >= length || line[i] == '\n';
		} else if (c == '"') {
			scan->quote = !scan->quote;
		} else if (!scan->quote && c == '{') {
			scan->depth++;
		} else if (!scan->quote && c == '}') {
			scan->depth--;
		}
	}
}

bool words_scan_complete(const struct words_scan *scan)
{
	return !scan->quote && !scan->broken && scan->depth <= 0;
}
