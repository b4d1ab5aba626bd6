/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_MONITOR_MON_PRIVILEGES_H
#define WEIR_MONITOR_MON_PRIVILEGES_H

#include "base/rights.h"

/*
 * The one place where weir-mon gives up what it needs no more: it becomes the user, keeps no capability but
 * CAP_NET_RAW (SO_MARK of transparent monitors), starts no programs, leaves no core. 0 or -errno, said.
 */
int privileges_drop(const struct identity *id);

#endif
