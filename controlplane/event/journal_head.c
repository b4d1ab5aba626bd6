/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/journal_internal.h"
#include "store/atomic_file.h"

static void head_mac(const uint8_t key[JOURNAL_KEY_BYTES], const struct journal_head *head,
	char out[EVENT_HASH_TEXT])
{
	unsigned char digest[EVP_MAX_MD_SIZE] = {0};
	char text[160];
	unsigned length = 0;

	snprintf(text, sizeof(text), "journal head %" PRIu64 " %" PRIu64 " %s", head->first,
		head->seq, head->hash);
	HMAC(EVP_sha256(), key, JOURNAL_KEY_BYTES, (unsigned char *)text, strlen(text), digest,
		&length);
	for (int i = 0; i < 32; i++)
		snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

static bool head_parse(const char *data, size_t length, struct journal_head *head, char *mac)
{
	json_t *json = json_loadb(data, length, 0, NULL);
	json_int_t first = 0, seq = 0;
	const char *hash = NULL, *is = NULL;
	bool ok = json_unpack(json, "{s:I,s:I,s:s,s:s}", "first", &first, "seq", &seq, "hash",
			  &hash, "mac", &is) == 0 &&
		  strlen(hash) == EVENT_HASH_TEXT - 1 && strlen(is) == EVENT_HASH_TEXT - 1;

	if (ok) {
		*head = (struct journal_head){.first = (uint64_t)first, .seq = (uint64_t)seq};
		memcpy(head->hash, hash, EVENT_HASH_TEXT);
		memcpy(mac, is, EVENT_HASH_TEXT);
	}
	json_decref(json);
	return ok;
}

int journal_head_read(const struct journal_store *s, struct journal_head *head)
{
	char path[4096], is[EVENT_HASH_TEXT] = "", mac[EVENT_HASH_TEXT];
	char *data;
	size_t length;

	*head = (struct journal_head){0};
	snprintf(path, sizeof(path), "%s/head", s->folder);
	int rc = file_read(path, &data, &length);
	if (rc)
		return rc;
	bool ok = head_parse(data, length, head, is);
	free(data);
	if (ok) {
		head_mac(s->key, head, mac);
		ok = CRYPTO_memcmp(mac, is, EVENT_HASH_TEXT) == 0;
	}
	if (!ok)
		*head = (struct journal_head){0};
	return ok ? 0 : -EBADMSG;
}

int journal_head_write(
	const char *folder, const uint8_t key[JOURNAL_KEY_BYTES], const struct journal_head *head)
{
	char path[4096], text[400], mac[EVENT_HASH_TEXT];

	head_mac(key, head, mac);
	int n = snprintf(text, sizeof(text),
		"{\"first\":%" PRIu64 ",\"seq\":%" PRIu64 ",\"hash\":\"%s\",\"mac\":\"%s\"}\n",
		head->first, head->seq, head->hash, mac);
	snprintf(path, sizeof(path), "%s/head", folder);
	return file_replace(path, text, (size_t)n, 0600);
}
