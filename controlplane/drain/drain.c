/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of drains, and how each begins and ends. */
#include "drain/drain.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "drain/drain_internal.h"

uint64_t drain_wall_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000u + (uint64_t)ts.tv_nsec / 1000000u;
}

const char *drain_state_name(unsigned state)
{
	static const char *const names[] = {
		[DRAIN_STARTING] = "starting",
		[DRAIN_DRAINING] = "draining",
		[DRAIN_DRAINED] = "drained",
		[DRAIN_TIMED_OUT] = "timed-out",
		[DRAIN_CANCELLED] = "cancelled",
	};

	return state < sizeof(names) / sizeof(*names) ? names[state] : "";
}

const char *drain_subject(const struct drain *d, char *buf, size_t size)
{
	if (d->node)
		snprintf(buf, size, "Node %s", d->name);
	else
		snprintf(buf, size, "Pool %s member %s", d->pool, d->name);
	return buf;
}

/* --- table ---------------------------------------------------------------------------------------- */

struct drains *drains_new(struct event_base *base, struct dplink *link, const char *store_dir,
	const struct drain_ops *ops, void *ctx)
{
	struct drains *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	*s = (struct drains){.base = base, .link = link, .ops = ops, .ctx = ctx, .fd = -1};
	if (asprintf(&s->path, "%s/drains", store_dir) < 0)
		s->path = NULL;
	if (!s->path || drains_watch_init(s)) {
		drains_free(s);
		return NULL;
	}
	drains_load(s);
	drains_timer(s);
	return s;
}

void drains_free(struct drains *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->count; i++)
		free(s->op[i]);
	free(s->op);
	if (s->timer)
		event_free(s->timer);
	if (s->fd >= 0)
		close(s->fd);
	free(s->path);
	free(s);
}

/* Place of the id, or of the first beyond it. */
static unsigned place_of(const struct drains *s, uint32_t id)
{
	unsigned low = 0, high = s->count;

	while (low < high) {
		unsigned middle = low + (high - low) / 2;

		if (s->op[middle]->d.id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct operation *drains_operation(const struct drains *s, uint32_t id)
{
	unsigned i = place_of(s, id);

	return i < s->count && s->op[i]->d.id == id ? s->op[i] : NULL;
}

const struct drain *drains_find(const struct drains *s, uint32_t id)
{
	const struct operation *o = drains_operation(s, id);
	return o ? &o->d : NULL;
}

const struct drain *drains_next(const struct drains *s, uint32_t id)
{
	unsigned i = id < UINT32_MAX ? place_of(s, id + 1) : s->count;

	return i < s->count ? &s->op[i]->d : NULL;
}

struct operation *drains_insert(struct drains *s)
{
	struct operation *o = calloc(1, sizeof(*o));

	if (o && s->count == s->size) {
		unsigned size = s->size ? 2 * s->size : 16;
		struct operation **more = reallocarray(s->op, size, sizeof(*more));

		if (!more) {
			free(o);
			return NULL;
		}
		s->op = more;
		s->size = size;
	}
	if (o)
		s->op[s->count++] = o;
	return o;
}

void drains_remove(struct drains *s, uint32_t id)
{
	unsigned i = place_of(s, id);

	free(s->op[i]);
	s->count--;
	memmove(s->op + i, s->op + i + 1, (s->count - i) * sizeof(*s->op));
}

/* Those that ended longest ago make room. */
static void forget_old(struct drains *s)
{
	while (s->count - s->running > DRAIN_ENDED_MAX) {
		const struct operation *oldest = NULL;
		uint32_t id;

		for (unsigned i = 0; i < s->count; i++)
			if (s->op[i]->d.ended && (!oldest || s->op[i]->d.ended < oldest->d.ended))
				oldest = s->op[i];
		if (!oldest)
			return;
		id = oldest->d.id;
		drains_remove(s, id);
		drains_write_gone(s, id);
	}
}

/* --- begin ---------------------------------------------------------------------------------------- */

static const struct drain *refuse(int code, char *reason, size_t size, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static const struct drain *refuse(int code, char *reason, size_t size, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(reason, size, format, ap);
	va_end(ap);
	errno = code;
	return NULL;
}

static const struct operation *running_on(
	const struct drains *s, uint32_t object, enum hold_class class)
{
	for (unsigned i = 0; i < s->count; i++)
		if (s->op[i]->d.running && s->op[i]->d.object == object &&
			s->op[i]->d.class == class)
			return s->op[i];
	return NULL;
}

static void fill(struct drain *d, const struct model *m, const struct object *o,
	const struct drain_order *order)
{
	const struct object *pool = model_get(m, o->owner);

	*d = (struct drain){
		.id = d->id,
		.object = o->id,
		.node = o->kind == KIND_NODE,
		.running = true,
		.force_offline = order->force_offline,
		.cap_reset = order->cap_reset,
		.class = (uint8_t)order->class,
		.state = DRAIN_STARTING,
		.timeout = order->timeout,
		.stuck_time = order->stuck_time,
		.started = drain_wall_ms(),
		.connections = -1,
		.first = -1,
	};
	snprintf(d->name, sizeof(d->name), "%s", o->path);
	snprintf(d->pool, sizeof(d->pool), "%s", pool ? pool->path : "");
	snprintf(d->author, sizeof(d->author), "%s", order->author);
	snprintf(d->reason, sizeof(d->reason), "%s", order->reason ? order->reason : "");
}

const struct drain *drains_prepare(struct drains *s, const struct model *m,
	const struct drain_order *order, char *reason, size_t size)
{
	const struct object *object = model_get(m, order->object);
	const struct operation *other = running_on(s, order->object, order->class);

	if (!object || (object->kind != KIND_NODE && object->kind != KIND_POOL_MEMBER))
		return refuse(EINVAL, reason, size, "only nodes and pool members can be drained");
	if (other)
		return refuse(EEXIST, reason, size, "is being drained already: ltm drain %u by %s",
			other->d.id, other->d.author);
	if (s->running >= DRAIN_RUNNING_MAX)
		return refuse(ENOSPC, reason, size, "%u drains are running, which is the most",
			s->running);
	struct operation *o = drains_insert(s);
	if (!o)
		return refuse(ENOMEM, reason, size, "no memory");
	o->d.id = ++s->last_id;
	fill(&o->d, m, object, order);
	o->begun_ns = clock_ns();
	s->running++;
	drains_write(s, o);
	return &o->d;
}

void drains_begin(struct drains *s, uint32_t id)
{
	struct operation *o = drains_operation(s, id);

	if (!o)
		return;
	o->want = ++s->wanted;
	o->d.state = DRAIN_DRAINING;
	drains_write(s, o);
	drains_note(s, o, "drain %u begun by %s%s%s%s", o->d.id, o->d.author,
		o->d.force_offline ? ", forced offline" : "", o->d.reason[0] ? ": " : "",
		o->d.reason);
	drains_timer(s);
	drains_look_soon(s);
}

void drains_abandon(struct drains *s, uint32_t id)
{
	if (!drains_operation(s, id))
		return;
	s->running--;
	drains_remove(s, id);
	drains_write_gone(s, id);
	drains_timer(s);
}

/* --- turns and end -------------------------------------------------------------------------------- */

void drains_note(struct drains *s, struct operation *o, const char *format, ...)
{
	char subject[2 * MODEL_NAME_MAX + 20], text[600], sentence[sizeof(subject) + sizeof(text)];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	snprintf(sentence, sizeof(sentence), "%s %s",
		drain_subject(&o->d, subject, sizeof(subject)), text);
	/* A reason may have any bytes: nothing that steers the reader's terminal. */
	for (char *p = sentence; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	s->ops->note(
		s->ctx, &o->d, o->told == o->d.state ? NULL : drain_state_name(o->told), sentence);
	o->told = o->d.state;
}

static uint64_t running_ms(const struct operation *o)
{
	return (clock_ns() - o->begun_ns) / 1000000u;
}

void drains_turn(struct drains *s, struct operation *o, enum drain_state state)
{
	o->d.state = (uint8_t)state;
	o->d.took_ms = running_ms(o);
	drains_write(s, o);
	s->ops->changed(s->ctx, &o->d);
}

/* It runs no more. */
static void operation_finish(
	struct drains *s, struct operation *o, const char *author, const char *why)
{
	if (!o->d.running)
		return;
	if (o->d.state == DRAIN_DRAINING || o->d.state == DRAIN_STARTING) {
		o->d.state = DRAIN_CANCELLED;
		o->d.took_ms = running_ms(o);
	}
	o->d.running = false;
	o->d.ended = drain_wall_ms();
	snprintf(o->d.ended_by, sizeof(o->d.ended_by), "%s", author);
	if (o->d.state == DRAIN_CANCELLED)
		snprintf(o->d.said, sizeof(o->d.said), "%s", why);
	s->running--;
	drains_write(s, o);
	drains_note(s, o, "drain %u (%s) ended by %s: %s", o->d.id, drain_state_name(o->d.state),
		author, why);
	s->ops->changed(s->ctx, &o->d);
	forget_old(s);
	drains_timer(s);
}

void drains_end(struct drains *s, uint32_t id, const char *author)
{
	struct operation *o = drains_operation(s, id);

	if (o)
		operation_finish(s, o, author, "it was told to end; the hold stays");
}

/* Why it cannot go on, or NULL. */
static const char *obstacle(const struct model *m, const struct operation *o)
{
	const struct object *object = model_get(m, o->d.object);

	if (!object)
		return "the server was deleted";
	return model_holds(object)->by[o->d.class].bits ? NULL : "the server was enabled";
}

void drains_model_changed(struct drains *s, const struct model *m, const char *author)
{
	/* From the end: one that ends may push an older one out. */
	for (unsigned i = s->count; i-- > 0 && s->running;) {
		struct operation *o = i < s->count ? s->op[i] : NULL;
		const char *why =
			o && o->d.running && o->d.state != DRAIN_STARTING ? obstacle(m, o) : NULL;

		if (why)
			operation_finish(s, o, author, why);
	}
}
