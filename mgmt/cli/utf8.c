/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct range {
	uint32_t first, last;
};

static int in_ranges(uint32_t code, const struct range *r, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (code >= r[i].first && code <= r[i].last)
			return 1;
	return 0;
}

/*
 * The blocks that matter in names and descriptions: combining marks take no column, East Asian wide
 * and full-width characters and emoji take two (Unicode Standard Annex 11).
 */
static unsigned columns_of(uint32_t code)
{
	static const struct range none[] = {{0x300, 0x36f}, {0x483, 0x489}, {0x591, 0x5bd},
		{0x610, 0x61a}, {0x64b, 0x65f}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},
		{0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x2064}, {0x20d0, 0x20ff},
		{0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0xe0100, 0xe01ef}};
	static const struct range wide[] = {{0x1100, 0x115f}, {0x231a, 0x231b}, {0x2e80, 0x303e},
		{0x3041, 0x33ff}, {0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xa000, 0xa4cf},
		{0xa960, 0xa97f}, {0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f},
		{0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff},
		{0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};

	if (code < 0x300)
		return 1;
	if (in_ranges(code, none, sizeof(none) / sizeof(none[0])))
		return 0;
	return in_ranges(code, wide, sizeof(wide) / sizeof(wide[0])) ? 2 : 1;
}

size_t utf8_width(const char *text)
{
	size_t width = 0, left = strlen(text);

	while (left) {
		uint32_t code;
		unsigned n = utf8_read(text, left, &code);

		width += n ? columns_of(code) : 1;
		n = n ? n : 1;
		text += n;
		left -= n;
	}
	return width;
}

char *utf8_clean(const char *text)
{
	size_t left = strlen(text), at = 0;
	char *out = malloc(left * 4 + 1);

	if (!out)
		return NULL;
	while (left) {
		uint32_t code;
		unsigned n = utf8_read(text, left, &code);

		if (n && utf8_printable(code)) {
			memcpy(out + at, text, n);
			at += n;
		} else {
			n = n ? n : 1;
			for (unsigned i = 0; i < n; i++, at += 4)
				snprintf(out + at, 5, "\\x%02x", (unsigned char)text[i]);
		}
		text += n;
		left -= n;
	}
	out[at] = 0;
	return out;
}
