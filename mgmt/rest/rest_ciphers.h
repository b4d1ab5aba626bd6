/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_REST_REST_CIPHERS_H
#define WEIR_REST_REST_CIPHERS_H

#include "model/model.h"

/* util/clientssl-ciphers, util/serverssl-ciphers: the suites that a profile's ciphers stand for, as OpenSSL has them. */
void rest_ciphers(const char *command, const char *args, struct text *out);

#endif
