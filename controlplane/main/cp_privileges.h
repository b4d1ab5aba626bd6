/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WEIR_MAIN_CP_PRIVILEGES_H
#define WEIR_MAIN_CP_PRIVILEGES_H

/*
 * The one place where weir-cp gives up what it needs no more. What stays: the user it was started as,
 * and CAP_NET_ADMIN for taps, addresses and routes. 0 or -errno.
 */
int privileges_drop(void);

#endif
