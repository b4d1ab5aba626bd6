/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/utf8_read.h"

unsigned utf8_read(const char *bytes, size_t length, uint32_t *code)
{
	static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned char lead = (unsigned char)bytes[0];
	unsigned n = lead < 0x80 ? 1 : lead < 0xc0 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;

	if (!n || lead > 0xf4 || n > length)
		return 0;
	*code = n == 1 ? lead : lead & (0x7fu >> n);
	for (unsigned i = 1; i < n; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if ((c & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (c & 0x3f);
	}
	if (*code < least[n] || *code > 0x10ffff || (*code >= 0xd800 && *code <= 0xdfff))
		return 0;
	return n;
}

bool utf8_printable(uint32_t code)
{
	return code >= ' ' && !(code >= 0x7f && code < 0xa0);
}

bool utf8_harmful(uint32_t code)
{
	return !utf8_printable(code) || code == 0x61c || (code >= 0x200b && code <= 0x200f) ||
	       (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
	       code == 0xfeff;
}
