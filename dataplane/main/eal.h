/* SPDX-License-Identifier: BSD-3-Clause */
/* Start of DPDK: memory, cores, nothing on disk outside the run directory. */
#ifndef WEIR_MAIN_EAL_H
#define WEIR_MAIN_EAL_H

#include "main/options.h"

/* Packet buffers that o's ports and workers need. */
unsigned eal_mbufs(const struct options *o);

/* MB of heap for buffers and flow tables. */
unsigned eal_memory(const struct options *o);

/* DPDK lcore of worker index. The control thread is lcore 0. */
unsigned eal_lcore(unsigned worker);

/* 0 or -errno, logged. */
int eal_start(const struct options *o);
void eal_stop(const struct options *o);

#endif
