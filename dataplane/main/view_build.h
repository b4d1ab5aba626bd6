/* SPDX-License-Identifier: BSD-3-Clause */
/* From a snapshot's descriptor to a view, and the live state of objects that are new in it. */
#ifndef WEIR_MAIN_VIEW_BUILD_H
#define WEIR_MAIN_VIEW_BUILD_H

#include "api/counters.h"
#include "core/view.h"

struct view_setting {
	struct counters *counters;
	unsigned workers;
	const struct view *old; /* in force, or NULL */
};

/*
 * Maps and checks the snapshot and builds every derived table. Objects whose ids have no line in the
 * counters yet get one, filled from the snapshot. fd stays the caller's. 0, or -errno with a sentence in
 * reason; nothing has changed then.
 */
int view_new(int fd, const struct view_setting *setting, struct view **out, char *reason,
	size_t reason_size);

/* No worker may see it any more. Accepts NULL. */
void view_free(const struct view *v);

#endif
