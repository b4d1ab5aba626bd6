/* SPDX-License-Identifier: BSD-3-Clause */
/* What each field of a snapshot's rows may hold, as tables that snapshot_check walks. Used in api/ only. */
#ifndef WEIR_API_SNAPSHOT_RULES_H
#define WEIR_API_SNAPSHOT_RULES_H

#include "api/snapshot.h"

enum snap_rule_type {
	RULE_ADDR,  /* 16 bytes, any value */
	RULE_RANGE, /* min..max */
	RULE_ZERO,  /* size reserved bytes */
	RULE_ID,    /* id whose slot nobody else has */
	RULE_REF,   /* row of table `max`; SNAP_NIL if min is 1 */
	RULE_SPAN, /* first and count: rows of table `max`, tiled without gap in order of the owners */
	RULE_NAME, /* SNAP_NAME_MAX bytes of printable text with a NUL, padded with NUL */
	RULE_PREFIX, /* bits of the address at offset min; if max is 1 the host part of that is zero */
};

struct snap_rule {
	const char *name;
	uint16_t offset;
	uint8_t size, type;
	uint64_t min, max;
};

/* Rules of each kind's rows; the last one has no name. */
extern const struct snap_rule *const snap_rules[SNAP_KINDS];

extern const char *const snap_kind_name[SNAP_KINDS];

#endif
