/* SPDX-License-Identifier: BSD-3-Clause */
/* Snapshots by hand, for unit tests and benchmarks. */
#ifndef WEIR_API_TEST_SNAPSHOT_H
#define WEIR_API_TEST_SNAPSHOT_H

#include <stdlib.h>

#include "api/message.h"
#include "api/snapshot.h"
#include "base/check.h"

#define TEST_ROW(h, kind, type, i) ((type *)((char *)(h) + (h)->tables[kind].offset) + (i))

static const struct snap_live test_live = {.ratio = 1, .dynamic_ratio = 1, .avail = LIVE_BITS};

static inline struct ip_addr test_addr(const char *text)
{
	struct ip_addr a;
	CHECK(ip_parse(text, &a) == 0);
	return a;
}

/* Room for the rows, all zero but the settings; generation 1. */
static inline struct snap_header *test_snapshot_new(const uint32_t counts[SNAP_KINDS])
{
	struct snap_header head;
	uint64_t length = snapshot_layout(&head, counts);
	struct snap_header *h = calloc(1, length);

	CHECK(h != NULL && counts[SNAP_SETTINGS] == 1);
	*h = head;
	h->generation = 1;
	*TEST_ROW(h, SNAP_SETTINGS, struct snap_settings, 0) =
		(struct snap_settings){.auto_lasthop = 1,
			.reset_unmatched = 1,
			.arp_timeout = 300,
			.arp_retries = 3,
			.maximum_arp = 2048};
	return h;
}

/* Sums it up and checks it as weir-dp would. */
static inline void test_snapshot_seal(struct snap_header *h)
{
	char reason[256] = "";

	h->checksum = snapshot_checksum(h + 1, h->length - sizeof(*h));
	if (snapshot_check(h, h->length, reason, sizeof(reason)) < 0) {
		fprintf(stderr, "snapshot: %s\n", reason);
		abort();
	}
}

#endif
