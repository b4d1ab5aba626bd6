/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * snapshot_check must refuse or accept any bytes without reading outside them. The magic and checksum
 * are mended on a second round, so that the input reaches the rules; what is accepted is then walked as
 * the dataplane would.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/snapshot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static volatile uint64_t sink;

static void walk(const struct snap_header *h)
{
	const struct snap_member *m = SNAP_ROWS(h, SNAP_MEMBER, struct snap_member);
	const struct snap_node *n = SNAP_ROWS(h, SNAP_NODE, struct snap_node);
	const struct snap_virtual *v = SNAP_ROWS(h, SNAP_VIRTUAL, struct snap_virtual);
	const struct snap_vaddr *a = SNAP_ROWS(h, SNAP_VADDR, struct snap_vaddr);
	const struct snap_pool *p = SNAP_ROWS(h, SNAP_POOL, struct snap_pool);

	for (uint32_t i = 0; i < SNAP_COUNT(h, SNAP_MEMBER); i++)
		sink += n[m[i].node].id + p[m[i].pool].id;
	for (uint32_t i = 0; i < SNAP_COUNT(h, SNAP_VIRTUAL); i++) {
		sink += a[v[i].vaddr].id;
		for (uint32_t j = 0; v[i].pool != SNAP_NIL && j < p[v[i].pool].members; j++)
			sink += m[p[v[i].pool].first_member + j].id;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct snap_header *h = malloc(len ? len : 1);
	char reason[200];

	if (!h)
		return 0;
	memcpy(h, data, len);
	if (snapshot_check(h, len, reason, sizeof(reason)) == 0)
		walk(h);
	if (len >= sizeof(*h)) {
		h->magic = SNAP_MAGIC;
		h->length = len;
		h->checksum = snapshot_checksum(h + 1, len - sizeof(*h));
		if (snapshot_check(h, len, reason, sizeof(reason)) == 0)
			walk(h);
	}
	free(h);
	return 0;
}
