/* SPDX-License-Identifier: BSD-3-Clause */
#include "monitor/mon_tls.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>

#include "monitor/mon_text.h"

#define CERTIFICATES_MAX (64 * 1024) /* bytes of certificates that a server may send */

static BIO *field_open(const struct mon_monitor *m, enum mon_field field)
{
	return BIO_new_mem_buf(m->text[field], (int)m->length[field]);
}

/* A password would be asked for on the terminal; there is none. */
static int no_password(char *buf, int size, int writing, void *ctx)
{
	return -1;
}

static int certificate_use(struct mon_monitor *m, struct mon_fault *fault)
{
	BIO *in = field_open(m, MON_F_CERTIFICATE);
	X509 *leaf = in ? PEM_read_bio_X509(in, NULL, no_password, NULL) : NULL, *more;
	int good = leaf && SSL_CTX_use_certificate(m->tls, leaf) == 1;

	X509_free(leaf);
	while (good && (more = PEM_read_bio_X509(in, NULL, no_password, NULL)))
		good = SSL_CTX_add0_chain_cert(m->tls, more) == 1;
	BIO_free(in);
	if (!good)
		return mon_fault(fault, "certificate", "is no certificate in PEM form");
	in = field_open(m, MON_F_KEY);
	EVP_PKEY *key = in ? PEM_read_bio_PrivateKey(in, NULL, no_password, NULL) : NULL;
	good = key && SSL_CTX_use_PrivateKey(m->tls, key) == 1 &&
	       SSL_CTX_check_private_key(m->tls) == 1;
	EVP_PKEY_free(key);
	BIO_free(in);
	return good ? 0 : mon_fault(fault, "key", "is no key of that certificate, or encrypted");
}

static int authorities_use(struct mon_monitor *m, struct mon_fault *fault)
{
	BIO *in = field_open(m, MON_F_CA);
	X509_STORE *store = SSL_CTX_get_cert_store(m->tls);
	X509 *ca;
	int count = 0;

	while (in && (ca = PEM_read_bio_X509(in, NULL, no_password, NULL))) {
		count += X509_STORE_add_cert(store, ca) == 1;
		X509_free(ca);
	}
	BIO_free(in);
	return count ? 0 : mon_fault(fault, "ca", "has no certificate in PEM form");
}

int mon_tls_context(struct mon_monitor *m, struct mon_fault *fault)
{
	int rc = 0;

	m->tls = SSL_CTX_new(TLS_client_method());
	if (!m->tls)
		return mon_fault(fault, "", "no memory");
	SSL_CTX_set_mode(m->tls, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
					 SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_session_cache_mode(m->tls, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_max_cert_list(m->tls, CERTIFICATES_MAX);
	SSL_CTX_set_options(m->tls, SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
	if (m->length[MON_F_CIPHERLIST] &&
		SSL_CTX_set_cipher_list(m->tls, m->text[MON_F_CIPHERLIST]) != 1)
		rc = mon_fault(fault, "cipherlist", "names no cipher that there is");
	if (rc == 0 && m->length[MON_F_CERTIFICATE])
		rc = certificate_use(m, fault);
	if (rc == 0 && m->length[MON_F_CA])
		rc = authorities_use(m, fault);
	else if (rc == 0 && m->verify)
		SSL_CTX_set_default_verify_paths(m->tls);
	SSL_CTX_set_verify(m->tls, m->verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, NULL);
	ERR_clear_error();
	return rc;
}

void mon_tls_context_free(struct mon_monitor *m)
{
	SSL_CTX_free(m->tls);
	m->tls = NULL;
}

SSL *mon_tls_session(const struct mon_monitor *m, int fd)
{
	SSL *ssl = SSL_new(m->tls);
	int good = ssl && SSL_set_fd(ssl, fd) == 1;

	if (good && m->length[MON_F_SNI]) {
		good = SSL_set_tlsext_host_name(ssl, m->text[MON_F_SNI]) == 1;
		if (good && m->verify)
			good = SSL_set1_host(ssl, m->text[MON_F_SNI]) == 1;
	}
	if (!good) {
		SSL_free(ssl);
		return NULL;
	}
	SSL_set_connect_state(ssl);
	return ssl;
}

const char *mon_tls_error(SSL *ssl, char *out, size_t size)
{
	long verdict = SSL_get_verify_result(ssl);
	unsigned long error = ERR_get_error();
	const char *text = NULL;

	ERR_clear_error();
	if (verdict != X509_V_OK &&
		SSL_CTX_get_verify_mode(SSL_get_SSL_CTX(ssl)) != SSL_VERIFY_NONE)
		text = X509_verify_cert_error_string(verdict);
	else if (error)
		text = ERR_reason_error_string(error);
	snprintf(out, size, "TLS: %s", text ? text : "the server closed the connection");
	return out;
}
