/* SPDX-License-Identifier: BSD-3-Clause */
/* TLS of the https types: contexts of monitors. */
#ifndef WEIR_MONITOR_MON_TLS_H
#define WEIR_MONITOR_MON_TLS_H

#include <openssl/ssl.h>

#include "monitor/mon_config.h"

/* Makes m->tls from its fields. 0, or -EINVAL with the fault set. */
int mon_tls_context(struct mon_monitor *m, struct mon_fault *fault);
void mon_tls_context_free(struct mon_monitor *m);

/* A client's session on a connected socket, or NULL. */
SSL *mon_tls_session(const struct mon_monitor *m, int fd);

/* What OpenSSL last complained about, as one line in out[size]. */
const char *mon_tls_error(SSL *ssl, char *out, size_t size);

#endif
