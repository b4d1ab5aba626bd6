/* SPDX-License-Identifier: BSD-3-Clause */
/* Tokens: who has one is its user, until its time is over. Only digests are kept. */
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/auth_internal.h"
#include "base/clock.h"

static unsigned bucket_of(const uint8_t *digest)
{
	return (digest[0] | (unsigned)digest[1] << 8) % TOKEN_BUCKETS;
}

static void token_free(struct auth *a, struct token *t)
{
	TAILQ_REMOVE(&a->tokens, t, entry);
	LIST_REMOVE(t, same);
	a->token_count--;
	free(t);
}

void tokens_free(struct auth *a)
{
	while (!TAILQ_EMPTY(&a->tokens))
		token_free(a, TAILQ_FIRST(&a->tokens));
}

/* Ends those whose time is over, and of a user who has as many as he may, the oldest. */
static void make_room(struct auth *a, uint32_t user)
{
	uint64_t now = clock_ns();
	struct token *t, *next, *oldest = NULL;
	unsigned count = 0;

	for (t = TAILQ_FIRST(&a->tokens); t; t = next) {
		next = TAILQ_NEXT(t, entry);
		if (t->end_ns <= now) {
			token_free(a, t);
			continue;
		}
		if (t->t.user != user)
			continue;
		count++;
		if (!oldest)
			oldest = t;
	}
	if (count >= AUTH_TOKENS_PER_USER)
		token_free(a, oldest);
	else if (a->token_count >= AUTH_TOKENS_MAX)
		token_free(a, TAILQ_FIRST(&a->tokens));
}

static bool token_text(char text[AUTH_TOKEN_LENGTH + 1])
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
	uint8_t random[AUTH_TOKEN_LENGTH];

	if (RAND_bytes(random, sizeof(random)) != 1)
		return false;
	for (unsigned i = 0; i < AUTH_TOKEN_LENGTH; i++)
		text[i] = letters[random[i] % 32];
	text[AUTH_TOKEN_LENGTH] = '\0';
	explicit_bzero(random, sizeof(random));
	return true;
}

static void digest_of(const struct auth *a, const char *text, uint8_t digest[DIGEST])
{
	const char *const texts[] = {"token", text};

	digest_texts(a, texts, 2, digest);
}

static void token_times(struct token *t, uint32_t seconds)
{
	t->t.timeout = seconds;
	t->t.updated = now_ms();
	t->t.expires = t->t.updated + seconds * 1000ull;
	t->end_ns = clock_ns() + seconds * 1000000000ull;
}

const struct auth_token *auth_token_new(struct auth *a, uint32_t user, uint64_t mark,
	const char *address, char text[AUTH_TOKEN_LENGTH + 1])
{
	struct token *t;

	make_room(a, user);
	t = calloc(1, sizeof(*t));
	if (!t || !token_text(text)) {
		free(t);
		return NULL;
	}
	t->t.user = user;
	t->t.mark = mark;
	snprintf(t->t.address, sizeof(t->t.address), "%s", address);
	digest_of(a, text, t->digest);
	for (unsigned i = 0; i < 8; i++)
		sprintf(t->t.id + 2 * i, "%02x", t->digest[i]);
	token_times(t, AUTH_TOKEN_SECONDS);
	t->t.created = t->t.updated;
	TAILQ_INSERT_TAIL(&a->tokens, t, entry);
	LIST_INSERT_HEAD(&a->bucket[bucket_of(t->digest)], t, same);
	a->token_count++;
	return &t->t;
}

/* NULL instead of one whose time is over, which ends. */
static const struct auth_token *alive(struct auth *a, struct token *t)
{
	if (t->end_ns > clock_ns())
		return &t->t;
	token_free(a, t);
	return NULL;
}

const struct auth_token *auth_token_find(struct auth *a, const char *text)
{
	uint8_t digest[DIGEST];
	struct token *t;

	digest_of(a, text, digest);
	LIST_FOREACH(t, &a->bucket[bucket_of(digest)], same)
	if (digest_same(t->digest, digest))
		return alive(a, t);
	return NULL;
}

/* An id is the beginning of a digest. */
const struct auth_token *auth_token_by_id(struct auth *a, const char *id)
{
	uint8_t start[2];
	struct token *t;

	if (sscanf(id, "%2hhx%2hhx", &start[0], &start[1]) != 2)
		return NULL;
	LIST_FOREACH(t, &a->bucket[bucket_of(start)], same)
	if (!strcmp(t->t.id, id))
		return alive(a, t);
	return NULL;
}

void auth_token_extend(struct auth *a, const struct auth_token *t, uint32_t seconds)
{
	token_times((struct token *)t, seconds);
}

void auth_token_end(struct auth *a, const struct auth_token *t)
{
	token_free(a, (struct token *)t);
}

const struct auth_token *auth_token_next(struct auth *a, const struct auth_token *before)
{
	struct token *t =
		before ? TAILQ_NEXT((struct token *)before, entry) : TAILQ_FIRST(&a->tokens);
	uint64_t now = clock_ns();

	while (t && t->end_ns <= now)
		t = TAILQ_NEXT(t, entry);
	return t ? &t->t : NULL;
}

unsigned auth_tokens_keep(struct auth *a, uint32_t user, uint64_t mark)
{
	struct token *t, *next;
	unsigned ended = 0;

	for (t = TAILQ_FIRST(&a->tokens); t; t = next) {
		next = TAILQ_NEXT(t, entry);
		if (t->t.user != user || t->t.mark == mark)
			continue;
		token_free(a, t);
		ended++;
	}
	for (unsigned i = 0; i < REMEMBERED; i++)
		if (a->remembered[i].user == user)
			explicit_bzero(&a->remembered[i], sizeof(a->remembered[i]));
	return ended;
}
