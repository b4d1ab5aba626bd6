/* SPDX-License-Identifier: BSD-3-Clause */
/* Where an HTTP answer ends. */
#ifndef WEIR_MONITOR_MON_HTTP_H
#define WEIR_MONITOR_MON_HTTP_H

#include <stdbool.h>
#include <stddef.h>

/*
 * True if bytes[length], the beginning of what came, hold a whole HTTP/1.x answer (RFC 9112, section 6: by length, by
 * chunks, or without a body). Answers that end with the connection, and what is no HTTP/1.x, are never
 * whole here.
 */
bool http_reply_whole(const char *bytes, size_t length);

#endif
