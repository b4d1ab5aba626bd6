/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of the DPDK heap. */
#ifndef WEIR_CORE_HEAP_H
#define WEIR_CORE_HEAP_H

#include <stddef.h>

/*
 * Puts memory that transparent huge pages may back in the place of the heap's ordinary pages: without
 * hugetlbfs every access to a large flow table costs a TLB miss otherwise. To be called right after
 * rte_eal_init with --no-huge, before devices are opened or threads run. Returns the bytes replaced; where
 * the kernel refuses, the heap stays as it was.
 */
size_t heap_use_huge_pages(void);

#endif
