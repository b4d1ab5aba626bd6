/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_SNMP_PICTURE_H
#define WEIR_SNMP_PICTURE_H

#include "snmp/snmp_data.h"

/*
 * Asks weir-cp, at fd, for everything. settings: the last that it gave, or NULL. 0 and a new picture, or -errno: the
 * connection is of no more use.
 */
int snmp_picture(int fd, const json_t *settings, struct snmp_data **out);

/* What can be told without weir-cp. NULL: no memory. */
struct snmp_data *snmp_picture_alone(const json_t *settings);

/* One request; row is called for each row of the answer. The result to be freed, or NULL with *rc: 0 if refused. */
json_t *snmp_ask(
	int fd, json_t *request, int (*row)(void *ctx, const json_t *row), void *ctx, int *rc);

#endif
