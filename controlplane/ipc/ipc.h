/* SPDX-License-Identifier: BSD-3-Clause */
/* Client's side of weir-cp's local socket; the messages are described in docs/local-api.md. Blocking. */
#ifndef WEIR_IPC_IPC_H
#define WEIR_IPC_IPC_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#define IPC_SOCKET_NAME "cp.sock" /* within the run directory */
#define IPC_FRAME_MAX (64u << 20) /* bytes of JSON in a frame */
#define IPC_API_VERSION 1

/*
 * Connects to the socket at path. Waits for an answer are limited to timeout_ms, 0 = never.
 * The descriptor, or -errno (-ENOENT, -ECONNREFUSED: weir-cp does not run).
 */
int ipc_connect(const char *path, unsigned timeout_ms);

/* Sends one message. 0, or -errno: -EPIPE the peer is gone, -EMSGSIZE too large, -EINVAL not JSON. */
int ipc_send(int fd, const json_t *message);

/*
 * Receives the next message; the caller owns *message. 0, or -errno: -EPIPE the peer closed,
 * -EAGAIN nothing came in time, -EPROTO what came is no message.
 */
int ipc_receive(int fd, json_t **message);

/* Text of any bytes as JSON: a string, or {"bytes": ...} where it is not UTF-8. NULL: no memory. */
json_t *ipc_text_new(const char *bytes, size_t length);

/*
 * The bytes of either form, NUL-terminated, to be freed; *length, if not NULL, gets their number.
 * NULL: value is neither, or has a NUL, or no memory.
 */
char *ipc_text_get(const json_t *value, size_t *length);

/* A member that is a string, or ""; valid as long as object. */
const char *ipc_string(const json_t *object, const char *member);

#endif
