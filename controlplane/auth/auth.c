/* SPDX-License-Identifier: BSD-3-Clause */
#include "auth/auth.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "auth/auth_internal.h"

uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* Of the digests of each, so that "ab" "c" is not "a" "bc". */
void digest_texts(
	const struct auth *a, const char *const *text, unsigned count, uint8_t out[DIGEST])
{
	uint8_t part[2 * DIGEST] = {0};
	unsigned length;

	for (unsigned i = 0; i < count; i++) {
		HMAC(EVP_sha256(), a->key, sizeof(a->key), (const uint8_t *)text[i],
			strlen(text[i]), part + DIGEST, &length);
		HMAC(EVP_sha256(), a->key, sizeof(a->key), part, sizeof(part), part, &length);
	}
	memcpy(out, part, DIGEST);
	explicit_bzero(part, sizeof(part));
}

bool digest_same(const uint8_t a[DIGEST], const uint8_t b[DIGEST])
{
	return CRYPTO_memcmp(a, b, DIGEST) == 0;
}

struct auth *auth_new(struct event_base *base)
{
	struct auth *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	TAILQ_INIT(&a->tokens);
	TAILQ_INIT(&a->failures);
	if (checks_init(a, base) || RAND_bytes(a->key, sizeof(a->key)) != 1) {
		auth_free(a);
		return NULL;
	}
	return a;
}

void auth_free(struct auth *a)
{
	if (!a)
		return;
	checks_free(a);
	tokens_free(a);
	failures_free(a);
	explicit_bzero(a, sizeof(*a));
	free(a);
}
