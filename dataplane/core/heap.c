/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/heap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_memory.h>

#define HUGE_PAGE (2ul << 20)
#define PAGE 4096ul

/* Copies the pages that exist; the others are zero in both. */
static int pages_copy(char *to, char *from, size_t length)
{
	size_t n = length / PAGE;
	unsigned char *resident = malloc(n);

	if (resident == NULL || mincore(from, length, resident) < 0) {
		free(resident);
		return -1;
	}
	for (size_t i = 0; i < n; i++)
		if (resident[i] & 1)
			memcpy(to + i * PAGE, from + i * PAGE, PAGE);
	free(resident);
	return 0;
}

static int replace(const struct rte_memseg_list *list, void *arg)
{
	char *base = list->base_va;
	size_t length = list->len, room = length + 2 * HUGE_PAGE;

	if (list->page_sz != PAGE || list->external)
		return 0;
	char *area = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED)
		return 0;
	/* The same place within a huge page as where it is going to lie. */
	char *fresh = area + (((uintptr_t)base - (uintptr_t)area) & (HUGE_PAGE - 1));
	if (madvise(fresh, length, MADV_HUGEPAGE) == 0 && pages_copy(fresh, base, length) == 0 &&
		mremap(fresh, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, base) == base) {
		*(size_t *)arg += length;
		/* What is left of the area around the hole. */
		munmap(fresh + length, room - (size_t)(fresh - area) - length);
		munmap(area, (size_t)(fresh - area));
	} else {
		munmap(area, room);
	}
	return 0;
}

size_t heap_use_huge_pages(void)
{
	size_t bytes = 0;

	rte_memseg_list_walk(replace, &bytes);
	return bytes;
}
