/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A message about incidents as mail: RFC 5322 with RFC 2045 and 2047, in plain text. Pure. The recovery answers the
 * message that told of the incident, so that mail programs show them as one thread.
 */
#ifndef WEIR_ALERT_MAIL_TEXT_H
#define WEIR_ALERT_MAIL_TEXT_H

#include <stddef.h>
#include <time.h>

#include "alert/digest.h"

enum {
	MAIL_REFERENCES_MAX = 20,
	MAIL_SUBJECT_MAX = 240, /* bytes, before it is encoded */
	MAIL_RECIPIENTS_MAX = 50,
};

struct mail_head {
	const char *host;  /* this machine's name, for people and in Message-ID */
	const char *token; /* of this receiver: makes its Message-IDs unique; letters and digits */
	const char *from;
	const char *const *to;
	unsigned to_count;
	time_t now;
};

/* Can it stand in a header and in a command of SMTP? local@domain without blanks, controls, brackets or quotes. */
bool mail_address_valid(const char *address);

/* The message, lines ended with CR LF, to be freed; NULL: no memory, or an address is not valid. */
char *mail_compose(const struct mail_head *head, const struct digest *d,
	const struct digest_message *m, size_t *length);

/* A message to try a receiver with. number: of the test. */
char *mail_compose_test(const struct mail_head *head, uint64_t number, size_t *length);

#endif
