/* SPDX-License-Identifier: BSD-3-Clause */
/* The incidents of a digest, and what comes in of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alert/digest_internal.h"
#include "event/event_message.h"
#include "ipc/ipc.h"

#define ROOM_MIN 64u

static const struct {
	const char *name;
	unsigned bit;
} modules[] = {{"ltm", DIGEST_LTM}, {"net", DIGEST_NET}, {"sys", DIGEST_SYS}, {"auth", DIGEST_AUTH},
	{"cm", DIGEST_CM}};

unsigned digest_module(const char *name)
{
	for (size_t i = 0; name && i < sizeof(modules) / sizeof(*modules); i++)
		if (!strcmp(name, modules[i].name))
			return modules[i].bit;
	return 0;
}

void digest_init(struct digest *d, const struct digest_settings *settings)
{
	*d = (struct digest){.settings = *settings};
}

void digest_fini(struct digest *d)
{
	for (unsigned i = 0; i < d->count; i++)
		incident_free(d->incident[i]);
	free(d->incident);
	json_decref(d->message.left);
	digest_init(d, &(struct digest_settings){0});
}

unsigned digest_place(const struct digest *d, uint64_t number)
{
	unsigned low = 0, high = d->count;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (d->incident[middle]->number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct incident *digest_find(const struct digest *d, uint64_t number)
{
	unsigned at = digest_place(d, number);

	return at < d->count && d->incident[at]->number == number ? d->incident[at] : NULL;
}

int digest_insert(struct digest *d, struct incident *i)
{
	unsigned at = digest_place(d, i->number);

	if (d->count == d->room) {
		unsigned room = d->room ? 2 * d->room : ROOM_MIN;
		struct incident **more = reallocarray(d->incident, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		d->incident = more;
		d->room = room;
	}
	memmove(d->incident + at + 1, d->incident + at, (d->count - at) * sizeof(*d->incident));
	d->incident[at] = i;
	d->count++;
	d->details += i->open || i->close;
	return 0;
}

static void ended_add(struct digest *d, uint64_t number)
{
	d->ended[d->ended_next++ % DIGEST_ENDED_MAX] = number;
}

static bool ended_has(const struct digest *d, uint64_t number)
{
	for (unsigned i = 0; i < DIGEST_ENDED_MAX; i++)
		if (d->ended[i] == number)
			return true;
	return false;
}

void digest_purge(struct digest *d, bool (*gone)(const struct digest *d, const struct incident *i))
{
	unsigned left = 0;

	for (unsigned i = 0; i < d->count; i++) {
		struct incident *one = d->incident[i];

		if (!gone(d, one)) {
			d->incident[left++] = one;
			continue;
		}
		ended_add(d, one->number);
		d->details -= one->open || one->close;
		incident_free(one);
	}
	d->count = left;
}

static int level_of(const json_t *record)
{
	int level = event_level_of(ipc_string(record, "level"));

	return level < 0 ? EVENT_DEBUG : level;
}

static bool passes(const struct digest *d, const json_t *record)
{
	const char *module = json_string_value(json_object_get(record, "module"));

	return level_of(record) <= d->settings.level &&
	       (d->settings.modules & digest_module(module));
}

/* The journal opens an incident again under the number that it has. */
static bool is_again(uint64_t number, const json_t *record)
{
	return (uint64_t)json_integer_value(json_object_get(record, "seq")) != number;
}

/* A copy of the record, while there is room for details. *rc is -ENOMEM if it cannot be made. */
static json_t *detail(struct digest *d, const struct incident *i, const json_t *record, int *rc)
{
	if (!i->open && !i->close && d->details >= DIGEST_DETAILS_MAX)
		return NULL;
	json_t *kept = incident_record(record);
	if (!kept)
		*rc = -ENOMEM;
	return kept;
}

/* opens: it is no record of one that joins, which may come after the end. */
static int incident_open(
	struct digest *d, uint64_t number, const json_t *record, bool opens, uint64_t now_ms)
{
	int rc = 0;

	if (!passes(d, record) || (!opens && ended_has(d, number)))
		return 0;
	if (d->count >= DIGEST_INCIDENTS_MAX) {
		d->news_ms = d->news_ms ? d->news_ms : now_ms;
		d->beyond++;
		return 0;
	}
	struct incident *i = incident_new(number);
	if (!i)
		return -ENOMEM;
	i->level = (uint8_t)level_of(record);
	i->since_ms = now_ms;
	i->again = opens && is_again(number, record);
	i->open = detail(d, i, record, &rc);
	if (rc == 0)
		rc = digest_insert(d, i);
	if (rc)
		incident_free(i);
	return rc;
}

static int incident_join(struct digest *d, struct incident *i, const json_t *record)
{
	json_t *kept;

	if (level_of(record) < i->level)
		i->level = (uint8_t)level_of(record);
	i->also_count++;
	if (i->told || !i->open || json_array_size(i->also) >= INCIDENT_ALSO_MAX)
		return 0;
	kept = incident_record(record);
	if (!i->also)
		i->also = json_array();
	return kept && json_array_append_new(i->also, kept) == 0 ? 0 : -ENOMEM;
}

static int incident_close(
	struct digest *d, struct incident *i, const json_t *record, uint64_t now_ms)
{
	int rc = 0;
	json_t *kept = detail(d, i, record, &rc);

	if (rc || i->closed) {
		json_decref(kept);
		return rc;
	}
	d->details += kept && !i->open && !i->close;
	if (kept)
		json_decref(i->close);
	i->close = kept ? kept : i->close;
	i->closed = true;
	i->closed_ms = now_ms;
	i->duration = (uint32_t)json_integer_value(json_object_get(record, "duration"));
	if (i->told)
		i->since_ms = now_ms;
	return 0;
}

static int incident_go_on(struct digest *d, struct incident *i, const json_t *record, bool opens)
{
	if (opens && is_again(i->number, record)) {
		i->again = true;
		i->closed = i->unsure = false;
	}
	return incident_join(d, i, record);
}

int digest_record(struct digest *d, const json_t *record, uint64_t now_ms)
{
	uint64_t seq = (uint64_t)json_integer_value(json_object_get(record, "seq"));
	uint64_t number = (uint64_t)json_integer_value(json_object_get(record, "incident"));
	const char *part = json_string_value(json_object_get(record, "part"));
	bool opens = part && !strcmp(part, "open");
	int rc = 0;

	if (seq <= d->seen)
		return 0;
	struct incident *i = number ? digest_find(d, number) : NULL;
	if (number && part && !strcmp(part, "close"))
		rc = i ? incident_close(d, i, record, now_ms) : 0;
	else if (number && part)
		rc = i ? incident_go_on(d, i, record, opens)
		       : incident_open(d, number, record, opens, now_ms);
	if (rc == 0)
		d->seen = seq;
	return rc;
}

void digest_gone(struct digest *d, uint64_t records, uint64_t now_ms)
{
	d->gone += records;
	d->news_ms = d->news_ms ? d->news_ms : now_ms;
	for (unsigned i = 0; i < d->count; i++)
		d->incident[i]->unsure = true;
}
