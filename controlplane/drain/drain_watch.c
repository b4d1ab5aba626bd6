/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Follows the connections of all running drains: one timer, and a look whenever the dataplane says that
 * something reached 0. Counts are read from shared memory, so a lost event only makes the look later.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "drain/drain_internal.h"

uint32_t drain_connections(const struct counters *c, uint32_t id)
{
	uint32_t slot = id_slot(id);

	if (slot >= c->header->slots || c->shared[slot].id != id)
		return 0;
	return __atomic_load_n(&c->shared[slot].current, __ATOMIC_RELAXED);
}

/* --- when the hold is in force --------------------------------------------------------------------- */

static void settle(struct drains *s, struct operation *o, uint64_t now)
{
	const struct msg_hello *hello = dplink_hello(s->link);

	o->settled_ns = now;
	if (!hello || o->instance == hello->instance)
		return;
	o->restarted = o->instance != 0 && o->d.state != DRAIN_DRAINED;
	o->instance = hello->instance;
	drains_write(s, o);
}

static void on_in_force(void *ctx, int status, const char *reason)
{
	struct drains *s = ctx;
	uint64_t now = clock_ns();

	s->waiting = false;
	if (status)
		return; /* the timer asks again */
	for (unsigned i = 0; i < s->count; i++)
		if (s->op[i]->d.running && !s->op[i]->settled_ns && s->op[i]->want &&
			s->op[i]->want <= s->waited)
			settle(s, s->op[i], now);
	drains_look_soon(s);
}

static void wait_in_force(struct drains *s)
{
	bool any = false;

	for (unsigned i = 0; i < s->count && !any; i++)
		any = s->op[i]->d.running && s->op[i]->want && !s->op[i]->settled_ns;
	if (!any || s->waiting || !dplink_hello(s->link))
		return;
	s->waiting = true;
	s->waited = s->wanted;
	dplink_wait(s->link, on_in_force, s);
}

/* --- looking -------------------------------------------------------------------------------------- */

bool drain_is_capped(const struct operation *o, uint64_t now)
{
	return o->d.timeout && now - o->begun_ns >= o->d.timeout * 1000000000ull;
}

static void add_resets(const struct drain *d, char *text, size_t size)
{
	size_t n = strlen(text);

	if (d->stuck)
		snprintf(text + n, size - n, ", silent connections reset: %u", d->stuck);
	n = strlen(text);
	if (d->capped)
		snprintf(text + n, size - n, ", connections reset at the cap: %u", d->capped);
}

static void reach_zero(struct drains *s, struct operation *o)
{
	struct drain *d = &o->d;

	snprintf(d->said, sizeof(d->said), "%s",
		o->restarted ? "the dataplane was restarted, its connections are gone" : "");
	add_resets(d, d->said, sizeof(d->said));
	if (d->said[0] == ',')
		memmove(d->said, d->said + 2, strlen(d->said) - 1);
	drains_turn(s, o, DRAIN_DRAINED);
	drains_note(s, o, "drained in %" PRIu64 " s%s%s (drain %u)", (d->took_ms + 500) / 1000,
		d->said[0] ? ": " : "", d->said, d->id);
}

static void reopen(struct drains *s, struct operation *o)
{
	struct drain *d = &o->d;

	d->reopened++;
	o->restarted = false;
	memset(&o->forecast, 0, sizeof(o->forecast));
	snprintf(d->said, sizeof(d->said),
		"connections came again after 0 was reached: of persistent clients");
	drains_turn(s, o, DRAIN_DRAINING);
	drains_note(s, o, "was drained and has connections again: %lld (drain %u)",
		(long long)d->connections, d->id);
}

static void reach_cap(struct drains *s, struct operation *o)
{
	struct drain *d = &o->d;

	if (d->cap_reset) {
		o->cap_noted = true;
		drains_note(s, o, "not drained after %u s: what is left is reset (drain %u)",
			d->timeout, d->id);
		return;
	}
	if (d->connections < 0)
		snprintf(d->said, sizeof(d->said),
			"not known how many connections are left after %u s", d->timeout);
	else
		snprintf(d->said, sizeof(d->said), "connections left after %u s: %lld", d->timeout,
			(long long)d->connections);
	drains_turn(s, o, DRAIN_TIMED_OUT);
	drains_note(s, o, "not drained: %s (drain %u)", d->said, d->id);
}

static void look(struct drains *s, struct operation *o, const struct counters *c, uint64_t now)
{
	struct drain *d = &o->d;

	d->connections = -1;
	if (c && o->settled_ns) {
		uint32_t n = drain_connections(c, d->object);

		d->connections = n;
		if (d->first < 0)
			d->first = n;
		forecast_add(&o->forecast, now / 1000000u, n);
		/* Resets that are under way shall be counted first. */
		bool empty = n == 0 && now - o->settled_ns >= SETTLE_MS * 1000000ull &&
			     !(s->scan && s->scan_id == d->id);
		if (empty && d->state != DRAIN_DRAINED)
			reach_zero(s, o);
		else if (n && d->state == DRAIN_DRAINED)
			reopen(s, o);
	}
	if (d->state == DRAIN_DRAINING && !o->cap_noted && drain_is_capped(o, now))
		reach_cap(s, o);
}

static void on_timer(evutil_socket_t fd, short what, void *ctx)
{
	struct drains *s = ctx;
	uint64_t now = clock_ns();

	wait_in_force(s);
	for (unsigned i = 0; i < s->count; i++)
		if (s->op[i]->d.running && s->op[i]->d.state != DRAIN_STARTING)
			look(s, s->op[i], dplink_counters(s->link), now);
	drains_scan(s, now);
}

int drains_watch_init(struct drains *s)
{
	s->timer = event_new(s->base, -1, EV_PERSIST, on_timer, s);
	return s->timer ? 0 : -ENOMEM;
}

void drains_timer(struct drains *s)
{
	struct timeval period = {.tv_usec = TICK_MS * 1000};

	if (s->running == 0)
		event_del(s->timer);
	else if (!event_pending(s->timer, EV_TIMEOUT, NULL))
		event_add(s->timer, &period);
}

void drains_look_soon(struct drains *s)
{
	if (s->running)
		event_active(s->timer, EV_TIMEOUT, 0);
}

/* --- what the link tells -------------------------------------------------------------------------- */

static void unsettle(struct drains *s)
{
	for (unsigned i = 0; i < s->count; i++) {
		s->op[i]->settled_ns = 0;
		if (s->op[i]->d.running)
			s->op[i]->d.connections = -1;
	}
}

void drains_connected(struct drains *s)
{
	unsettle(s);
	drains_look_soon(s);
}

void drains_lost(struct drains *s)
{
	unsettle(s);
}

void drains_event(struct drains *s, const struct event_row *row, uint64_t lost)
{
	if (lost || row->type == EVENT_CONNECTIONS_ZERO)
		drains_look_soon(s);
}
