/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_BASE_UTF8_READ_H
#define WEIR_BASE_UTF8_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads one character of UTF-8 (RFC 3629) at bytes[0..length), length > 0; a NUL at its end will do for length. Its
 * bytes, with the code point in *code; 0 if the bytes are none (overlong, surrogate, cut off, out of range).
 */
unsigned utf8_read(const char *bytes, size_t length, uint32_t *code);

/* True for a code point that a terminal shows and does not obey (no C0, DEL or C1 control). */
bool utf8_printable(uint32_t code);

/* True for one that deceives who reads a log: not printable, unseen, ends a line or turns the direction of writing. */
bool utf8_harmful(uint32_t code);

#endif
