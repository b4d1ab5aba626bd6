/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words and braces: the surface of the command language, before any of them means anything.
 *
 * A line is a list of words; a word may own a block, "{ ... }", which is again a list of words.
 * Words are separated by white space and braces. Between double quotes white space and braces are
 * ordinary, and the escapes are \" \\ \n \r \t and \xHH; outside quotes a backslash makes the next
 * character ordinary. So every string of bytes but NUL can be written. White space includes the
 * line end, except that words_parse is meant to see one command; a '#' that starts a line comments
 * it out.
 */
#ifndef WEIR_CLI_WORDS_H
#define WEIR_CLI_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WORDS_LENGTH_MAX (8u << 20) /* bytes of a command */
#define WORDS_DEPTH_MAX 32u	    /* blocks within blocks */

struct word {
	const char *text;
	uint32_t length;   /* bytes, without the NUL that follows them */
	uint32_t position; /* byte offset in the parsed text */
	bool quoted;	   /* at least a part of it was between quotes: never an empty line, never a
			      keyword */
	bool has_block;
	struct word *child; /* first word of the block, NULL if the block is empty */
	struct word *next;
};

struct words {
	struct word *first; /* NULL for an empty line */
	uint32_t count;	    /* words in all blocks together */
	char *bytes;	    /* all texts */
	struct word *storage;
};

struct words_error {
	uint32_t position; /* byte offset of what was wrong */
	bool incomplete;   /* the text ends inside quotes or a block: more text may complete it */
	char reason[320];
};

/*
 * Splits text[0..length). 0; -EINVAL with *error filled; -ENOMEM. *out is empty after an error and
 * is released by words_fini in any case.
 */
int words_parse(const char *text, size_t length, struct words *out, struct words_error *error);

void words_fini(struct words *w);

/* True if the word is this keyword, written without quotes. */
bool word_is(const struct word *w, const char *keyword);

/*
 * Bytes that bytes[0..length) takes when written so that words_parse reads it back the same: bare
 * where that is safe, else (or if quote is set) in quotes, always as UTF-8. Writes at most size
 * bytes with NUL into out, as snprintf does.
 */
size_t word_quote(const char *bytes, size_t length, bool quote, char *out, size_t size);

/*
 * Finds the end of a command that comes in lines, without looking at a line twice. Zeroed before
 * the first line; each line with its line end.
 */
struct words_scan {
	long depth;  /* open blocks */
	bool quote;  /* within quotes */
	bool broken; /* the last line ends in a backslash */
};

void words_scan_line(struct words_scan *scan, const char *line, size_t length);

/* True if the lines so far are a whole command, or one that no further line can mend. */
bool words_scan_complete(const struct words_scan *scan);

#endif
