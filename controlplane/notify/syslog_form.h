/* SPDX-License-Identifier: BSD-3-Clause */
/* A record of the journal as a syslog message. Pure. */
#ifndef WEIR_NOTIFY_SYSLOG_FORM_H
#define WEIR_NOTIFY_SYSLOG_FORM_H

#include <jansson.h>
#include <stddef.h>

enum {
	SYSLOG_UDP_MAX = 2048,	 /* bytes: what a receiver should take, RFC 5426 section 3.2 */
	SYSLOG_STREAM_MAX = 8192 /* RFC 5425 section 4.3.1 */
};

/* RFC 5424, facility local0, at most max bytes (at least 480), cut between characters. To be freed; NULL: no memory. */
char *syslog_form(const json_t *record, const char *host, size_t max, size_t *length);

/* What daemons send to /dev/log: RFC 3164 without the host. */
char *syslog_form_local(const json_t *record, size_t max, size_t *length);

#endif
