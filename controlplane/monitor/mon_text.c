/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/mon_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

size_t mon_unescape(char *text)
{
	static const char from[] = "rnt\\\"", to[] = "\r\n\t\\\"";
	char *out = text;

	for (const char *p = text; *p; p++) {
		const char *known = p[0] == '\\' && p[1] ? strchr(from, p[1]) : NULL;

		if (known) {
			*out++ = to[known - from];
			p++;
		} else if (p[0] == '\\' && p[1] == 'x' && hex(p[2]) >= 0 && hex(p[3]) >= 0) {
			*out++ = (char)(hex(p[2]) << 4 | hex(p[3]));
			p += 3;
		} else {
			*out++ = *p;
		}
	}
	*out = 0;
	return (size_t)(out - text);
}

char *mon_clean(char *out, size_t size, const char *text, size_t length)
{
	size_t n = 0;
	bool gap = false;

	for (size_t i = 0; i < length && n + 2 < size; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c <= ' ' || c >= 0x7f) {
			gap = n > 0;
			continue;
		}
		if (gap)
			out[n++] = ' ';
		gap = false;
		out[n++] = (char)c;
	}
	out[n] = 0;
	return out;
}
