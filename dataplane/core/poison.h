/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * AddressSanitizer for packet buffers, which it does not know by itself (sanitizer build only): a free
 * buffer is poisoned as a whole, of one in use only header, private area and data may be touched.
 */
#ifndef WEIR_CORE_POISON_H
#define WEIR_CORE_POISON_H

#include <rte_mbuf.h>

#ifdef WEIR_SANITIZE

/* Makes the data of every segment accessible, and nothing around it. After data moved. */
void poison_window(struct rte_mbuf *m);

/* Makes whole buffers accessible, for who writes past the data (drivers). */
void poison_open(struct rte_mbuf *m);

#else

static inline void poison_window(struct rte_mbuf *m) {}

static inline void poison_open(struct rte_mbuf *m) {}

#endif

/* A pool of buffers (room: headroom included) whose free buffers are poisoned in the sanitizer build;
 * an ordinary one else. */
struct rte_mempool *poison_pool_new(const char *name, unsigned n, unsigned cache, uint16_t room);
void poison_pool_free(struct rte_mempool *pool);

#endif
