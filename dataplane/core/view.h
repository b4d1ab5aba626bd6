/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A view: one snapshot and the tables derived from it. The control thread builds it, publishes it by
 * one pointer, and frees the old one once every worker has passed a quiescent point. Workers only read.
 */
#ifndef WEIR_CORE_VIEW_H
#define WEIR_CORE_VIEW_H

#include "api/snapshot.h"

struct net_tables;     /* net/: own addresses, VLANs by port and tag, routes */
struct listener_table; /* flow/: virtual servers by destination */
struct snat_table;     /* flow/: source addresses and who owns their ports */
struct lb_table;       /* lb/: pools, schedules */

struct view {
	const struct snap_header *snap;
	size_t length; /* of the mapping */
	struct net_tables *net;
	struct listener_table *listeners;
	struct snat_table *snat;
	struct lb_table *lb;
};

static inline const struct snap_settings *view_settings(const struct view *v)
{
	return SNAP_ROWS(v->snap, SNAP_SETTINGS, struct snap_settings);
}

#endif
