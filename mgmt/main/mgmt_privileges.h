/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_MAIN_MGMT_PRIVILEGES_H
#define WEIR_MAIN_MGMT_PRIVILEGES_H

#include "base/rights.h"

/* Makes a directory of the user's own (mode 0700) if it is missing. 0 or -errno, said. */
int mgmt_privileges_directory(const char *path, const struct identity *id);

#endif
