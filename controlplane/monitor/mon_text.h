/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of monitors: what is sent, and what may be said of an answer. */
#ifndef WEIR_MONITOR_MON_TEXT_H
#define WEIR_MONITOR_MON_TEXT_H

#include <stddef.h>

/*
 * Replaces \r \n \t \\ \" \xHH in text by those bytes, in place; other backslashes stay.
 * Returns the new length, which may contain NULs; a NUL is put after it.
 */
size_t mon_unescape(char *text);

/*
 * Copies at most length bytes of what a server said into out[size] for people to read: printable ASCII only, runs of
 * anything else become one blank, no blanks at the ends. Returns out.
 */
char *mon_clean(char *out, size_t size, const char *text, size_t length);

#endif
