/* SPDX-License-Identifier: BSD-3-Clause */
/* What a digest knows, as JSON and back. */
#include <errno.h>
#include <string.h>

#include "alert/digest_internal.h"

#define VERSION 1

static json_t *message_save(const struct digest_message *m)
{
	return json_pack("{sI sb sI sI sI sI sI sI sO*}", "kind", (json_int_t)m->kind, "frozen",
		m->frozen, "number", (json_int_t)m->number, "count", (json_int_t)m->count, "closed",
		(json_int_t)m->closed, "gone", (json_int_t)m->gone, "refused",
		(json_int_t)m->refused, "beyond", (json_int_t)m->beyond, "left", m->left);
}

static json_t *ended_save(const struct digest *d)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < DIGEST_ENDED_MAX; i++)
		if (d->ended[i])
			json_array_append_new(list, json_integer((json_int_t)d->ended[i]));
	return list;
}

json_t *digest_save(const struct digest *d)
{
	json_t *list = json_array();
	int rc = list ? 0 : -ENOMEM;

	for (unsigned i = 0; rc == 0 && i < d->count; i++)
		rc = json_array_append_new(list, incident_save(d->incident[i]));
	if (rc) {
		json_decref(list);
		return NULL;
	}
	return json_pack("{si sI sI sI sI sI sI sb so so so}", "version", VERSION, "seen",
		(json_int_t)d->seen, "number", (json_int_t)d->number, "gone", (json_int_t)d->gone,
		"refused", (json_int_t)d->refused, "beyond", (json_int_t)d->beyond, "news",
		(json_int_t)d->news_ms, "was-quiet", d->was_quiet, "ended", ended_save(d),
		"message", message_save(&d->message), "incidents", list);
}

/* A message that was on its way when we ended may have been taken: it is sent again as it was, under its name. */
static int message_load(struct digest *d, json_t *from)
{
	json_int_t kind, number, count, closed, gone, refused, beyond;
	json_t *left = NULL;
	int frozen;

	if (json_unpack(from, "{sI sb sI sI sI sI sI sI s?o}", "kind", &kind, "frozen", &frozen,
		    "number", &number, "count", &count, "closed", &closed, "gone", &gone, "refused",
		    &refused, "beyond", &beyond, "left", &left) ||
		kind < 0 || kind > DIGEST_SUMMARY)
		return -EINVAL;
	d->message = (struct digest_message){.kind = (uint8_t)kind,
		.frozen = frozen || kind != DIGEST_NOTHING,
		.number = (uint64_t)number,
		.count = (unsigned)count,
		.closed = (unsigned)closed,
		.gone = (uint64_t)gone,
		.refused = (uint64_t)refused,
		.beyond = (uint64_t)beyond,
		.left = json_incref(left)};
	return 0;
}

static int incidents_load(struct digest *d, json_t *list)
{
	json_t *value;
	size_t index;

	json_array_foreach(list, index, value)
	{
		struct incident *i = incident_load(value);

		if (!i)
			return -EINVAL;
		if (digest_find(d, i->number) || digest_insert(d, i)) {
			incident_free(i);
			return -EINVAL;
		}
	}
	return 0;
}

int digest_load(struct digest *d, const json_t *from)
{
	struct digest_settings settings = d->settings;
	json_int_t seen, number, gone, refused, beyond, news;
	json_t *ended, *message, *incidents, *value;
	int version, was_quiet;
	size_t index;

	digest_fini(d);
	d->settings = settings;
	if (json_unpack((json_t *)from, "{si sI sI sI sI sI sI sb so so so}", "version", &version,
		    "seen", &seen, "number", &number, "gone", &gone, "refused", &refused, "beyond",
		    &beyond, "news", &news, "was-quiet", &was_quiet, "ended", &ended, "message",
		    &message, "incidents", &incidents) ||
		version != VERSION)
		return -EINVAL;
	json_array_foreach(ended, index, value) if (index < DIGEST_ENDED_MAX)
		d->ended[d->ended_next++] = (uint64_t)json_integer_value(value);
	d->ended_next %= DIGEST_ENDED_MAX;
	d->seen = (uint64_t)seen;
	d->number = (uint64_t)number;
	d->gone = (uint64_t)gone;
	d->refused = (uint64_t)refused;
	d->beyond = (uint64_t)beyond;
	d->news_ms = (uint64_t)news;
	d->was_quiet = was_quiet;
	int rc = message_load(d, message);
	if (rc == 0)
		rc = incidents_load(d, incidents);
	if (rc) {
		digest_fini(d);
		d->settings = settings;
	}
	return rc;
}
