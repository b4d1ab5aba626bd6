/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_MAIN_MGMT_PRIVILEGES_H
#define WEIR_MAIN_MGMT_PRIVILEGES_H

#include "base/rights.h"

/* Makes a directory of the user's own (mode 0700) if it is missing. 0 or -errno, said. */
int mgmt_privileges_directory(const char *path, const struct identity *id);

/* Becomes the user; no capabilities, no core. Ports below 1024 must have been opened. 0 or -errno, said. */
int mgmt_privileges_drop(const struct identity *id);

/*
 * What weir-mgmt never does, whatever a client makes of it: start a program or process, listen, speak to anything
 * but Unix sockets. 0 or -errno, said.
 */
int mgmt_privileges_lock(void);

#endif
