/* SPDX-License-Identifier: BSD-3-Clause */
/* The server's certificate: files server.crt and server.key (PEM) of one directory. One for the process. */
#ifndef WEIR_HTTP_HTTP_TLS_H
#define WEIR_HTTP_HTTP_TLS_H

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <stddef.h>

#define HTTP_TLS_CERTIFICATE "server.crt" /* the server's first, then its chain */
#define HTTP_TLS_KEY "server.key"

/* GnuTLS's words for what is spoken: TLS 1.2 and 1.3 with forward secrecy and authenticated encryption. */
extern const char http_tls_priorities[];

/*
 * Reads the pair in directory; new connections get it from then on, those that are open keep theirs. 0, or
 * -errno with *why* saying what is wrong: then the one before stays. Callable from any thread.
 */
int http_tls_load(const char *directory, char *why, size_t size);

/*
 * Makes a pair in directory if that has no certificate: ECDSA P-256, signed by itself, for this host's name, its
 * addresses and localhost. 0 or -errno with *why*.
 */
int http_tls_make(const char *directory, char *why, size_t size);

/* Forgets the pair. */
void http_tls_unload(void);

/* For MHD_OPTION_HTTPS_CERT_CALLBACK2: the pair for one handshake. */
int http_tls_pair(gnutls_session_t session, const struct gnutls_cert_retr_st *info,
	gnutls_pcert_st **certificates, unsigned *count, gnutls_ocsp_data_st **ocsp,
	unsigned *ocsp_count, gnutls_privkey_t *key, unsigned *flags);

#endif
