/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One message to one mail server. libcurl speaks SMTP, on libevent and without threads: names are looked up by c-ares
 * before libcurl is asked, so its own resolver, which would start some, has nothing to do.
 */
#ifndef WEIR_ALERT_SMTP_H
#define WEIR_ALERT_SMTP_H

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alert/mail_text.h"

enum { SMTP_CONNECT_S = 10 };

enum smtp_encryption { SMTP_PLAIN, SMTP_STARTTLS, SMTP_TLS };

struct smtp_server {
	const char *host; /* name or address */
	uint16_t port;
	uint8_t encryption;	     /* enum smtp_encryption */
	const char *user, *password; /* NULL: no AUTH */
	const char *ca;		     /* PEM: certificates that are trusted; NULL: the system's */
	unsigned timeout_s;	     /* of one try */
};

enum smtp_outcome {
	SMTP_TAKEN,   /* by the recipients whose answer is 2xx */
	SMTP_LATER,   /* not reached, 4xx, or who we are was not accepted */
	SMTP_REFUSED, /* 5xx */
	SMTP_UNSURE,  /* all was sent, the answer did not come */
};

struct smtp_result {
	enum smtp_outcome outcome;
	uint16_t answer[MAIL_RECIPIENTS_MAX]; /* to each recipient; 0: it was not asked for */
	char error[240];		      /* what the server said, clean; or "" */
};

struct smtp;
struct smtp_try;

struct smtp_mail {
	const char *helo; /* our name */
	const char *from;
	const char *const *to;
	unsigned to_count;
	const char *text;
	size_t length;
};

struct smtp *smtp_new(struct event_base *base); /* NULL: no memory */
void smtp_free(struct smtp *s);			/* after all tries; accepts NULL */

/* Called from the event loop, once; the try is gone then. */
typedef void (*smtp_done)(void *ctx, const struct smtp_result *result);

/* What it is given is copied. NULL: no memory, or one of it cannot be sent. */
struct smtp_try *smtp_try_new(struct smtp *s, const struct smtp_server *server,
	const struct smtp_mail *mail, smtp_done done, void *ctx);
void smtp_try_free(struct smtp_try *t); /* before it is done; done is not called */

#endif
