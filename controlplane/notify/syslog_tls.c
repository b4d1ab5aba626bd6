/* SPDX-License-Identifier: BSD-3-Clause */
/* RFC 5425: the server is known by a certificate for its name or address, we by ours, if we have one. */
#include "notify/syslog_tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static BIO *text_open(const json_t *settings, const char *name)
{
	const char *text = json_string_value(json_object_get(settings, name));

	return text && *text ? BIO_new_mem_buf(text, -1) : NULL;
}

static bool ca_take(SSL_CTX *context, const json_t *settings)
{
	BIO *in = text_open(settings, "ca");
	unsigned count = 0;
	X509 *one;

	if (!in)
		return SSL_CTX_set_default_verify_paths(context) == 1;
	while ((one = PEM_read_bio_X509(in, NULL, NULL, NULL))) {
		count += X509_STORE_add_cert(SSL_CTX_get_cert_store(context), one) == 1;
		X509_free(one);
	}
	BIO_free(in);
	return count > 0;
}

static bool certificate_take(SSL_CTX *context, const json_t *settings)
{
	BIO *in = text_open(settings, "certificate");
	X509 *own, *chain;

	if (!in)
		return true;
	own = PEM_read_bio_X509(in, NULL, NULL, NULL);
	bool good = own && SSL_CTX_use_certificate(context, own) == 1;
	while (good && (chain = PEM_read_bio_X509(in, NULL, NULL, NULL)))
		good = SSL_CTX_add0_chain_cert(context, chain) == 1;
	X509_free(own);
	BIO_free(in);
	return good;
}

static bool key_take(SSL_CTX *context, const json_t *settings)
{
	BIO *in = text_open(settings, "key");
	EVP_PKEY *key;

	if (!in)
		return true;
	key = PEM_read_bio_PrivateKey(in, NULL, NULL, "");
	bool good = key && SSL_CTX_use_PrivateKey(context, key) == 1 &&
		    SSL_CTX_check_private_key(context) == 1;
	EVP_PKEY_free(key);
	BIO_free(in);
	return good;
}

SSL_CTX *syslog_tls_context(const json_t *settings, const char **reason)
{
	SSL_CTX *context = SSL_CTX_new(TLS_client_method());

	*reason = NULL;
	if (!context)
		*reason = "no memory";
	else if (!ca_take(context, settings))
		*reason = "ca-file: has no certificate";
	else if (!certificate_take(context, settings))
		*reason = "certificate: is none";
	else if (!key_take(context, settings))
		*reason = "key: is none, has a passphrase, or is not the certificate's";
	ERR_clear_error();
	if (*reason) {
		SSL_CTX_free(context);
		return NULL;
	}
	SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
	SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
	return context;
}

SSL *syslog_tls_new(SSL_CTX *context, const char *host)
{
	SSL *tls = SSL_new(context);

	if (!tls)
		return NULL;
	if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), host) == 1)
		return tls;
	ERR_clear_error();
	if (SSL_set1_host(tls, host) == 1 && SSL_set_tlsext_host_name(tls, host) == 1)
		return tls;
	SSL_free(tls);
	return NULL;
}

void syslog_tls_reason(SSL *tls, unsigned long error, char *out, size_t size)
{
	long verified = SSL_get_verify_result(tls);
	const char *why = error ? ERR_reason_error_string(error) : NULL;

	if (verified != X509_V_OK)
		snprintf(out, size, "its certificate: %s", X509_verify_cert_error_string(verified));
	else
		snprintf(out, size, "TLS: %s", why ? why : "the server closed the connection");
}
