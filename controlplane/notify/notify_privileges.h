/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_NOTIFY_NOTIFY_PRIVILEGES_H
#define WEIR_NOTIFY_NOTIFY_PRIVILEGES_H

#include "base/rights.h"

/* Makes the folder of places and gives it to the user. 0 or -errno, said. */
int notify_state_dir(const char *path, const struct identity *id);

/*
 * The one place where weir-notify gives up what it needs no more: it becomes the user, keeps no capability, starts no
 * programs, leaves no core. 0 or -errno, said.
 */
int notify_privileges_drop(const struct identity *id);

#endif
