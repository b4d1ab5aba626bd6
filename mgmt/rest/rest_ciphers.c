/* SPDX-License-Identifier: BSD-3-Clause */
#include "rest/rest_ciphers.h"

#include <openssl/ssl.h>
#include <string.h>

#define CIPHERS_MAX 1024u

static void put_suite(struct text *out, int row, const SSL_CIPHER *suite)
{
	const EVP_MD *digest = SSL_CIPHER_get_handshake_digest(suite);
	int mac = SSL_CIPHER_get_digest_nid(suite);
	int key = SSL_CIPHER_get_kx_nid(suite);

	text_printf(out, "%3d: %5u  %-32s %-5d %-8s %-12s %-10s %s\n", row,
		SSL_CIPHER_get_protocol_id(suite), SSL_CIPHER_get_name(suite),
		SSL_CIPHER_get_bits(suite, NULL), SSL_CIPHER_get_version(suite),
		OBJ_nid2sn(SSL_CIPHER_get_cipher_nid(suite)),
		mac != NID_undef ? OBJ_nid2sn(mac)
		: digest	 ? EVP_MD_get0_name(digest)
				 : "-",
		key != NID_undef ? OBJ_nid2sn(key) : "-");
}

static void put_suites(struct text *out, SSL_CTX *tls)
{
	STACK_OF(SSL_CIPHER) *suites = SSL_CTX_get_ciphers(tls);

	text_printf(out, "%3s  %5s  %-32s %-5s %-8s %-12s %-10s %s\n", "", "ID", "SUITE", "BITS",
		"PROT", "CIPHER", "MAC", "KEYX");
	for (int i = 0; i < sk_SSL_CIPHER_num(suites); i++)
		put_suite(out, i, sk_SSL_CIPHER_value(suites, i));
}

/* The word without its quotes. False: there is none, or more than one. */
static bool cipher_word(const char *args, char word[CIPHERS_MAX])
{
	static const char beside[] = " \t\"'";
	size_t n;

	args += strspn(args, beside);
	n = strcspn(args, beside);
	if (!n || n >= CIPHERS_MAX || args[n + strspn(args + n, beside)])
		return false;
	memcpy(word, args, n);
	word[n] = '\0';
	return true;
}

void rest_ciphers(const char *command, const char *args, struct text *out)
{
	char word[CIPHERS_MAX];
	SSL_CTX *tls;

	if (!cipher_word(args, word)) {
		text_printf(out, "Syntax: %s '<cipher-string>'\n", command);
		return;
	}
	tls = SSL_CTX_new(TLS_method());
	if (tls && SSL_CTX_set_cipher_list(tls, word) == 1)
		put_suites(out, tls);
	else
		text_printf(out, "Invalid ciphers: \"%s\" names no suite of OpenSSL\n", word);
	SSL_CTX_free(tls);
}
