/* SPDX-License-Identifier: BSD-3-Clause */
/* Is a message from weir-cp well-formed? Everything about it that needs no other state. */
#ifndef WEIR_MAIN_MESSAGE_CHECK_H
#define WEIR_MAIN_MESSAGE_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "api/message.h"

/* message: length bytes as received, 8-byte aligned; descriptors: how many came with it. 0, or -EINVAL
 * with a sentence in reason. */
int message_check(
	const void *message, size_t length, unsigned descriptors, char *reason, size_t reason_size);

#endif
