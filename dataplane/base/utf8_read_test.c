/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/utf8_read.h"

#include "base/check.h"

static void check_read(const char *bytes, size_t length, unsigned taken, uint32_t is)
{
	uint32_t code = 0;

	CHECK_INT(utf8_read(bytes, length, &code), taken);
	if (taken)
		CHECK_INT(code, is);
}

int main(void)
{
	check_read("a", 1, 1, 'a');
	check_read("\xc3\xa4x", 3, 2, 0xe4);
	check_read("\xe2\x80\xae", 3, 3, 0x202e);
	check_read("\xf4\x8f\xbf\xbf", 4, 4, 0x10ffff);
	check_read("\xe2\x80\xae", 2, 0, 0);
	check_read("\xe2\x80", 4, 0, 0); /* its NUL ends it */
	check_read("\x80", 1, 0, 0);
	check_read("\xc0\xaf", 2, 0, 0);
	check_read("\xe0\x80\xaf", 3, 0, 0);
	check_read("\xed\xa0\x80", 3, 0, 0);
	check_read("\xf4\x90\x80\x80", 4, 0, 0);

	static const uint32_t harmful[] = {
		0, '\n', 0x1b, 0x7f, 0x9b, 0x61c, 0x200b, 0x200f, 0x2028, 0x202e, 0x2069, 0xfeff};
	for (size_t i = 0; i < sizeof(harmful) / sizeof(*harmful); i++)
		CHECK(utf8_harmful(harmful[i]));
	CHECK(!utf8_harmful(' ') && !utf8_harmful(0xa0) && !utf8_harmful(0x2010));
	CHECK(!utf8_harmful(0x5d0) && !utf8_harmful(0x1f600));
	return 0;
}
