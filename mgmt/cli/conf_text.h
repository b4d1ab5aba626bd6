/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of weir.conf, as "list" gets them from weir-cp, in other shapes. */
#ifndef WEIR_CLI_CONF_TEXT_H
#define WEIR_CLI_CONF_TEXT_H

#include <stdio.h>

/*
 * Names without "/Common/", as LTM lists them, where they stay the same name: not a text that looks like
 * one, not "none" and other words that mean something, not what lies in a folder.
 */
void conf_print_short(const char *block, FILE *out);

/* "ltm pool web { ... }" in one line. */
void conf_print_one_line(const char *block, FILE *out);

/* As fields[0..count) say: the head, those properties (with what is in them), the end. */
void conf_print_fields(const char *block, const char *const *fields, unsigned count, FILE *out);

#endif
