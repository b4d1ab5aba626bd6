/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts out of rows that weir-cp sent, and tables made of them. */
#ifndef WEIR_CLI_ANSWER_H
#define WEIR_CLI_ANSWER_H

#include <jansson.h>

#include "cli/table.h"

/* The field as text for people, to be freed; "" if it is not there. NULL: no memory. */
char *answer_text(const json_t *row, const char *key);

/* The same without "/Common/" before a name. */
char *answer_name(const json_t *row, const char *key);

/* "10.0.0.1:80", "2001:db8::1.80"; "any" for port 0. To be freed. */
char *answer_endpoint(const json_t *row, const char *addr_key, const char *port_key);

/* A row of the table: the fields keys[0..t->columns), names without "/Common/". */
void answer_add(struct table *t, const json_t *row, const char *const *keys);

/* Removes "/Common/" at the start. */
const char *name_short(const char *name);

#endif
