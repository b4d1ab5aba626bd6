/* SPDX-License-Identifier: BSD-3-Clause */
/* What a message says, in words: subject and body for people, JSON for programs. Pure. */
#ifndef WEIR_ALERT_ALERT_TEXT_H
#define WEIR_ALERT_ALERT_TEXT_H

#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include "alert/digest.h"

enum { ALERT_LINES_MAX = 100 /* incidents that are written out; the others are counted */ };

/* "DOWN: pool member /Common/10.0.0.1:80 of /Common/web (+49)". */
void alert_subject(const struct digest *d, const struct digest_message *m, char *out, size_t size);

/* The body, lines ended with LF. host: this machine. */
void alert_body(
	FILE *out, const char *host, const struct digest *d, const struct digest_message *m);

/* {"host", "kind", "message", "count", "closed", "subject", "incidents": [...]}, or NULL: no memory. */
json_t *alert_json(const char *host, const struct digest *d, const struct digest_message *m);

/* "3 h 5 min" */
const char *alert_duration(uint64_t seconds, char out[static 32]);

#endif
