/* SPDX-License-Identifier: BSD-3-Clause */
/* Components: the words between the verb and the names, "ltm pool", "sys connection", "net". */
#ifndef WEIR_CLI_COMPONENT_H
#define WEIR_CLI_COMPONENT_H

#include "cli/command.h"

struct component {
	enum cli_target target;
	int kind;	   /* enum model_kind for TARGET_KIND, else -1 */
	unsigned used;	   /* words taken */
	const char *words; /* "ltm pool", "ltm", "" */
	char module[16];   /* storage of words for TARGET_MODULE */
};

/*
 * The component that the words from w on name; w NULL: TARGET_EVERYTHING. A module ("ltm", "ltm monitor") with a word
 * behind it that makes no component is a TARGET_MODULE. 0, or -EINVAL with a reason: no such
 * module.
 */
int component_find(const struct word *w, struct component *out, char *reason, size_t size);

/* Why a module with the word w behind it (NULL = none) is no component: lists those there are. */
void component_refuse(const char *module, const struct word *w, char *reason, size_t size);

/* Property, flag, group of properties or block of children ("members") of a kind of the model. */
bool component_has_field(int kind, const char *name);

/* Names of a module's components, or of all modules (NULL), separated by ", ". */
void component_list(const char *module, char *out, size_t size);

#endif
