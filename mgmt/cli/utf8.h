/* SPDX-License-Identifier: BSD-3-Clause */
/* Text for a terminal: what may go out as it is, and how many columns it takes. */
#ifndef WEIR_CLI_UTF8_H
#define WEIR_CLI_UTF8_H

#include <stddef.h>
#include <stdint.h>

/*
 * Reads one character of UTF-8 (RFC 3629) at bytes[0..length), length > 0. Its bytes, with the code
 * point in *code; 0 if the bytes are none (overlong, surrogate, cut off, out of range).
 */
unsigned utf8_read(const char *bytes, size_t length, uint32_t *code);

/* True for a code point that a terminal shows and does not obey (no C0, DEL or C1 control). */
int utf8_printable(uint32_t code);

/* Columns of a text that utf8_clean returned. */
size_t utf8_width(const char *text);

/*
 * Copy for a terminal, to be freed: control characters and bytes that are no UTF-8 become \xHH, so
 * that no description in the configuration can steer the reader's terminal. NULL: no memory.
 */
char *utf8_clean(const char *text);

#endif
