/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects to snapshot: names and policy end here, the dataplane sees rows and ids. */
#ifndef WEIR_COMPILE_COMPILE_H
#define WEIR_COMPILE_COMPILE_H

#include <stdbool.h>
#include <stddef.h>

#include "api/message.h"
#include "api/snapshot.h"
#include "model/model.h"
#include "state/verdicts.h"

/*
 * Writes the model's configuration as a snapshot into a new memory file, sealed against any change.
 * Rows follow the order of paths, a pool's members the order of address and port. origin: the running
 * store's. verdicts: may be NULL. Returns the descriptor; -ENOMEM, -E2BIG (beyond SNAP_LENGTH_MAX) or another -errno.
 */
int compile_snapshot(const struct model *m, const struct verdicts *verdicts, uint64_t origin);

/* The same into ordinary memory, to be freed; its length in *length. NULL: no memory, or too large. */
struct snap_header *compile_buffer(
	const struct model *m, const struct verdicts *verdicts, uint64_t origin, size_t *length);

/* Live row of a node, member or virtual server; false if o is something else. */
bool compile_live(const struct model *m, const struct verdicts *verdicts, const struct object *o,
	struct live_row *out);

/* A node's or member's own side of its state; at_limit is not looked at. */
struct state_side compile_side(const struct verdicts *verdicts, const struct object *o);

/* What its own and its agent's limit make together; 0 is none. */
uint32_t compile_connection_limit(const struct object *o);

/* A ratio of which its agent wants so many percent: at least 1. */
uint16_t compile_weighted(uint16_t ratio, uint16_t percent);

/* Adds a virtual server's state, as far as the dataplane must know it, to the count of its address. */
void compile_count_virtual(const struct model *m, const struct verdicts *verdicts,
	const struct object *virtual, struct state_count *count);

/* State of a virtual address. */
struct state compile_address_state(const struct object *vaddr, const struct state_count *virtuals);

/* Kernel interface of a VLAN: its name, if the kernel takes that and it is in /Common, else "vlan-ID". */
void compile_tap_name(const struct object *vlan, char out[SNAP_NAME_MAX]);

#endif
