/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of ltm drain: "node 10.0.0.1 force-offline timeout 300 reason \"new kernel\"". */
#ifndef WEIR_CLI_DRAIN_WORDS_H
#define WEIR_CLI_DRAIN_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "cli/command.h"

#define DRAIN_WORD_SECONDS_MAX 604800u

enum drain_word_type {
	DRAIN_WORD_NAME, /* of an object */
	DRAIN_WORD_FLAG, /* stands alone */
	DRAIN_WORD_SECONDS,
	DRAIN_WORD_CHOICE,
	DRAIN_WORD_TEXT,
};

struct drain_word {
	const char *name;
	enum drain_word_type type;
	unsigned verbs; /* bit (1u << verb) for each that takes it */
	const char *choice[2];
	const char *sentence;
};

/* Ends with name NULL. */
extern const struct drain_word drain_words[];

/* NULL: the verb has no such word. */
const struct drain_word *drain_word_find(enum cli_verb verb, const char *name);

/* 0, or -EINVAL with what would be right in reason. *seconds: of DRAIN_WORD_SECONDS. */
int drain_word_check(const struct drain_word *w, const char *value, uint32_t *seconds, char *reason,
	size_t size);

/* The number of a drain: 0 if the text is none. */
uint32_t drain_word_id(const char *text);

#endif
