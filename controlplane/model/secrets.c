/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Secrets of objects: kept, shown and saved encrypted under the key of this machine, as "$W$1$" and the
 * base64 of nonce, ciphertext and tag (AES-256-GCM). Whoever reads the configuration cannot use them.
 */
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <stdio.h>

#include "model/model_internal.h"

#define MARK "$W$1$"
#define MARK_LENGTH (sizeof(MARK) - 1)

enum { NONCE = 12, TAG = 16, SECRET_MAX = 16384 };

static uint8_t key[MODEL_KEY_BYTES];
static bool key_made, key_is_machines;

void model_secret_key(const uint8_t machine_key[MODEL_KEY_BYTES])
{
	memcpy(key, machine_key, sizeof(key));
	key_made = key_is_machines = true;
}

/* Who has no machine's key, such as a check of a file, takes any. */
static bool key_ready(void)
{
	if (!key_made)
		key_made = RAND_bytes(key, sizeof(key)) == 1;
	return key_made;
}

bool secret_is_sealed(const char *text)
{
	return !strncmp(text, MARK, MARK_LENGTH);
}

static bool encrypt(const char *plain, size_t len, uint8_t *out)
{
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	uint8_t *body = out + NONCE;
	int n = 0, rest = 0;
	bool ok = ctx && RAND_bytes(out, NONCE) == 1 &&
		  EVP_EncryptInit_ex(ctx, EVP_aes_256_gcm(), NULL, key, out) == 1 &&
		  EVP_EncryptUpdate(ctx, body, &n, (const uint8_t *)plain, (int)len) == 1 &&
		  EVP_EncryptFinal_ex(ctx, body + n, &rest) == 1 &&
		  EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_GET_TAG, TAG, body + len) == 1;

	EVP_CIPHER_CTX_free(ctx);
	return ok;
}

static bool decrypt(const uint8_t *sealed, size_t len, uint8_t *out)
{
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	const uint8_t *body = sealed + NONCE;
	int n = 0, rest = 0;
	bool ok = ctx && EVP_DecryptInit_ex(ctx, EVP_aes_256_gcm(), NULL, key, sealed) == 1 &&
		  EVP_DecryptUpdate(ctx, out, &n, body, (int)len) == 1 &&
		  EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_TAG, TAG, (void *)(body + len)) == 1 &&
		  EVP_DecryptFinal_ex(ctx, out + n, &rest) == 1;

	EVP_CIPHER_CTX_free(ctx);
	return ok;
}

char *secret_seal(const char *plain)
{
	size_t len = strlen(plain), bytes = NONCE + len + TAG;
	uint8_t *raw = len <= SECRET_MAX && key_ready() ? malloc(bytes) : NULL;
	char *out = raw ? malloc(MARK_LENGTH + (bytes + 2) / 3 * 4 + 1) : NULL;

	if (out && encrypt(plain, len, raw)) {
		memcpy(out, MARK, MARK_LENGTH);
		EVP_EncodeBlock((uint8_t *)out + MARK_LENGTH, raw, (int)bytes);
	} else {
		free(out);
		out = NULL;
	}
	free(raw);
	return out;
}

/* Bytes of base64 text, which is longer than raw; -1 if it is none. */
static int decode(const char *text, size_t len, uint8_t *raw)
{
	int n = len % 4 ? -1 : EVP_DecodeBlock(raw, (const uint8_t *)text, (int)len);

	for (size_t i = len; n > 0 && i > len - 2 && text[i - 1] == '='; i--)
		n--;
	return n;
}

char *secret_open(const char *sealed)
{
	size_t len = secret_is_sealed(sealed) ? strlen(sealed) - MARK_LENGTH : 0;
	uint8_t *raw = len && len <= 2 * SECRET_MAX && key_ready() ? malloc(len) : NULL;
	int bytes = raw ? decode(sealed + MARK_LENGTH, len, raw) : -1;
	char *out = bytes >= NONCE + TAG ? calloc(1, (size_t)bytes) : NULL;

	if (out && !decrypt(raw, (size_t)bytes - NONCE - TAG, (uint8_t *)out)) {
		free(out);
		out = NULL;
	}
	free(raw);
	return out;
}

void secret_free(char *plain)
{
	if (plain)
		explicit_bzero(plain, strlen(plain));
	free(plain);
}

int secret_parse(struct model *m, const char *text, uint32_t *handle, char *reason, size_t size)
{
	bool sealed = secret_is_sealed(text);
	char *other = !*text ? NULL : sealed ? secret_open(text) : secret_seal(text);
	int rc = 0;

	/* the store came from this machine; it is taken also when its key was lost */
	if (sealed && !other && key_is_machines && !m->internal)
		rc = -EINVAL;
	else if (!sealed && *text && !other)
		rc = -ENOMEM;
	if (rc)
		snprintf(reason, size, "%s",
			rc == -ENOMEM ? "cannot be encrypted"
				      : "was encrypted by another machine: give it in plain text");
	else if (sealed || !*text)
		*handle = strings_get(&m->strings, text, strlen(text));
	else
		*handle = strings_get(&m->strings, other, strlen(other));
	secret_free(other);
	return rc;
}

bool secret_same(const char *sealed, const char *other)
{
	char *a = secret_open(sealed), *b = secret_open(other);
	bool same = a && b && !strcmp(a, b);

	secret_free(a);
	secret_free(b);
	return same;
}

/* ---- words of people ---- */

bool model_names_secret(const char *word)
{
	for (unsigned kind = 0; kind < MODEL_KINDS; kind++)
		for (unsigned i = 0; i < model_kinds[kind].field_count; i++) {
			const struct field *f = &model_kinds[kind].fields[i];
			if ((f->class == FIELD_SECRET || f->password || f->hash) &&
				!strcmp(f->name, word))
				return true;
		}
	return false;
}

void model_mask_secrets(const char *text, struct text *out)
{
	const char *done = text;
	struct lexer lex;
	bool secret = false;
	enum token_type token;

	lexer_init(&lex, text, strlen(text));
	while ((token = lexer_next(&lex)) != TOKEN_END && token != TOKEN_BAD) {
		if (secret && token == TOKEN_WORD)
			text_printf(out, " ***");
		else
			text_add(out, done, (size_t)(lex.text - done));
		/* what stands for a secret may be a word for the next one: an object of that name */
		secret = token == TOKEN_WORD && model_names_secret(lex.word.data);
		done = lex.text;
	}
	lexer_fini(&lex);
}
