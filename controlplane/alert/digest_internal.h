/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_ALERT_DIGEST_INTERNAL_H
#define WEIR_ALERT_DIGEST_INTERNAL_H

#include "alert/digest.h"

/* Puts an incident with the highest number so far, or in its place. 0 or -ENOMEM. */
int digest_insert(struct digest *d, struct incident *i);

/* Index of the first incident whose number is not less. */
unsigned digest_place(const struct digest *d, uint64_t number);
struct incident *digest_find(const struct digest *d, uint64_t number);

/* Removes those for which gone says true. */
void digest_purge(struct digest *d, bool (*gone)(const struct digest *d, const struct incident *i));

#endif
