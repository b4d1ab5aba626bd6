/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one place where weir-dp gives up privileges: after ports and memory are set up and the control
 * socket is there, before the first packet. Nothing that follows needs any: sockets of the ports are
 * open, taps are attached to by their owner, and the kernel asks for no capability to use either.
 */
#ifndef WEIR_MAIN_PRIVILEGES_H
#define WEIR_MAIN_PRIVILEGES_H

#include "base/rights.h"

/* Becomes id, without capabilities, without a way to get new ones, and with the system calls of normal
 * service only; all threads. 0 or -errno, logged. */
int privileges_drop(const struct identity *id);

#endif
