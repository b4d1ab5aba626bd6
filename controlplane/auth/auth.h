/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who somebody is: tokens, passwords, and how fast wrong ones are looked at. All of it is in memory and bounded, and
 * knows users by the ids of their objects. Tokens and passwords are kept as digests under a key that is made at each
 * start. One thread, that of the event loop; passwords are checked by others, a few at a time.
 */
#ifndef WEIR_AUTH_AUTH_H
#define WEIR_AUTH_AUTH_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#define AUTH_TOKEN_LENGTH 26	  /* letters A-Z and digits 2-7: 130 bits */
#define AUTH_TOKENS_PER_USER 100u /* one more ends the oldest */
#define AUTH_TOKENS_MAX 20000u
#define AUTH_TOKEN_SECONDS 1200u
#define AUTH_TOKEN_SECONDS_MAX 36000u
#define AUTH_CHECKS_MAX 64u	  /* passwords that may wait to be checked */
#define AUTH_REMEMBER_SECONDS 60u /* a right password is not checked again */
#define AUTH_FREE_FAILURES 3u	  /* wrong passwords before the first delay */
#define AUTH_DELAY_MAX 60u	  /* s */

struct auth;

/* NULL: no memory or no randomness. */
struct auth *auth_new(struct event_base *base);
void auth_free(struct auth *a); /* NULL is accepted */

/* --- tokens --------------------------------------------------------------------------------------- */

struct auth_token {
	uint32_t user; /* id */
	char id[17];   /* names it where it must not stand itself */
	char address[64];
	uint64_t mark;			    /* of the user, as it was: see auth_tokens_keep */
	uint64_t created, updated, expires; /* ms since 1970 */
	uint32_t timeout;		    /* s */
};

/* Text of a new token into text; NULL: no randomness. The row is valid until the next call. */
const struct auth_token *auth_token_new(struct auth *a, uint32_t user, uint64_t mark,
	const char *address, char text[AUTH_TOKEN_LENGTH + 1]);

/* NULL: there is none, or its time is over. */
const struct auth_token *auth_token_find(struct auth *a, const char *text);
const struct auth_token *auth_token_by_id(struct auth *a, const char *id);

void auth_token_extend(struct auth *a, const struct auth_token *t, uint32_t seconds);
void auth_token_end(struct auth *a, const struct auth_token *t);

/* Oldest first: the first (before NULL), the next; NULL behind the last. */
const struct auth_token *auth_token_next(struct auth *a, const struct auth_token *before);

/* Ends the tokens of the user that do not have this mark, and forgets his password. Their number. */
unsigned auth_tokens_keep(struct auth *a, uint32_t user, uint64_t mark);

/* --- passwords ------------------------------------------------------------------------------------ */

struct auth_check;

/* fresh: the hash of the new password, if one was asked for and the old one is right; else NULL. */
typedef void (*auth_checked)(void *ctx, bool right, const char *fresh);

enum auth_admission {
	AUTH_RIGHT,   /* remembered: no check is needed */
	AUTH_WAIT,    /* checked will be called */
	AUTH_DELAYED, /* not looked at: *retry tells when the next is, in s */
	AUTH_BUSY,    /* too many wait */
};

struct auth_question {
	uint32_t user;	  /* id; ID_NONE: there is none */
	const char *name; /* as it was given */
	const char *hash; /* "": has none */
	const char *password;
	const char *address; /* text, may be "" */
	const char *fresh;   /* a new password that is to be hashed, or NULL */
};

/*
 * Checks the password of a user. Of one who does not exist or has none, it is wrong after the same time. Wrong ones
 * are counted for the name and the address. *check is set only with AUTH_WAIT, *retry with AUTH_DELAYED.
 */
enum auth_admission auth_check(struct auth *a, const struct auth_question *q, auth_checked checked,
	void *ctx, struct auth_check **check, unsigned *retry);

/* checked will not be called. */
void auth_check_cancel(struct auth *a, struct auth_check *check);

/* Wrong passwords in a row for this user from this address, and s until the next is looked at. */
unsigned auth_failures(struct auth *a, const char *name, const char *address, unsigned *retry);

#endif
