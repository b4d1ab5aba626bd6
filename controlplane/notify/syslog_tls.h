/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_NOTIFY_SYSLOG_TLS_H
#define WEIR_NOTIFY_SYSLOG_TLS_H

#include <jansson.h>
#include <openssl/ssl.h>

/* From "ca", "certificate" and "key" (PEM) of the settings. NULL: *reason says why. */
SSL_CTX *syslog_tls_context(const json_t *settings, const char **reason);

/* A connection to this host, whose certificate must be for it. NULL: no memory. */
SSL *syslog_tls_new(SSL_CTX *context, const char *host);

/* Why the handshake failed. */
void syslog_tls_reason(SSL *tls, unsigned long error, char *out, size_t size);

#endif
