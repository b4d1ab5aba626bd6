/* SPDX-License-Identifier: BSD-3-Clause */
#include "main/view_build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "flow/listener.h"
#include "flow/snat.h"
#include "lb/lb.h"
#include "lb/live.h"
#include "main/snapshot_map.h"
#include "net/net.h"

/* The lines come last but for the table that reads them, so that a failure before leaves them alone. */
static int build_tables(struct view *v, const struct view_setting *setting)
{
	const struct view *old = setting->old;

	v->net = net_tables_new(v->snap, old ? old->net : NULL, clock_ns());
	v->listeners = listener_table_new(v->snap);
	v->snat = snat_table_new(v->snap, setting->workers);
	if (!v->net || !v->listeners || !v->snat)
		return -ENOMEM;
	live_sync(v->snap, setting->counters);
	v->lb = lb_table_new(v->snap, setting->counters, clock_second());
	return v->lb ? 0 : -ENOMEM;
}

int view_new(int fd, const struct view_setting *setting, struct view **out, char *reason,
	size_t reason_size)
{
	struct view *v = calloc(1, sizeof(*v));

	if (!v) {
		snprintf(reason, reason_size, "snapshot: no memory");
		return -ENOMEM;
	}
	int err = snapshot_map(fd, &v->snap, &v->length, reason, reason_size);
	if (err == 0) {
		err = build_tables(v, setting);
		if (err)
			snprintf(reason, reason_size, "snapshot: no memory for its tables");
	}
	if (err) {
		view_free(v);
		return err;
	}
	*out = v;
	return 0;
}

void view_free(const struct view *v)
{
	if (!v)
		return;
	lb_table_free(v->lb);
	snat_table_free(v->snat);
	listener_table_free(v->listeners);
	net_tables_free(v->net);
	if (v->snap)
		snapshot_unmap(v->snap, v->length);
	free((void *)(uintptr_t)v);
}
