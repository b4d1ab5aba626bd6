/* SPDX-License-Identifier: BSD-3-Clause */
/* Archives of the configuration, for administrators: made, loaded, listed, deleted, fetched. */
#ifndef WEIR_REST_REST_UCS_H
#define WEIR_REST_REST_UCS_H

#include "files/files.h"
#include "rest/rest_call.h"

#define REST_UCS_REASON_MAX 4096u /* bytes of a reason, with its NUL; longer ones are cut */

void rest_ucs(struct rest_call *call);	    /* sys/ucs */
void rest_ucs_task(struct rest_call *call); /* task/sys/ucs: the same in steps */

/* The words of tmsh about archives; the caller is an administrator. False: others. */
bool rest_ucs_tmsh(struct rest_call *call, const char *command, struct text *out);

/* "save" or "load" of an archive. False, and why; nothing is changed then. */
bool rest_ucs_run(struct rest_call *call, const char *command, const char *name,
	char why[REST_UCS_REASON_MAX]);

/* Who asks, if it is an administrator. NULL: not, and is answered. */
json_t *rest_ucs_administrator(struct rest_call *call);

/* Tasks that were begun. NULL: no memory. */
struct rest_tasks *rest_tasks_new(void);
void rest_tasks_free(struct rest_tasks *tasks);

#endif
