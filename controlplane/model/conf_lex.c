/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/model_internal.h"

enum { WORD_MAX = 65536 }; /* far above any value's limit; libconfuse takes hours for megabytes */

void lexer_init(struct lexer *lex, const char *text, size_t len)
{
	static const char mark[] = "\xef\xbb\xbf"; /* some editors put it before UTF-8 */

	if (len >= sizeof(mark) - 1 && !memcmp(text, mark, sizeof(mark) - 1)) {
		text += sizeof(mark) - 1;
		len -= sizeof(mark) - 1;
	}
	*lex = (struct lexer){.text = text, .end = text + len, .line = 1};
}

void lexer_fini(struct lexer *lex)
{
	text_fini(&lex->word);
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Blanks, lines that start with '#', and a backslash before the line's end. */
static void skip_blanks(struct lexer *lex, bool line_start)
{
	for (; lex->text < lex->end; lex->text++) {
		char c = *lex->text;
		if (c == '#' && line_start) {
			const char *end = memchr(lex->text, '\n', (size_t)(lex->end - lex->text));
			lex->text = end ? end : lex->end;
			if (!end)
				return;
		} else if (c == '\\' && lex->text + 1 < lex->end && lex->text[1] == '\n') {
			lex->text++;
		} else if (!is_blank(c)) {
			return;
		}
		line_start = *lex->text == '\n' || (line_start && is_blank(c));
		lex->line += *lex->text == '\n';
	}
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool bad(struct lexer *lex, const char *reason)
{
	lex->reason = reason;
	return false;
}

/* At the backslash, between quotes. */
static bool read_escape(struct lexer *lex)
{
	const char *p = lex->text + 1;
	char c = p < lex->end ? *p : '\0';
	int high, low;

	lex->text += 2;
	if (c == 'n' || c == 'r' || c == 't') {
		c = c == 'n' ? '\n' : c == 'r' ? '\r' : '\t';
	} else if (c == 'x') {
		high = p + 1 < lex->end ? hex_digit(p[1]) : -1;
		low = p + 2 < lex->end ? hex_digit(p[2]) : -1;
		if (high < 0 || low < 0 || high + low == 0)
			return bad(lex, "\\x needs two hexadecimal digits, not 00");
		c = (char)(high * 16 + low);
		lex->text += 2;
	} else if (c != '"' && c != '\\') {
		return bad(lex, "unknown escape; known are \\\" \\\\ \\n \\r \\t \\xHH");
	}
	text_add(&lex->word, &c, 1);
	return true;
}

static bool read_quoted(struct lexer *lex)
{
	lex->quoted = true;
	lex->text++;
	while (lex->text < lex->end && *lex->text != '"') {
		const char *from = lex->text;
		if (*from == '\\') {
			if (!read_escape(lex))
				return false;
			continue;
		}
		while (lex->text < lex->end && *lex->text != '"' && *lex->text != '\\' &&
			*lex->text)
			lex->line += *lex->text++ == '\n';
		if (lex->text < lex->end && !*lex->text)
			return bad(lex, "a NUL byte is never part of a value");
		text_add(&lex->word, from, (size_t)(lex->text - from));
	}
	if (lex->text >= lex->end)
		return bad(lex, "the closing quote is missing");
	lex->text++;
	return true;
}

static bool read_word(struct lexer *lex)
{
	while (lex->text < lex->end && !is_blank(*lex->text) && *lex->text != '{' &&
		*lex->text != '}') {
		if (*lex->text == '"') {
			if (!read_quoted(lex))
				return false;
			continue;
		}
		if (*lex->text == '\\' && ++lex->text == lex->end)
			return bad(lex, "nothing follows the backslash");
		if (!*lex->text)
			return bad(lex, "a NUL byte is never part of a value");
		lex->line += *lex->text == '\n';
		text_add(&lex->word, lex->text++, 1);
	}
	text_add(&lex->word, "", 0);
	if (lex->word.len > WORD_MAX)
		return bad(lex, "a word is longer than 65536 bytes");
	return !lex->word.failed || bad(lex, "no memory");
}

enum token_type lexer_next(struct lexer *lex)
{
	bool line_start = lex->line == 1 && !lex->word_line;

	/* Only a word or a brace can stand before '#' on a line, and then it is no comment. */
	skip_blanks(lex, line_start);
	lex->word.len = 0;
	lex->quoted = false;
	lex->word_line = lex->line;
	if (lex->text >= lex->end)
		return TOKEN_END;
	if (*lex->text == '{' || *lex->text == '}')
		return *lex->text++ == '{' ? TOKEN_OPEN : TOKEN_CLOSE;
	return read_word(lex) ? TOKEN_WORD : TOKEN_BAD;
}
