/* SPDX-License-Identifier: BSD-3-Clause */
/* Where each receiver is in the journal: one small file, replaced as a whole. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "notify/notify.h"
#include "store/atomic_file.h"

#define SAVE_DELAY_US 200000

static void path_get(const struct notify *n, char *path, size_t size)
{
	snprintf(path, size, "%s/places", n->state_dir);
}

int notify_places_load(struct notify *n)
{
	char path[4096], *text = NULL;
	size_t length = 0;

	path_get(n, path, sizeof(path));
	int rc = file_read(path, &text, &length);
	if (rc && rc != -ENOENT) {
		log_error("%s: cannot be read: %s", path, strerror(-rc));
		return rc;
	}
	n->places = rc ? json_object() : json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	if (json_is_object(n->places))
		return 0;
	log_error("%s: is not what weir-notify wrote: receivers begin at the newest record", path);
	json_decref(n->places);
	n->places = json_object();
	return n->places ? 0 : -ENOMEM;
}

void notify_place_get(struct receiver *r)
{
	const json_t *place = json_object_get(r->notify->places, r->name);
	const json_t *seq = json_object_get(place, "seq");

	if (!json_is_integer(seq))
		return;
	r->started = true;
	r->place = r->scanned = (uint64_t)json_integer_value(seq);
	r->dropped = (uint64_t)json_integer_value(json_object_get(place, "dropped"));
	r->counted = (uint64_t)json_integer_value(json_object_get(place, "counted"));
}

void notify_place_changed(struct receiver *r)
{
	struct timeval delay = {.tv_usec = SAVE_DELAY_US};
	struct notify *n = r->notify;

	json_object_set_new(n->places, r->name,
		json_pack("{s:I,s:I,s:I}", "seq", (json_int_t)r->place, "dropped",
			(json_int_t)r->dropped, "counted", (json_int_t)r->counted));
	n->save_due = true;
	if (!evtimer_pending(n->save, NULL))
		evtimer_add(n->save, &delay);
	notify_link_report_due(n);
}

void notify_places_save(struct notify *n)
{
	char path[4096];
	char *text = n->save_due ? json_dumps(n->places, JSON_INDENT(1)) : NULL;

	if (!text)
		return;
	path_get(n, path, sizeof(path));
	int rc = file_replace(path, text, strlen(text), 0600);
	free(text);
	if (rc)
		log_error("%s: cannot be written: %s", path, strerror(-rc));
	else
		n->save_due = false;
}
