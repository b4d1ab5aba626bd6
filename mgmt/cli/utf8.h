/* SPDX-License-Identifier: BSD-3-Clause */
/* Text for a terminal: what may go out as it is, and how many columns it takes. */
#ifndef WEIR_CLI_UTF8_H
#define WEIR_CLI_UTF8_H

#include <stddef.h>
#include <stdint.h>

#include "base/utf8_read.h"

/* Columns of a text that utf8_clean returned. */
size_t utf8_width(const char *text);

/*
 * Copy for a terminal, to be freed: control characters and bytes that are no UTF-8 become \xHH, so
 * that no description in the configuration can steer the reader's terminal. NULL: no memory.
 */
char *utf8_clean(const char *text);

#endif
