/* SPDX-License-Identifier: BSD-3-Clause */
#include "http/http_table.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define ENDING_MAX 64u /* connections that were told to end and have not yet */

struct http_place {
	int fd; /* -1: free */
	uint8_t source[16];
	enum http_state state;
	uint64_t until_ns; /* 0: no limit */
	uint64_t order;	   /* of the last change of state */
	size_t held;
	bool handled, streams;
};

struct http_table {
	struct http_limits limits;
	pthread_mutex_t lock; /* of all below */
	bool stopping;
	uint64_t changes;
	unsigned handled;
	size_t held;
	unsigned count;
	struct http_place places[];
};

struct http_table *http_table_new(const struct http_limits *limits)
{
	unsigned count = limits->connections + ENDING_MAX;
	struct http_table *t = calloc(1, sizeof(*t) + count * sizeof(t->places[0]));

	if (!t)
		return NULL;
	t->limits = *limits;
	t->count = count;
	for (unsigned i = 0; i < count; i++)
		t->places[i].fd = -1;
	pthread_mutex_init(&t->lock, NULL);
	return t;
}

void http_table_free(struct http_table *t)
{
	if (!t)
		return;
	pthread_mutex_destroy(&t->lock);
	free(t);
}

/* What counts as one address. */
static void source_of(const struct sockaddr *addr, uint8_t source[16])
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	memset(source, 0, 16);
	if (addr->sa_family == AF_INET6) {
		const struct in6_addr *v6 = &((const struct sockaddr_in6 *)addr)->sin6_addr;

		memcpy(source, v6, memcmp(v6, mapped, sizeof(mapped)) ? 8 : 16);
	} else if (addr->sa_family == AF_INET) {
		memcpy(source, mapped, sizeof(mapped));
		memcpy(source + 12, &((const struct sockaddr_in *)addr)->sin_addr, 4);
	}
}

static bool is_taken(const struct http_place *place)
{
	return place->fd >= 0 && place->state != HTTP_STATE_ENDED;
}

static unsigned count_all(const struct http_table *t)
{
	unsigned n = 0;

	for (unsigned i = 0; i < t->count; i++)
		n += is_taken(&t->places[i]);
	return n;
}

static unsigned count_of(const struct http_table *t, const uint8_t source[16])
{
	unsigned n = 0;

	for (unsigned i = 0; i < t->count; i++)
		n += is_taken(&t->places[i]) && !memcmp(t->places[i].source, source, 16);
	return n;
}

static unsigned handled_of(const struct http_table *t, const uint8_t source[16])
{
	unsigned n = 0;

	for (unsigned i = 0; i < t->count; i++)
		n += t->places[i].fd >= 0 && t->places[i].handled &&
		     !memcmp(t->places[i].source, source, 16);
	return n;
}

static unsigned streams_of(const struct http_table *t, const uint8_t source[16])
{
	unsigned n = 0;

	for (unsigned i = 0; i < t->count; i++)
		n += t->places[i].fd >= 0 && t->places[i].streams &&
		     !memcmp(t->places[i].source, source, 16);
	return n;
}

static size_t held_of(const struct http_table *t, const uint8_t source[16])
{
	size_t bytes = 0;

	for (unsigned i = 0; i < t->count; i++)
		if (t->places[i].fd >= 0 && !memcmp(t->places[i].source, source, 16))
			bytes += t->places[i].held;
	return bytes;
}

static void end(struct http_place *place)
{
	place->state = HTTP_STATE_ENDED;
	place->until_ns = 0;
	shutdown(place->fd, SHUT_RDWR);
}

static bool waits_for_client(const struct http_place *place)
{
	return place->fd >= 0 &&
	       (place->state == HTTP_STATE_IDLE || place->state == HTTP_STATE_HEAD);
}

static bool one_gives_way(struct http_table *t)
{
	struct http_place *victim = NULL;
	unsigned most = 0;

	for (unsigned i = 0; i < t->count; i++) {
		struct http_place *place = &t->places[i];

		if (!waits_for_client(place))
			continue;
		unsigned n = count_of(t, place->source);
		if (n > most || (n == most && place->order < victim->order)) {
			victim = place;
			most = n;
		}
	}
	if (victim)
		end(victim);
	return victim != NULL;
}

static struct http_place *place_free(struct http_table *t)
{
	for (unsigned i = 0; i < t->count; i++)
		if (t->places[i].fd < 0)
			return &t->places[i];
	return NULL;
}

struct http_place *http_table_add(
	struct http_table *t, int fd, const struct sockaddr *addr, uint64_t until_ns)
{
	struct http_place *place = NULL;
	uint8_t source[16];

	source_of(addr, source);
	pthread_mutex_lock(&t->lock);
	if (!t->stopping && count_of(t, source) < t->limits.connections_each &&
		(count_all(t) < t->limits.connections || one_gives_way(t)))
		place = place_free(t);
	if (place) {
		*place = (struct http_place){.fd = fd, .until_ns = until_ns, .order = ++t->changes};
		memcpy(place->source, source, sizeof(source));
	}
	pthread_mutex_unlock(&t->lock);
	return place;
}

struct http_place *http_table_find(struct http_table *t, int fd)
{
	struct http_place *found = NULL;

	pthread_mutex_lock(&t->lock);
	for (unsigned i = 0; i < t->count && !found; i++)
		if (t->places[i].fd == fd)
			found = &t->places[i];
	pthread_mutex_unlock(&t->lock);
	return found;
}

void http_table_remove(struct http_table *t, struct http_place *place)
{
	pthread_mutex_lock(&t->lock);
	t->held -= place->held;
	place->held = 0;
	place->fd = -1;
	pthread_mutex_unlock(&t->lock);
}

void http_table_state(
	struct http_table *t, struct http_place *place, enum http_state state, uint64_t until_ns)
{
	pthread_mutex_lock(&t->lock);
	if (place->state != HTTP_STATE_ENDED) {
		place->state = state;
		place->until_ns = until_ns;
		place->order = ++t->changes;
		place->streams = place->streams && state != HTTP_STATE_IDLE;
		if (t->stopping && waits_for_client(place))
			end(place);
	}
	pthread_mutex_unlock(&t->lock);
}

void http_table_sweep(struct http_table *t, uint64_t now_ns)
{
	pthread_mutex_lock(&t->lock);
	for (unsigned i = 0; i < t->count; i++) {
		struct http_place *place = &t->places[i];

		if (is_taken(place) && place->until_ns && place->until_ns <= now_ns)
			end(place);
	}
	pthread_mutex_unlock(&t->lock);
}

bool http_table_hold(struct http_table *t, struct http_place *place, size_t bytes)
{
	pthread_mutex_lock(&t->lock);
	size_t others = t->held - place->held;
	size_t others_each = held_of(t, place->source) - place->held;
	bool fits = bytes <= place->held || (others + bytes <= t->limits.bodies &&
						    others_each + bytes <= t->limits.bodies_each);
	if (fits) {
		t->held = others + bytes;
		place->held = bytes;
	}
	pthread_mutex_unlock(&t->lock);
	return fits;
}

bool http_table_enter(struct http_table *t, struct http_place *place)
{
	pthread_mutex_lock(&t->lock);
	bool may = t->handled < t->limits.handled &&
		   handled_of(t, place->source) < t->limits.handled_each;
	if (may) {
		t->handled++;
		place->handled = true;
	}
	pthread_mutex_unlock(&t->lock);
	return may;
}

void http_table_leave(struct http_table *t, struct http_place *place)
{
	pthread_mutex_lock(&t->lock);
	t->handled--;
	place->handled = false;
	pthread_mutex_unlock(&t->lock);
}

bool http_table_stream(struct http_table *t, struct http_place *place)
{
	pthread_mutex_lock(&t->lock);
	bool may = place->streams || streams_of(t, place->source) < t->limits.streams_each;
	place->streams = may;
	pthread_mutex_unlock(&t->lock);
	return may;
}

void http_table_stop(struct http_table *t)
{
	pthread_mutex_lock(&t->lock);
	t->stopping = true;
	for (unsigned i = 0; i < t->count; i++)
		if (waits_for_client(&t->places[i]))
			end(&t->places[i]);
	pthread_mutex_unlock(&t->lock);
}

unsigned http_table_active(struct http_table *t)
{
	unsigned n = 0;

	pthread_mutex_lock(&t->lock);
	for (unsigned i = 0; i < t->count; i++)
		n += is_taken(&t->places[i]) && t->places[i].state != HTTP_STATE_IDLE;
	pthread_mutex_unlock(&t->lock);
	return n;
}
