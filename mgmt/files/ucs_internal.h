/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_FILES_UCS_INTERNAL_H
#define WEIR_FILES_UCS_INTERNAL_H

#include <stdbool.h>

#include "files/ucs.h"

#define UCS_PRODUCT "Weir"
#define UCS_FORMAT 1
#define UCS_MANIFEST "manifest.json"
#define UCS_CONF "weir.conf"
#define UCS_MANIFEST_MAX 65536u
#define UCS_DIGEST_TEXT 65 /* SHA-256 in hexadecimal, with its NUL */

bool ucs_digest(const void *data, size_t length, char text[UCS_DIGEST_TEXT]);

#endif
