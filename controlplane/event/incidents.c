/* SPDX-License-Identifier: BSD-3-Clause */
#include "event/incidents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define BUCKETS 4096u

struct incident {
	LIST_ENTRY(incident) entry;
	uint64_t number, opened, closed;
	unsigned roots;	 /* bad things that keep it open */
	unsigned things; /* that name it */
};

struct thing {
	LIST_ENTRY(thing) chain;
	uint64_t key;
	struct incident *incident;
	uint64_t good; /* since when; 0: it is bad */
	bool root;
	uint8_t aspect;
	char *kind, *owner, *object; /* or NULL */
};

struct incidents {
	LIST_HEAD(, thing) bucket[BUCKETS];
	LIST_HEAD(, incident) incident[BUCKETS]; /* by number */
	unsigned open;
};

/* --- things --------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t key, const char *text)
{
	for (const char *p = text ? text : ""; *p; p++)
		key = (key ^ (unsigned char)*p) * 1099511628211ull;
	return (key ^ 0xff) * 1099511628211ull;
}

uint64_t incident_key(const struct incident_thing *t)
{
	uint64_t key = mix(mix(mix(14695981039346656037ull, t->kind), t->owner), t->object);

	return (key ^ t->aspect) * 1099511628211ull;
}

static struct thing *find(const struct incidents *s, uint64_t key)
{
	struct thing *t;

	LIST_FOREACH(t, &s->bucket[key % BUCKETS], chain)
	if (t->key == key)
		return t;
	return NULL;
}

static void leave(struct incidents *s, struct thing *t)
{
	struct incident *in = t->incident;

	t->incident = NULL;
	if (!in || --in->things)
		return;
	s->open -= !in->closed;
	LIST_REMOVE(in, entry);
	free(in);
}

static void thing_free(struct incidents *s, struct thing *t)
{
	leave(s, t);
	LIST_REMOVE(t, chain);
	free(t->kind);
	free(t->owner);
	free(t->object);
	free(t);
}

static bool copy(char **out, const char *text)
{
	*out = text ? strdup(text) : NULL;
	return !text || *out;
}

static struct thing *thing_of(struct incidents *s, const struct incident_thing *of)
{
	uint64_t key = incident_key(of);
	struct thing *t = find(s, key);

	if (t)
		return t;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->key = key;
	t->aspect = of->aspect;
	t->good = 1;
	LIST_INSERT_HEAD(&s->bucket[key % BUCKETS], t, chain);
	if (copy(&t->kind, of->kind) && copy(&t->owner, of->owner) && copy(&t->object, of->object))
		return t;
	thing_free(s, t);
	return NULL;
}

static void join(struct incidents *s, struct thing *t, struct incident *in, bool root)
{
	in->things++;
	leave(s, t);
	t->incident = in;
	t->good = 0;
	t->root = root;
	in->roots += root;
}

static struct incident *incident_new(struct incidents *s, uint64_t number, uint64_t now)
{
	struct incident *in = calloc(1, sizeof(*in));

	if (!in)
		return NULL;
	in->number = number;
	in->opened = now;
	LIST_INSERT_HEAD(&s->incident[number % BUCKETS], in, entry);
	s->open++;
	return in;
}

/* --- good and bad --------------------------------------------------------------------------------- */

/* The latest open incident of things that are bad; since: opened then or later. */
static struct incident *latest(
	const struct incidents *s, const uint64_t *key, unsigned count, uint64_t since)
{
	struct incident *best = NULL;

	for (unsigned i = 0; i < count; i++) {
		const struct thing *t = find(s, key[i]);

		if (t && !t->good && !t->incident->closed && t->incident->opened >= since &&
			(!best || t->incident->number > best->number))
			best = t->incident;
	}
	return best;
}

static uint64_t before(uint64_t now, uint64_t seconds)
{
	return now > seconds ? now - seconds : 0;
}

static bool recent(const struct thing *t, uint64_t now)
{
	return t && t->incident && t->good + INCIDENT_REOPEN_SECONDS >= now;
}

bool incidents_would_open(const struct incidents *s, const struct incident_thing *of,
	const uint64_t *because, unsigned because_count, uint64_t now)
{
	const struct thing *t = find(s, incident_key(of));

	return !(t && !t->good) && !latest(s, because, because_count, 0) && !recent(t, now);
}

static struct incident_note also(const struct incident *in)
{
	return (struct incident_note){.number = in->number, .part = EVENT_ALSO};
}

static struct incident_note reopen(struct incidents *s, struct thing *t)
{
	struct incident *in = t->incident;
	bool was_closed = in->closed != 0;

	s->open += was_closed;
	in->closed = 0;
	join(s, t, in, true);
	return (struct incident_note){
		.number = in->number, .part = was_closed ? EVENT_OPENS : EVENT_ALSO};
}

struct incident_note incidents_bad(struct incidents *s, const struct incident_thing *of,
	const uint64_t *because, unsigned because_count, const uint64_t *beside,
	unsigned beside_count, uint64_t number, uint64_t now)
{
	struct thing *t = thing_of(s, of);
	struct incident *in;

	if (!t)
		return (struct incident_note){0};
	if (!t->good)
		return also(t->incident);
	if ((in = latest(s, because, because_count, 0))) {
		join(s, t, in, false);
		return also(in);
	}
	if (recent(t, now))
		return reopen(s, t);
	if ((in = latest(s, beside, beside_count, before(now, INCIDENT_TOGETHER_SECONDS)))) {
		join(s, t, in, true);
		return also(in);
	}
	in = incident_new(s, number, now);
	if (!in) {
		thing_free(s, t);
		return (struct incident_note){0};
	}
	join(s, t, in, true);
	return (struct incident_note){.number = number, .part = EVENT_OPENS};
}

struct incident_note incidents_good(
	struct incidents *s, const struct incident_thing *of, bool gone, uint64_t now)
{
	struct thing *t = find(s, incident_key(of));
	struct incident_note note;

	if (!t || t->good)
		return (struct incident_note){0};
	struct incident *in = t->incident;
	note = also(in);
	t->good = now ? now : 1;
	in->roots -= t->root;
	if (!in->roots && !in->closed) {
		in->closed = now ? now : 1;
		s->open--;
		note.part = EVENT_CLOSES;
		note.duration = now > in->opened ? now - in->opened : 0;
	}
	if (gone)
		thing_free(s, t);
	return note;
}

bool incidents_is_bad(const struct incidents *s, const struct incident_thing *of)
{
	const struct thing *t = find(s, incident_key(of));

	return t && !t->good;
}

void incidents_tidy(struct incidents *s, uint64_t now)
{
	for (unsigned i = 0; i < BUCKETS; i++) {
		struct thing *t = LIST_FIRST(&s->bucket[i]), *next;

		for (; t; t = next) {
			next = LIST_NEXT(t, chain);
			if (t->good && !recent(t, now))
				thing_free(s, t);
		}
	}
}

unsigned incidents_open(const struct incidents *s)
{
	return s->open;
}

/* --- over a restart ------------------------------------------------------------------------------- */

void incidents_each(const struct incidents *s,
	void (*each)(void *ctx, const struct incident_entry *e), void *ctx)
{
	const struct thing *t;

	for (unsigned i = 0; i < BUCKETS; i++)
		LIST_FOREACH(t, &s->bucket[i], chain)
	if (t->incident)
		each(ctx,
			&(struct incident_entry){.thing = {t->kind, t->owner, t->object, t->aspect},
				.number = t->incident->number,
				.opened = t->incident->opened,
				.closed = t->incident->closed,
				.good = t->good,
				.root = t->root});
}

int incidents_restore(struct incidents *s, const struct incident_entry *e)
{
	struct thing *t = thing_of(s, &e->thing);
	struct incident *in;

	if (!t)
		return -ENOMEM;
	LIST_FOREACH(in, &s->incident[e->number % BUCKETS], entry)
	if (in->number == e->number)
		break;
	if (!in && !(in = incident_new(s, e->number, e->opened)))
		return -ENOMEM;
	if (!t->good && t->incident)
		t->incident->roots -= t->root;
	join(s, t, in, e->root);
	if (e->good) {
		t->good = e->good;
		in->roots -= e->root;
	}
	if (!in->closed && (e->closed || (!in->roots && e->good))) {
		in->closed = e->closed ? e->closed : e->good;
		s->open--;
	} else if (in->closed && !e->closed && !e->good) {
		in->closed = 0;
		s->open++;
	}
	return 0;
}

struct incidents *incidents_new(void)
{
	return calloc(1, sizeof(struct incidents));
}

void incidents_free(struct incidents *s)
{
	for (unsigned i = 0; s && i < BUCKETS; i++)
		while (!LIST_EMPTY(&s->bucket[i]))
			thing_free(s, LIST_FIRST(&s->bucket[i]));
	free(s);
}
